#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""results - tables from what measure/sweep measured. usage: results.py [--matrix | --cells] FOLDER > tables.md
--matrix: one small table per case, the ratios alone, ranks by sizes; --cells: CSV, one line per cell instead of one per repetition.
A ratio is the median over repetitions of native / mortar within one run; beside it half the interquartile range, in per cent.
Files are named MPI-CASE-BUFFERS-RANKS.csv; CASE is a collective and what distinguishes it, as in measure/sweep."""
import csv
import os
import pathlib
import re
import statistics
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "draw"))
from show import quarters, short

OTHERS = ("native", "packed", "use", "limit", "stream")


def condition(row):
    """The imbalance in ms, else warm or cold, or the grid and cold."""
    caches = row.get("caches", "warm")
    if row.get("grid"):
        return row["grid"] + "^3" + (", cold" if caches == "cold" else "")
    return row.get("imbalance_ms") or caches


def read(path):
    """{(bytes, condition): {plan: {repetition: seconds}}} and the last row."""
    cells, row = {}, None
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file):
            plans = cells.setdefault((int(row["bytes"]), condition(row)), {})
            plans.setdefault(row["plan"], {})[int(row["repetition"])] = float(row["seconds"])
    return cells, row


def compare(above, below):
    """Median and half the interquartile range (in per cent of it) of the ratios of equal repetitions."""
    low, median, high = quarters(above, below)
    return median, 50 * (high - low) / median


def micro(times):
    return "%.3g" % (1e6 * statistics.median(times.values()))


def mortar_of(plans):
    """The first plan that is mortar's; None: there is none to compare with the library's own."""
    return next((plans[name] for name in plans if name not in OTHERS), None) if "native" in plans else None


def header(names):
    print("| %s |\n|%s" % (" | ".join(names), "---|" * len(names)))


def print_row(fields):
    print("| %s |" % " | ".join(fields))


def usual(files):
    """A row for each number of ranks and size."""
    limited = any(name in plans for cells, _ in files for plans in cells.values() for name in ("limit", "stream"))
    packed = any("packed" in plans for cells, _ in files for plans in cells.values())
    header(["ranks", "bytes", "native us", "mortar us", "native / mortar"]
           + (["packed us", "packed / mortar"] if packed else [])
           + (["limit us", "mortar / limit", "stream us", "mortar / stream"] if limited else []))
    for cells, row in files:
        for (size, caches), plans in sorted(cells.items(), key=lambda item: (item[0][1] != "warm", item[0][0])):
            mortar = mortar_of(plans)
            if not mortar:
                continue
            where = "" if caches == "warm" else ", " + caches
            fields = [row["ranks"], short(size) + where, micro(plans["native"]), micro(mortar),
                      "%.2f ±%.0f %%" % compare(plans["native"], mortar)]
            if "packed" in plans:
                fields += [micro(plans["packed"]), "%.2f ±%.0f %%" % compare(plans["packed"], mortar)]
            for name in ("limit", "stream") if limited else ():
                fields += [micro(plans[name]), "%.2f ±%.0f %%" % compare(mortar, plans[name])] if name in plans else ["", ""]
            print_row(fields)


def imbalanced(files):
    """As table II of parsons2015: a row for each imbalance, a column for each size."""
    for cells, row in files:
        sizes = sorted({size for size, _ in cells})
        print("%s ranks: native / mortar (native us, mortar us), the mean time inside of the call\n" % row["ranks"])
        header(["imbalance ms"] + ["%s bytes" % short(size) for size in sizes])
        for late in sorted({late for _, late in cells}, key=float):
            fields = [late]
            for size in sizes:
                plans = cells.get((size, late), {})
                mortar = mortar_of(plans)
                if mortar:
                    fields.append("%.2f ±%.0f %% " % compare(plans["native"], mortar)
                                  + "(%s, %s)" % (micro(plans["native"]), micro(mortar)))
                else:
                    fields.append("")
            print_row(fields)
        print()


def matrix(files):
    """The ratios alone: a row for each number of ranks, a column for each size, or grid."""
    columns, tables = {}, []
    for cells, row in files:
        labels = {}
        for (size, where), plans in cells.items():
            label = where if "^3" in where else short(size) + ("" if where == "warm" else ", " + where)
            columns[label] = (int(where.split("^")[0]) if "^3" in where else size, where)
            labels[label] = plans
        tables.append((labels, row))
    columns = sorted(columns, key=columns.get)
    header(["ranks"] + columns)
    for labels, row in tables:
        fields = [row["ranks"]]
        for label in columns:
            mortar = mortar_of(labels.get(label, {}))
            fields.append("%.2f ±%.0f %%" % compare(labels[label]["native"], mortar) if mortar else "")
        print_row(fields)


def print_cells(case, buffers, files):
    for cells, row in files:
        for (size, where), plans in sorted(cells.items()):
            mortar = mortar_of(plans)
            if mortar:
                ratio, spread = compare(plans["native"], mortar)
                print(",".join([row["mpi"], case, buffers, row["ranks"], str(size), where, str(len(mortar)),
                                "%.4g" % (1e6 * statistics.median(plans["native"].values())),
                                "%.4g" % (1e6 * statistics.median(mortar.values())), "%.3f" % ratio, "%.1f" % spread]))


def collectives():
    """In the order of the bench's own table."""
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "bench", "common", "list.h")
    with open(path, encoding="utf-8") as file:
        return re.findall(r"^KIND\((\w+),", file.read(), re.M)


def title(case):
    """bcast+barrier: bcast, then a barrier."""
    words = {"barrier": "then a barrier", "irregular": "irregular counts", "imbalance": "imbalanced", "2d": "2D grid",
             "3d": "3D grid", "nd": "graph of 8 neighbours", "01": "axis 0 to axis 1",
             "12": "axis 1 to axis 2", "02": "axis 0 to axis 2", "linear": "against the library's linear algorithm"}
    name, *more = case.split("+")
    return ", ".join([name] + [words.get(word, word) for word in more])


def main(folder, how=""):
    groups = {}
    if how == "--cells":
        print("mpi,case,buffers,ranks,bytes,condition,repetitions,native_us,mortar_us,ratio,spread_percent")
    for path in pathlib.Path(folder).glob("*.csv"):
        mpi, case, buffers, ranks = path.stem.split("-")
        groups.setdefault((mpi, case, buffers), []).append((int(ranks), path))
    order = ["alltoall", "allgather"] + collectives()
    for mpi, case, buffers in sorted(groups, key=lambda key: (key[0] != "ompi4", key[0], order.index(key[1].split("+")[0]), key)):
        files = [read(path) for _, path in sorted(groups[mpi, case, buffers])]
        files = [(cells, row) for cells, row in files if row]
        if not files:
            continue
        if how == "--cells":
            print_cells(case, buffers, files)
            continue
        where = "buffers outside the heap" if buffers == "outside" else buffers + " buffers"
        print("\n### %s, %s: %s\n" % (title(case), where, files[0][1]["mpi"]))
        (imbalanced if files[0][1].get("imbalance_ms") else matrix if how == "--matrix" else usual)(files)


if __name__ == "__main__":
    if len(sys.argv) not in (2, 3) or (len(sys.argv) == 3 and sys.argv[1] not in ("--matrix", "--cells")):
        sys.exit(__doc__)
    main(sys.argv[-1], sys.argv[1] if len(sys.argv) == 3 else "")
