# SPDX-License-Identifier: BSD-3-Clause
"""model_draw - draws what `mortar-model --csv` writes: misses per line copied over the block size, a row of pictures for each
collective, a picture for each cache. The ending of the file's name says which format."""
import csv
import sys

from show import STYLES, check, end_silently, over_sizes, pyplot, save

LEVELS = (("l1", "L1"), ("l2", "L2"), ("l3", "L3"))


def draw(plots, rows, path):
    collectives = sorted({row["collective"] for row in rows})
    levels = [level for level in LEVELS if any(float(row[level[0]]) > 0 for row in rows)]
    orders = list(dict.fromkeys(row["order"] for row in rows))
    figure, axes = plots.subplots(len(collectives), len(levels), squeeze=False,
                                  figsize=(4.2 * len(levels), 3.3 * len(collectives)))
    for line, collective in zip(axes, collectives):
        for axis, (key, name) in zip(line, levels):
            for style, order in zip(STYLES * 4, orders):
                chosen = [r for r in rows if (r["collective"], r["order"]) == (collective, order)]
                # per line copied: the curves of different sizes can be compared
                points = sorted((int(r["bytes"]), float(r[key]) / float(r["copied"])) for r in chosen)
                axis.plot(*zip(*points), style, label=order, markersize=4, linewidth=1.2, clip_on=False)
            over_sizes(axis, sorted({int(r["bytes"]) for r in rows}))
            axis.set_ylim(bottom=0)
            axis.set_title("%s, %s" % (collective, name), fontsize=10)
        line[0].set_ylabel("misses per line copied", fontsize=8)
    for axis in axes[-1]:
        axis.set_xlabel("bytes of a block", fontsize=8)
    axes[0][0].legend(fontsize=7)
    figure.suptitle("simulated: %s, %s ranks" % (rows[0]["machine"], rows[0]["ranks"]), fontsize=11)
    save(figure, path)


def main(path):
    plots = pyplot("mortar model: pictures need")
    try:
        check(path)
        rows = list(csv.DictReader(sys.stdin))
        if not rows:
            sys.exit("mortar model: nothing to draw")
        draw(plots, rows, path)
    except (OSError, ValueError) as error:
        sys.exit("mortar model: %s: %s" % (path, error))


if __name__ == "__main__":
    end_silently()
    main(sys.argv[1])
