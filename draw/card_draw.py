# SPDX-License-Identifier: BSD-3-Clause
"""card_draw - `mortar site-card --draw CARD.json [-o PICTURE]`: one picture of a machine's card. For each collective: times over
the size of a block on all ranks, times over the number of ranks, and the gain of every cell that was measured."""
import argparse
import json
import math
import os
import sys
import textwrap

from show import end_silently, over_sizes, over_time, pyplot, save, short

WARNS = "mortar site-card: "
LINES = (("native", "#8a8f98", "s-", "the MPI library"), ("mortar", "#2b6cb0", "o-", "mortar"),
         ("limit", "#38a169", "^:", "limit"))
NEEDED = {"site_card", "mortar", "mpi", "date", "ranks", "nodes", "machine", "cells", "finished"}
CLEAR = 0.03  # a gain nearer to 1, or than its spread, is none


def read_words(words):
    parser = argparse.ArgumentParser(prog="mortar site-card", usage="mortar site-card --draw CARD.json [-o PICTURE]")
    parser.add_argument("-o", "--output", metavar="PICTURE")
    parser.add_argument("card", metavar="CARD.json")
    options = parser.parse_args(words)
    if options.output is None:
        options.output = os.path.splitext(options.card)[0] + ".png"
    if os.path.abspath(options.output) == os.path.abspath(options.card):
        parser.error("-o %s: that is the card" % options.output)
    return options


def read(path):
    """A card, or the end."""
    try:
        with open(path, encoding="utf-8") as file:
            card = json.load(file)
    except OSError as why:
        wrong("%s: %s" % (path, why.strerror))
    except ValueError:
        wrong("%s is no JSON: `mpirun -n P mortar site-card` writes a card" % path)
    if not isinstance(card, dict) or not NEEDED <= set(card):
        wrong("%s is no card: `mpirun -n P mortar site-card` writes one" % path)
    if not any(measured(cell) for cell in card["cells"]):
        wrong("%s: nothing was measured, so there is nothing to draw" % path)
    return card


def wrong(text):
    print(WARNS + text, file=sys.stderr)
    sys.exit(2)


def measured(cell):
    return "not_measured" not in cell


def title_of(card):
    machine = card["machine"]
    nodes = "%d nodes" % card["nodes"] if card["nodes"] > 1 else "one node"
    parts = [machine["model"] or "unknown processor",
             "%d hardware threads, %d socket%s, %d NUMA domain%s, %d x %.4g MiB L3" % (
                 machine["processors"], machine["sockets"], "s" * (machine["sockets"] > 1), machine["numa_domains"],
                 "s" * (machine["numa_domains"] > 1), machine["l3_caches"], machine["l3_bytes"] / (1 << 20)),
             "%s, Linux %s, mortar %s, shared heap %s, %s" % (card["mpi"], machine.get("kernel", "?"), card["mortar"],
                                                              card["heap"], card["date"])]
    remarks = ["%d ranks on %s" % (card["ranks"], nodes)]
    remarks += ["a virtual machine"] if machine.get("virtual") else []
    remarks += ["more ranks than processors"] if card.get("crowded") else []
    missing = sum(not measured(cell) for cell in card["cells"])
    remarks += ["%d of %d cells not measured (x)" % (missing, len(card["cells"]))] if missing else []
    return "\n".join(textwrap.shorten(part, 130) for part in [*parts, "; ".join(remarks)])


def curves(axis, cells, key):
    """Each contestant's times over cells[key], in us."""
    for name, colour, style, label in LINES:
        points = sorted((cell[key], 1e6 * cell[name]["seconds"], cell[name]["spread"]) for cell in cells if cell.get(name))
        if points:
            axis.plot([p[0] for p in points], [p[1] for p in points], style, color=colour, label=label, markersize=4, linewidth=1.3)
            axis.fill_between([p[0] for p in points], [p[1] / (1 + p[2]) for p in points],
                              [p[1] * (1 + p[2]) for p in points], color=colour, alpha=0.15, linewidth=0)
    over_time(axis, [1e6 * cell[name]["seconds"] for cell in cells for name, *_ in LINES if cell.get(name)])


def gain_text(gain):
    return "%.0f" % gain if gain >= 9.95 else "%.1f" % gain if gain >= 0.95 else "%.2f" % gain


def over_ranks(axis, ranks):
    axis.set_xscale("log", base=2)
    axis.set_xticks(ranks, ["%d" % n for n in ranks], fontsize=7)
    axis.set_xticks([], minor=True)
    axis.grid(alpha=0.3)
    axis.set_axisbelow(True)


def title(axis, collective, what):
    axis.set_title("%s%s: %s" % (collective, " and a barrier" if collective == "bcast" else "", what), fontsize=9)
    axis.tick_params(axis="y", which="both", labelsize=7)


def gains(axis, cells, ranks, sizes, rectangle):
    """A square for each cell: rows are numbers of ranks, the largest one at the top."""
    axis.set_xlim(-0.5, len(sizes) - 0.5)
    axis.set_ylim(-0.5, len(ranks) - 0.5)
    small = min(8, 40 / len(ranks) ** 0.8, 52 / len(sizes))
    for cell in cells:
        x, y, gain = sizes.index(cell["bytes"]), ranks.index(cell["ranks"]), cell.get("gain")
        colour, text, ink = "#f4f5f7", "x" if not measured(cell) else "-", "#a0aec0"
        if gain:
            share = min(abs(math.log2(gain)) / 3, 1)
            goal = (0x2b, 0x6c, 0xb0) if gain > 1 else (0xc0, 0x56, 0x21)
            colour = "#%02x%02x%02x" % tuple(round(255 + (to - 255) * share ** 0.8) for to in goal)
            text, clear = gain_text(gain), abs(gain - 1) > max(CLEAR, cell["gain_spread"])
            ink = "#718096" if not clear else "white" if share > 0.55 else "#1a202c"
        axis.add_patch(rectangle((x - 0.5, y - 0.5), 1, 1, facecolor=colour, edgecolor="white", linewidth=1.5))
        axis.text(x, y, text, ha="center", va="center", fontsize=small, color=ink)
    axis.set_xticks(range(len(sizes)), [short(n) for n in sizes], fontsize=7)
    axis.set_yticks(range(len(ranks)), ["%d" % n for n in ranks], fontsize=7)
    axis.tick_params(length=0)
    axis.set_ylabel("ranks", fontsize=8)
    for side in axis.spines.values():
        side.set_visible(False)


def draw(card, path):
    plots = pyplot("mortar site-card: pictures need")
    from matplotlib.patches import Rectangle
    collectives = list(dict.fromkeys(name for name in ("alltoall", "allgather", "allreduce", "bcast")
                                     if any(cell["collective"] == name for cell in card["cells"])))
    sizes, ranks = (sorted({cell[key] for cell in card["cells"]}) for key in ("bytes", "ranks"))
    columns = 3 if len(ranks) > 1 else 2  # times over the number of ranks, where there are several
    figure, axes = plots.subplots(len(collectives), columns, squeeze=False, figsize=(4 * columns, 1.1 + 2.35 * len(collectives)))
    for line, collective in zip(axes, collectives):
        cells = [cell for cell in card["cells"] if cell["collective"] == collective]
        done = [cell for cell in cells if measured(cell)]
        most = max((cell["ranks"] for cell in done), default=ranks[-1])
        seen = sorted({cell["bytes"] for cell in done if cell["ranks"] == most}) or sizes
        middle = seen[len(seen) // 2]
        curves(line[0], [cell for cell in done if cell["ranks"] == most], "bytes")
        over_sizes(line[0], sizes)
        title(line[0], collective, "%d ranks, us" % most)
        if columns > 2:
            curves(line[1], [cell for cell in done if cell["bytes"] == middle], "ranks")
            over_ranks(line[1], ranks)
            title(line[1], collective, "%s bytes, us" % short(middle))
        gains(line[-1], cells, ranks, sizes, Rectangle)
        title(line[-1], collective, "time of the MPI library / of mortar")
    for axis, label in zip(axes[-1], ("bytes of a block", *["ranks"] * (columns - 2), "bytes of a block")):
        axis.set_xlabel(label, fontsize=8)
    for axis in [axis for axis in axes.flat if axis.get_legend_handles_labels()[0]][:1]:  # the first one with curves
        axis.legend(fontsize=7)
    figure.suptitle(title_of(card), fontsize=10)
    try:
        save(figure, path)
    except (OSError, ValueError) as error:
        wrong("-o %s: %s" % (path, error))


def main(words):
    options = read_words(words)
    draw(read(options.card), options.output)


if __name__ == "__main__":
    end_silently()
    main(sys.argv[1:])
