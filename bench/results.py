#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""results - tables from what bench/sweep measured. usage: results.py FOLDER > tables.md
A ratio is the median over repetitions of native / mortar within one run; beside it half the interquartile range, in per cent."""
import csv
import pathlib
import statistics
import sys


def read(path):
    """{(bytes, warm or cold): {plan: {repetition: seconds}}} and the last row."""
    cells, row = {}, None
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            plans = cells.setdefault((int(row["bytes"]), row.get("caches", "warm")), {})
            plans.setdefault(row["plan"], {})[int(row["repetition"])] = float(row["seconds"])
    return cells, row


def compare(above, below):
    """Median and half the interquartile range (in per cent of it) of the ratios of equal repetitions."""
    ratios = [above[r] / below[r] for r in sorted(above) if r in below]
    median = statistics.median(ratios)
    quarters = statistics.quantiles(ratios, n=4) if len(ratios) > 1 else [median] * 3
    return median, 50 * (quarters[2] - quarters[0]) / median


def short(size):
    for unit, scale in (("M", 1 << 20), ("K", 1 << 10)):
        if size >= scale and size % scale == 0:
            return "%d%s" % (size // scale, unit)
    return str(size)


def micro(times):
    return "%.3g" % (1e6 * statistics.median(times.values()))


def table(paths):
    print("| ranks | bytes | native us | mortar us | native / mortar | limit us | mortar / limit | stream us | mortar / stream |")
    print("|---|---|---|---|---|---|---|---|---|")
    for path in paths:
        cells, row = read(path)
        for (size, caches), plans in sorted(cells.items(), key=lambda item: (item[0][1] != "warm", item[0][0])):
            mortar = next((plans[name] for name in plans if name not in ("native", "limit", "stream")), None)
            if not mortar or "native" not in plans:
                continue
            limits = [(micro(plans[name]), "%.2f ±%.0f %%" % compare(mortar, plans[name])) if name in plans else ("", "")
                      for name in ("limit", "stream")]
            print("| %s | %s | %s | %s | %.2f ±%.0f %% | %s | %s | %s | %s |" % (
                (row["ranks"], short(size) + (", cold" if caches == "cold" else ""), micro(plans["native"]), micro(mortar))
                + compare(plans["native"], mortar)
                + limits[0] + limits[1]))


def main(folder):
    groups = {}
    for path in pathlib.Path(folder).glob("*.csv"):
        mpi, collective, buffers, ranks = path.stem.split("-")
        groups.setdefault((mpi, collective, buffers), []).append((int(ranks), path))
    order = ["alltoall", "allgather"]
    for mpi, collective, buffers in sorted(groups, key=lambda key: (key[0] != "ompi4", key[0], order.index(key[1]), key[2])):
        paths = [path for _, path in sorted(groups[mpi, collective, buffers])]
        _, row = read(paths[0])
        print("\n### %s, %s buffers: %s\n" % (collective, buffers, row["mpi"] if row else mpi))
        table(paths)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
