# SPDX-License-Identifier: BSD-3-Clause
"""network_draw FILE.csv PICTURE - draws the latest run in what `mortar bench network --csv` wrote: bandwidth in both
directions (as kumar2008 figures 2 to 4) and message rate over the size, a curve for each number of pairs. The ending of PICTURE
says which format."""
import csv
import statistics
import sys

from show import STYLES, end_silently, over_sizes, pyplot, save


def curves(rows):
    """{pairs: [(bytes, median seconds per message that leaves a node)]}"""
    found = {}
    for row in rows:
        if row["test"] == "stream":
            found.setdefault(int(row["pairs"]), {}).setdefault(int(row["bytes"]), []).append(float(row["seconds"]))
    return {pairs: sorted((n, statistics.median(all_)) for n, all_ in cells.items()) for pairs, cells in sorted(found.items())}


def main(path, picture):
    with open(path, encoding="utf-8", newline="") as file:
        rows = list(csv.DictReader(file))
    if not rows:
        sys.exit("mortar bench network: %s: nothing to draw" % path)
    plots = pyplot("mortar bench network: --draw needs")
    latest = rows[-1]
    found = curves([row for row in rows if (row["date"], row["between"]) == (latest["date"], latest["between"])])
    figure, (bandwidth, rate) = plots.subplots(1, 2, figsize=(10, 4))
    for style, (pairs, points) in zip(STYLES * 4, found.items()):
        label = "%d pair%s" % (pairs, "" if pairs == 1 else "s")
        bandwidth.plot([n for n, _ in points], [2e-6 * n / s for n, s in points], style, label=label, markersize=4)
        rate.plot([n for n, _ in points], [1e-6 / s for n, s in points], style, label=label, markersize=4)
    sizes = sorted({n for points in found.values() for n, _ in points})
    for axis in bandwidth, rate:
        over_sizes(axis, sizes, "message size (bytes)")
    bandwidth.set_title("bandwidth, both directions", fontsize=10)
    bandwidth.set_ylabel("MB/s", fontsize=8)
    bandwidth.set_ylim(bottom=0)
    rate.set_title("messages that leave a node", fontsize=10)
    rate.set_ylabel("million per second", fontsize=8)
    rate.set_yscale("log")
    bandwidth.legend(fontsize=8)
    figure.suptitle("%s; %s" % (latest["between"], latest["mpi"]), fontsize=10)
    try:
        save(figure, picture)
    except (OSError, ValueError) as error:
        sys.exit("mortar bench network: --draw %s: %s" % (picture, error))


if __name__ == "__main__":
    end_silently()
    main(*sys.argv[1:])
