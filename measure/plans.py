#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""plans - tables and pictures from what measure/plans measured: each plan against pull(rows, plain) of the same run.
usage: plans.py FOLDER     prints markdown; writes FOLDER/plans-COLLECTIVE.png
A ratio is the median over repetitions of rows' time / the plan's time (above 1: faster than rows); the bars are the quartiles."""
import pathlib
import statistics
import sys

from results import read
from show import pyplot, quarters, short, with_matplotlib

BASE = "pull(rows, plain)"


def table(ranks, cells):
    plans = [name for name in next(iter(cells.values())) if name not in (BASE, "limit", "stream")]
    print("| ranks | bytes | %s us | %s |" % (BASE, " | ".join(plans)))
    print("|%s" % ("---|" * (len(plans) + 3)))
    for size, cell in sorted(cells.items()):
        base = cell[BASE]
        shown = []
        for plan in plans:
            low, middle, high = quarters(base, cell[plan])
            shown.append("%.2f ±%.0f %%" % (middle, 50 * (high - low) / middle))
        print("| %d | %s | %.3g | %s |" % (ranks, short(size), 1e6 * statistics.median(base.values()), " | ".join(shown)))
    print()


def draw(collective, groups, folder):
    plots = pyplot("measure/plans: the pictures need")
    figure, panels = plots.subplots(1, len(groups), figsize=(5 * len(groups), 4.4), squeeze=False, sharey=True)
    for panel, (ranks, cells) in zip(panels[0], sorted(groups.items())):
        sizes = sorted(cells)
        plans = [name for name in cells[sizes[0]] if name not in (BASE, "native", "limit", "stream")]
        for plan in plans:
            points = [quarters(cells[size][BASE], cells[size][plan]) for size in sizes]
            nt = "nt" in plan or "hybrid" in plan
            panel.errorbar(range(len(sizes)), [p[1] for p in points], fmt="o--" if nt else "o-", capsize=2, markersize=3,
                           yerr=[[p[1] - p[0] for p in points], [p[2] - p[1] for p in points]], label=plan, linewidth=1)
        panel.axhline(1, color="black", linewidth=0.8)
        panel.set_xticks(range(len(sizes)), [short(size) for size in sizes])
        panel.set_title("%s, %d ranks" % (collective, ranks))
        panel.set_xlabel("bytes of a block")
        panel.grid(alpha=0.3)
    panels[0][0].set_ylabel("time of %s / time of the plan" % BASE)
    panels[0][-1].legend(fontsize=8, loc="center left", bbox_to_anchor=(1.02, 0.5))
    figure.tight_layout()
    figure.savefig(pathlib.Path(folder) / ("plans-%s.png" % collective), dpi=110)


def main(folder):
    collectives = {}
    for path in sorted(pathlib.Path(folder).glob("*.csv")):
        _, collective, ranks = path.stem.split("-")
        cells, row = read(path)
        if row:
            collectives.setdefault(collective, {})[int(ranks)] = {size: plans for (size, _), plans in cells.items()}
    for collective, groups in sorted(collectives.items()):
        print("### %s\n" % collective)
        for ranks, cells in sorted(groups.items()):
            table(ranks, cells)
        draw(collective, groups, folder)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    with_matplotlib()
    main(sys.argv[1])
