#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""tables - what the simulated grids of docs/results say, as the tables of docs/reproduction.md.

    measure/tables.py li2018-12a [--over 'alltoall:bruck' bruck] [--bytes 8 64 512]
    measure/tables.py li2018-12a --selectors"""
import argparse
import math
import os

import grids  # says where the others are
import draw
import simulate


def label(row):
    return row["selector"] if row["plan"] == "native" else row["plan"]


def load(name):
    """{(collective, overhead, piece, placement, late): {label: {bytes: row}}}; SMPI's own copies are free, so its rows are there
    for every price."""
    rows = simulate.read_csv(os.path.join(grids.RESULTS, "sim-%s.csv" % name))
    pieces = {row["piece"] for row in rows}
    points = {}
    for row in filter(simulate.as_asked, rows):
        for piece in pieces if row["plan"] == "native" else (row["piece"],):
            point = (row["collective"], float(row["overhead"]), float(piece), row["placement"], float(row["late"]))
            points.setdefault(point, {}).setdefault(label(row), {})[int(row["bytes"])] = row
    return dict(sorted(points.items()))


def seconds(row, inside=False):
    return float(row["inside_seconds" if inside else "seconds"])


def mean(numbers):
    """The geometric mean."""
    numbers = list(numbers)
    return math.exp(sum(math.log(number) for number in numbers) / len(numbers)) if numbers else float("nan")


def gain(plans, mine, other, sizes, inside=False):
    """How many times faster: the geometric mean over the sizes that both have; None: there is none."""
    ratios = [seconds(plans[other][b], inside) / seconds(plans[mine][b], inside) for b in sizes
              if b in plans.get(mine, {}) and b in plans.get(other, {})]
    return mean(ratios) if ratios else None


def best(plans, block, native):
    """The fastest of the natives, or of the others, as (seconds, label)."""
    found = [(seconds(rows[block]), name) for name, rows in plans.items()
             if block in rows and (rows[block]["plan"] == "native") == native and name != "auto" and ":" not in name]
    return min(found) if found else None


def times_table(points, sizes):
    for point, plans in points.items():
        price, late = "10 ns + 0.1 ns/B" if point[2] else "free", ", late by up to %g ms" % (point[4] * 1e3) if point[4] else ""
        print("\n%s, o = %g us, copies %s, %s%s\n" % (point[0], point[1] * 1e6, price, point[3], late))
        print("| us | " + " | ".join("%d B" % block for block in sizes) + " |")
        print("|---" * (len(sizes) + 1) + "|")
        for name, rows in plans.items():
            cells = ["%.1f" % (seconds(rows[b]) * 1e6) if b in rows else "-" for b in sizes]
            print("| %s | %s |" % (name, " | ".join(cells)))


def selectors_table(points, sizes):
    """What mortar chose, and how many times faster than the best selector it is, if it is."""
    print("| collective | o us | copies | placement | " + " | ".join("%d B" % block for block in sizes) + " |")
    print("|---" * (len(sizes) + 4) + "|")
    for point, plans in points.items():
        cells = []
        for block in sizes:
            mine, theirs = plans.get("auto", {}).get(block), best(plans, block, True)
            cells.append("-" if not mine or not theirs else "%.2f: `%s` %.1f, %s %.1f" % (
                theirs[0] / seconds(mine), mine["ran"], seconds(mine) * 1e6, theirs[1], theirs[0] * 1e6))
        if set(cells) != {"-"}:
            price = "10 ns" if point[2] else "free"
            print("| %s | %g | %s | %s | %s |" % (point[0], point[1] * 1e6, price, point[3], " | ".join(cells)))


def main():
    parser = argparse.ArgumentParser(description="tables of simulated grids")
    parser.add_argument("name", choices=list(grids.GRIDS))
    parser.add_argument("--bytes", type=int, nargs="+")
    parser.add_argument("--over", nargs="+", default=[], metavar="PLAN", help="gains of all plans over these")
    parser.add_argument("--selectors", action="store_true", help="mortar's choice against the best of SMPI's selectors")
    parser.add_argument("--picture", metavar="FILE", help="time over size, at the usual overhead and prices, in order")
    parser.add_argument("--inside", action="store_true", help="the mean time that ranks spend inside")
    arguments = parser.parse_args()
    points = load(arguments.name)
    sizes = arguments.bytes or sorted({b for plans in points.values() for rows in plans.values() for b in rows})
    if arguments.picture:
        for point, plans in points.items():
            if point[1:4] == (0.25e-6, 10e-9, "ordered"):
                table = {("native: " if next(iter(rows.values()))["plan"] == "native" else "") + name:
                         {b: seconds(row) for b, row in rows.items() if b in sizes} for name, rows in plans.items()}
                size = grids.GRIDS[arguments.name].size
                draw.over_sizes(arguments.picture, table, "%s, %d nodes x %d ranks, %s" % (point[0], *size, simulate.version()))
        return
    if arguments.selectors:
        selectors_table(points, sizes)
        return
    if not arguments.over:
        times_table(points, sizes)
        return
    for other in arguments.over:
        names = sorted({name for plans in points.values() for name, rows in plans.items()
                        if name != other and any(row["plan"] != "native" for row in rows.values())})
        print("\ntimes faster than %s, geometric mean over %s B\n" % (other, " ".join(map(str, sizes))))
        print("| collective | o us | copies | placement | " + " | ".join(names) + " |")
        print("|---" * (len(names) + 4) + "|")
        for point, plans in points.items():
            gains = [gain(plans, name, other, sizes, arguments.inside) for name in names]
            print("| %s | %g | %s | %s | %s |" % (point[0], point[1] * 1e6, "10 ns" if point[2] else "free", point[3],
                                                 " | ".join("%.2f" % g if g else "-" for g in gains)))


if __name__ == "__main__":
    main()
