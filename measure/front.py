#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""front - the figures of README.md, made from what docs/ holds of the measurements: nothing is measured here.
usage: front.py [--check] [FOLDER]    FOLDER: the repository, this one if left out
Writes the lines between the marks of README.md, and docs/pictures/speed.png. --check: writes nothing, and exits with 1 where the
README says something else.
Sources: docs/results/collectives.csv, and the tables of alltoall in docs/results.md, one for each MPI library. A ratio is always
native time / mortar's time. Where several rivals were run, the fastest one counts and is named."""
import csv
import os
import re
import statistics
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "draw"))
from show import over_sizes, pyplot, save, short, with_matplotlib  # noqa: E402

CELLS = "docs/results/collectives.csv"
PAGE = "docs/results.md"
PICTURE = "docs/pictures/speed.png"
BEGIN, END = "<!-- made by measure/front.py -->\n", "<!-- end -->\n"
SIZES = (8, 512, 4096, 32768, 262144)
# Row of the table: name, cases of the CSV file: the one in which the rival is faster counts, cell by cell.
SHOWN = (("alltoall", ("alltoall",)), ("allgather", ("allgather",)), ("alltoallv", ("alltoallv", "alltoallv+linear")),
         ("bcast, then a barrier", ("bcast+barrier",)), ("allreduce", ("allreduce",)),
         ("neighbor_alltoall, 3D grid", ("neighbor_alltoall+3d",)))
RANKS = (2, 16)
LIBRARIES = (("Open MPI v4", "Open MPI 4.1"), ("Open MPI v5", "Open MPI 5"), ("MPICH", "MPICH 5"), ("Intel", "Intel MPI"))
SLOWER = 0.97


def read_cells(root):
    """The rows of the CSV file; their figures are numbers."""
    with open(os.path.join(root, CELLS), newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    for row in rows:
        row.update({name: float(row[name]) for name in ("native_us", "mortar_us", "ratio", "spread_percent")})
    return rows


def cells_of(rows):
    """{(case, buffers, ranks, bytes): row}; of a case with conditions one of its rows."""
    return {(row["case"], row["buffers"], int(row["ranks"]), int(row["bytes"])): row for row in rows}


def size_of(text):
    return int(text.rstrip("KM")) << {"K": 10, "M": 20}.get(text[-1], 0)


def read_page(root):
    """{library: {(ranks, bytes): (native us, mortar us, limit us)}} of alltoall from the heap."""
    found, cells = {}, None
    with open(os.path.join(root, PAGE), encoding="utf-8") as file:
        for line in file:
            if line.startswith("## "):
                names = [name for begin, name in LIBRARIES if line.startswith("## alltoall, heap buffers: " + begin)]
                cells = found.setdefault(names[0], {}) if names else None
            row = re.match(r"\| (\d+) \| (\d+[KM]?) \| (\S+) \| (\S+) \| [^|]* \| (\S+) \|", line)
            if cells is not None and row:
                cells[int(row[1]), size_of(row[2])] = tuple(float(field) for field in row.groups()[2:])
    return found


def figure(ratio):
    if ratio < SLOWER:
        return "**%.2f**" % ratio
    return "%.1f" % ratio if ratio < 9.95 else "%.0f" % ratio


def rival(cells, cases, ranks, size):
    """The ratio in the case whose native time is the least."""
    rows = [cells[case, "heap", ranks, size] for case in cases]
    return min(rows, key=lambda row: row["native_us"])["ratio"]


def against_all(libraries, ranks, size):
    """mortar under Open MPI 4.1 against the fastest library: ratio and name."""
    native = {name: cells[ranks, size][0] for name, cells in libraries.items()}
    best = min(native, key=native.get)
    return native[best] / libraries["Open MPI 4.1"][ranks, size][1], best


def table(root):
    rows, libraries = read_cells(root), read_page(root)
    cells = cells_of(rows)
    names = ["native time / mortar's time", "ranks"] + [short(size) + ("iB" if size >= 1024 else " B") for size in SIZES]
    yield "| %s |" % " | ".join(names).replace("K", " K")
    yield "|%s" % ("---|" * len(names))
    for name, cases in SHOWN:
        for ranks in RANKS:
            yield "| %s | %d | %s |" % (name, ranks, " | ".join(figure(rival(cells, cases, ranks, size)) for size in SIZES))
    fields = ["%s (%s)" % (figure(ratio), best) for ratio, best in (against_all(libraries, 16, size) for size in SIZES)]
    yield "| alltoall, against the fastest library | 16 | %s |" % " | ".join(fields)
    yield ""
    ratios = [row["ratio"] for row in rows]
    slow = [row for row in rows if row["ratio"] < SLOWER]
    sure = [row for row in slow if row["ratio"] * (1 + row["spread_percent"] / 100) < 1]
    yield ("%d combinations of collective, buffers, ranks (2, 4, 16, 64), size and, for reduces, how late ranks come were"
           " measured;") % len(ratios)
    yield "the median ratio is %.1f." % statistics.median(ratios)
    yield "**In %d of them mortar is more than %.0f %% slower**; in %d of these by more than the measurement noise." % (
        len(slow), 100 * (1 - SLOWER), len(sure))
    yield "The worst is %.2f." % min(ratios)
    yield "[Where mortar is slower](docs/results-collectives.md#where-mortar-is-slower) names them, with the reasons."


def draw_gains(right, cells, ranks, sizes):
    for style, (name, cases) in zip(("o-", "s-", "^-", "v-", "d-", "x-"), SHOWN):
        here = [size for size in sizes if all((case, "heap", ranks, size) in cells for case in cases)]
        right.plot(here, [rival(cells, cases, ranks, size) for size in here], style, label=name, linewidth=1.3, markersize=4)
    right.axhline(1, color="black", linewidth=1)
    right.set_yscale("log", base=2)
    ticks = (0.5, 1, 2, 4, 8, 16)
    over_sizes(right, sizes, "bytes of a block, or of the vector")
    right.set_yticks(ticks)
    right.set_yticklabels(["%g" % tick for tick in ticks])
    right.set_ylabel("native time / mortar's time", fontsize=8)
    right.set_title("%d ranks on 2 cores, Open MPI 4.1: more is better" % ranks, fontsize=10)
    right.legend(fontsize=7)


def draw(root):
    plots = pyplot("measure/front.py: the picture needs")
    cells, libraries = cells_of(read_cells(root)), read_page(root)
    drawing, (left, *gains) = plots.subplots(1, 3, figsize=(14, 4.3))
    sizes = sorted(size for ranks, size in libraries["Open MPI 4.1"] if ranks == 16)
    for style, (name, found) in zip(("s-", "^-", "v-", "d-"), sorted(libraries.items())):
        left.plot(sizes, [found[16, size][0] for size in sizes], style, label=name, linewidth=1, markersize=4, alpha=0.75)
    mine = libraries["Open MPI 4.1"]
    left.plot(sizes, [mine[16, size][1] for size in sizes], "ko-", label="Open MPI 4.1 under mortar", linewidth=2, markersize=5)
    left.plot(sizes, [mine[16, size][2] for size in sizes], "k:", label="plain memcpy and barriers, by the same ranks", linewidth=1)
    left.set_yscale("log")
    over_sizes(left, sizes, "bytes of a block")
    left.set_ylabel("microseconds", fontsize=8)
    left.set_title("alltoall, 16 ranks on 2 cores: less is better", fontsize=10)
    left.legend(fontsize=7)
    for right, ranks in zip(gains, RANKS):
        draw_gains(right, cells, ranks, sizes)
    save(drawing, os.path.join(root, PICTURE))


def main(words):
    check = "--check" in words
    if not check:
        with_matplotlib()
    root = next((word for word in words if not word.startswith("-")), os.path.join(HERE, ".."))
    path = os.path.join(root, "README.md")
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if text.count(BEGIN) != 1 or END not in text.split(BEGIN)[1]:
        sys.exit("README.md: the marks of measure/front.py are not there")
    before, rest = text.split(BEGIN)
    made = before + BEGIN + "\n".join(table(root)) + "\n" + END + rest.split(END, 1)[1]
    if check:
        sys.exit(0 if made == text else "README.md: its figures are not those of docs/; run measure/front.py")
    draw(root)
    with open(path, "w", encoding="utf-8") as file:
        file.write(made)


if __name__ == "__main__":
    main(sys.argv[1:])
