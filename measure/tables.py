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
import platforms
import simulate


def label(row):
    return row["selector"] if row["plan"] == "native" else row["plan"]


def path_of(name):
    return os.path.join(grids.RESULTS, "sim-%s.csv" % name)


def load(name):
    """{(collective, overhead, piece, placement, late): {label: {bytes: row}}}; SMPI's own copies are free, so its rows are there
    for every price."""
    rows = simulate.read_csv(path_of(name))
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


def link_seconds(name, block):
    """What a node's link needs for what leaves the node in an alltoall: no algorithm can be faster."""
    nodes, each = grids.GRIDS[name].size
    return each * each * (nodes - 1) * block / platforms.DEFAULTS["bandwidth"]


def absent(plans, block):
    """The selectors of which nobody knows how fast they are."""
    return [selector for selector in grids.ALL if block not in plans.get(selector, {})]


def times_table(points, sizes, inside):
    for point, plans in points.items():
        price, late = "10 ns + 0.1 ns/B" if point[2] else "free", ", late by up to %g ms" % (point[4] * 1e3) if point[4] else ""
        print("\n%s, o = %g us, copies %s, %s%s\n" % (point[0], point[1] * 1e6, price, point[3], late))
        print("| us | " + " | ".join("%d B" % block for block in sizes) + " |")
        print("|---" * (len(sizes) + 1) + "|")
        for name, rows in plans.items():
            cells = ["%.1f" % (seconds(rows[b], inside) * 1e6) if b in rows else "-" for b in sizes]
            print("| %s | %s |" % (name, " | ".join(cells)))


def choice(name, point, plans, block):
    """What mortar chose, and how many times faster than the best selector it is. If one was not simulated, none is the best: then
    how many times as long as a node's link needs, for an alltoall, and the fastest that was."""
    mine, theirs, missing = plans.get("auto", {}).get(block), best(plans, block, True), absent(plans, block)
    if not mine or len(missing) == len(grids.ALL) and point[0] != "alltoall":
        return "-"
    told = "`%s` %.1f" % (mine["ran"], seconds(mine) * 1e6)
    if not missing:
        return "%.2f: %s, %s %.1f" % (theirs[0] / seconds(mine), told, theirs[1], theirs[0] * 1e6)
    some = ", %s %.1f" % (theirs[1], theirs[0] * 1e6) if theirs else ""
    link = "%.2f links: " % (seconds(mine) / link_seconds(name, block)) if point[0] == "alltoall" else ""
    return "%s%s%s, without %s" % (link, told, some, " ".join(missing) if some else "any")


def selectors_table(name, points, sizes):
    print("| collective | o us | copies | placement | " + " | ".join("%d B" % block for block in sizes) + " |")
    print("|---" * (len(sizes) + 4) + "|")
    for point, plans in points.items():
        cells = [choice(name, point, plans, block) for block in sizes]
        if set(cells) != {"-"}:
            price = "10 ns" if point[2] else "free"
            print("| %s | %g | %s | %s | %s |" % (point[0], point[1] * 1e6, price, point[3], " | ".join(cells)))


def universal_table(names):
    """parsons2015 table I: the universal algorithm over the native routine, at several sizes of the job."""
    sizes = {name: "%dx%d" % grids.GRIDS[name].size for name in names}
    print("| | block | " + " | ".join("%s: SMPI as mpich | universal | auto" % sizes[name] for name in names) + " |")
    print("|---" * (2 + 3 * len(names)) + "|")
    found = {(name, point[0]): plans for name in names for point, plans in load(name).items()}
    for collective in sorted(grids.TABLE_ONE):
        for block in (64, 4096):
            cells, scheme = [], ""
            for name in names:
                plans = found.get((name, collective), {})
                native = plans.get("mpich", {}).get(block)
                universal = next((plan for plan in ("universal(native)", "leader(1,native)") if block in plans.get(plan, {})), None)
                scheme = scheme or universal or ""
                cells.append("%.1f" % (seconds(native) * 1e6) if native else "-")
                for plan in (universal, "auto"):
                    row = plans.get(plan, {}).get(block)
                    gained = " (%.2f)" % (seconds(native) / seconds(row)) if row and native else ""
                    cells.append("%.1f%s" % (seconds(row) * 1e6, gained) if row else "-")
            of = " (`leader(1, native)`)" if scheme.startswith("leader") else ""
            if set(cells) == {"-"}:
                continue
            print("| %s%s | %s | %s |" % (collective, of, "4 KiB" if block == 4096 else "%d B" % block, " | ".join(cells)))


def main():
    parser = argparse.ArgumentParser(description="tables of simulated grids")
    parser.add_argument("name", choices=list(grids.GRIDS))
    parser.add_argument("--bytes", type=int, nargs="+")
    parser.add_argument("--over", nargs="+", default=[], metavar="PLAN", help="gains of all plans over these")
    parser.add_argument("--selectors", action="store_true", help="mortar's choice against the best of SMPI's selectors")
    parser.add_argument("--picture", metavar="FILE", help="time over size, at the usual overhead and prices, in order")
    parser.add_argument("--inside", action="store_true", help="the mean time that ranks spend inside")
    parser.add_argument("--universal", action="store_true", help="parsons2015 table I, at three sizes of the job")
    arguments = parser.parse_args()
    if arguments.universal:
        universal_table(["parsons2015-1", "parsons2015-1-64"])
        print()
        universal_table(["parsons2015-1-128"])
        return
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
        selectors_table(arguments.name, points, sizes)
        return
    if not arguments.over:
        # What late ranks wait is the point: the time inside.
        times_table(points, sizes, arguments.inside or any(point[4] for point in points))
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
