#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""headline - the first table of docs/reproduction.md: ratios of the four papers' abstracts and conclusions, and ours beside them.
usage: headline.py [--check] [FOLDER]    FOLDER: the repository, this one if left out
Nothing is measured here. Each of our figures is taken, or computed, from a table of docs/ or from docs/results/*.csv, so that it
cannot say anything that they do not. Writes the lines between the marks; --check writes nothing and exits with 1 where the page
says something else."""
import os
import re
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)
import adapters  # noqa: E402
import tables  # noqa: E402

PAGE = "docs/reproduction.md"
BEGIN, END = "<!-- made by measure/headline.py -->\n", "<!-- end of headline.py -->\n"
USUAL = (0.25e-6, 10e-9, "ordered", 0.0)


def page_tables(root, page):
    """{heading: [tables below it]}, a table as a list of rows, a row as a list of texts, the head first."""
    found, heading, last = {}, "", None
    with open(os.path.join(root, page), encoding="utf-8") as file:
        for line in file:
            if line.startswith("#"):
                heading = line.lstrip("#").strip()
            if not line.startswith("|"):
                last = None
            elif not line.startswith("|---"):
                if last is None:
                    last = []
                    found.setdefault(heading, []).append(last)
                last.append([field.strip() for field in line.strip().strip("|").split("|")])
    return found


def cell(rows, column, *begin):
    """The number with which the cell begins that is below a column's name, in the row that begins so."""
    row = next(row for row in rows if row[:len(begin)] == list(begin))
    return float(re.match(r"[\d.]+", row[rows[0].index(column)]).group())


def ratios(rows, most=1 << 62):
    """Native time / mortar's, of the blocks shorter than `most`."""
    def size(text):
        return int(re.match(r"\d+", text).group()) << {"K": 10, "M": 20}.get(text.rstrip()[-1:], 0)
    at = rows[0].index("native / mortar")
    return [float(row[at].split()[0]) for row in rows[1:] if re.fullmatch(r"\d+[KM]?", row[1]) and size(row[1]) < most]


def span(numbers, form="%.2f"):
    low, high = form % min(numbers), form % max(numbers)
    return low if low == high else "%s to %s" % (low, high)


class Sources:
    """What our figures are taken from."""

    def __init__(self, root):
        self.page = page_tables(root, PAGE)
        self.cores = page_tables(root, "docs/cores.md")["Against what is known"]
        self.results, self.examples = page_tables(root, "docs/results.md"), page_tables(root, "docs/examples.md")
        self.measured = [rows for heading, found in self.results.items() if heading.startswith("alltoall, heap") for rows in found]

    def order(self, collective, plan, ranks, size):
        return cell(self.page[collective][0], plan, ranks, size)

    def spread(self, collective, plan, ranks, size):
        """The ratio as the page has it, with its spread."""
        rows = self.page[collective][0]
        return next(row for row in rows if row[:2] == [ranks, size])[rows[0].index(plan)]

    def curve_over_native(self, collective, most=1 << 62):
        """SH-CO over the MPI library, in the table of plans: the mean over its ranks and sizes."""
        sizes = {"512": 512, "4K": 4 << 10, "32K": 32 << 10, "128K": 128 << 10, "512K": 512 << 10, "1M": 1 << 20}
        return tables.mean(self.order(collective, "morton", *row[:2]) / self.order(collective, "native", *row[:2])
                           for row in self.page[collective][0][1:] if sizes[row[1]] < most)

    def in_time(self, machine, collective, column, *but):
        """Simulated on that many cores: the mean over the blocks but these."""
        rows = self.cores[("E7", "Phi").index(machine)]
        column = next(at for at, name in enumerate(rows[0]) if column in name)
        return tables.mean([float(row[column]) for row in rows[1:] if row[0] == collective and row[1] not in but])

    def gains(self, grid, mine, other, sizes, chosen=lambda point: True):
        """Of all points: the mean over the sizes, with the plans' copies charged."""
        found = [tables.gain(plans, mine, other, sizes) for point, plans in tables.load(grid).items() if point[2] and chosen(point)]
        return [gain for gain in found if gain]

    def usual(self, grid, plan, block, collective="alltoall", late=0.0, inside=False):
        return tables.seconds(tables.load(grid)[(collective,) + USUAL[:3] + (late,)][plan][block], inside)


def li2018(s):
    orders = {name: [s.spread(name, "morton", "64", size) for size in ("512", "4K")] for name in ("alltoall", "allgather")}
    alone = [s.order(name, "morton", ranks, "512") for name in ("alltoall", "allgather") for ranks in ("4", "16")]
    here = "[measured](#orders-and-copies-measured-on-this-machine)"
    cores = "[simulated](cores.md#against-what-is-known)"
    yield ("SH-CO over SH-Naive, alltoall below 16 KiB", "1.40; Xeon Phi, 60 cores",
           "%s and %s, 64 ranks on 2 cores, 512 B and 4 KiB; %s with 4 and 16 ranks; %s. %.2f on 60 cores, %s" % (
               *orders["alltoall"], span(alone), here, s.in_time("Phi", "alltoall", "SH-CO", "16 KiB"), cores),
           "reached at 512 B, but for another reason (pages); not with few ranks on a core; on simulated cores up to 64 B only")
    yield ("SH-CO over SH-Naive, allgather below 32 KiB", "1.49; Xeon Phi",
           "%s and %s, 64 ranks, 512 B and 4 KiB; %s. %.2f on 60 cores, %s" % (
               *orders["allgather"], here, s.in_time("Phi", "allgather", "SH-CO"), cores),
           "not reached at 512 B, nearly at 4 KiB; on simulated cores not from 512 B to 4 KiB")
    counted, twin = {}, s.page
    for name, heading in (("alltoall", "Table 2: alltoall, simulated, counted, deviation"),
                          ("allgather", "Table 1: allgather, simulated, counted, deviation")):
        row = next(row for row in twin[heading][0] if row[:2] == ["L2", "4K"])
        counted[name] = 100 * (1 - float(row[8]) / float(row[2]))
    for name, value in (("alltoall", "1.41"), ("allgather", "1.62")):
        yield ("SH-NUMA-CO over SH-Naive, %s, short blocks" % name, "%s; four E7-8890, 72 cores" % value,
               "%.0f %% fewer L2 misses at 4 KiB, [simulated](#caches-counted-and-predicted); %.2f times as fast, %s" % (
                   counted[name], s.in_time("E7", name, "SH-NUMA-CO", *["16 KiB"] * (name == "alltoall")), cores),
               "half of it in simulated time, by the steps per domain; the misses depend on an "
               "[assumption](#what-the-assumptions-decide)"
               if name == "alltoall" else "reached in simulated time, but by the steps per domain more than by the curve")
    means = [tables.mean(ratios(rows)) for rows in s.measured]
    yield ("SH-NUMA-CO over MVAPICH2, alltoall", "3.03; four E7-8890",
           "mortar's choice %s, mean over 2 to 64 ranks and 8 B to 1 MiB, four MPI libraries; [results](results.md). "
           "SH-CO itself %.2f over Open MPI 4.1, 4 to 64 ranks, 512 B to 1 MiB; %s" % (
               span(means), s.curve_over_native("alltoall"), here),
           "reached, without domains, over other libraries, on 2 cores that the ranks share")
    rows = s.results["allgather, heap buffers: Open MPI v4.1.4"][0]
    yield ("SH-NUMA-CO over MVAPICH2, allgather below 128 KiB", "6.05; four E7-8890",
           "mortar's choice %.2f, mean over 2 to 64 ranks, Open MPI 4.1; "
           "[results](results.md#allgather-heap-buffers-open-mpi-v414). SH-CO itself %.2f, 4 to 64 ranks from 512 B on; %s" % (
               tables.mean(ratios(rows, 128 << 10)), s.curve_over_native("allgather", 128 << 10), here),
           "in part: few ranks gain less; another library and machine")
    mpich = s.results["alltoall, heap buffers: MPICH 5.0.2"][0]
    yield ("SH-CO over MPICH3, alltoall, allgather", "3.11, 2.90; Xeon Phi",
           "mortar's choice %.2f over MPICH 5, alltoall, and %.2f over Open MPI 4.1, allgather; [results](results.md). "
           "SH-CO itself %.2f and %.2f over Open MPI 4.1; %s" % (tables.mean(ratios(mpich)), tables.mean(ratios(rows)),
                                               s.curve_over_native("alltoall"), s.curve_over_native("allgather"), here),
           "reached or nearly, but over newer libraries, on 2 cores that the ranks share")
    own, curve = (s.gains("li2018-12a", plan, "bruck", (8, 64), lambda point: point[1] < 0.3e-6)
                  for plan in ("mnco(rows)", "mnco(morton)"))
    yield ("MN-CO over MVAPICH2 (Bruck), alltoall below 1 KB", "2.23; 256 nodes",
           "%s at 8 and 64 B with messages of 0.1 and 0.25 us; with the paper's owners, by the curve, %s; "
           "[simulated](#li2018-figure-12a-mn-co-on-256-nodes-one-rank-each)" % (span(own), span(curve)),
           "only where messages are cheap; at 0.5 us it loses")
    topo = [span([s.usual("li2018-12b", "leader(1,bruck)", block) / s.usual("li2018-12b", "leader(1,mnco(%s))" % owners, block)
                  for block in (8, 64)]) for owners in ("rows", "morton")]
    yield ("topology-aware MN-CO over topology-aware MVAPICH2, below 64 B", "1.88; 128 nodes x 24",
           "%s at 8 and 64 B, 128 nodes x 24; with the paper's owners, by the curve, %s; "
           "[simulated](#li2018-figure-12b-topology-aware-128-nodes-x-24-ranks)" % tuple(topo),
           "in part by owners by rows, not by the paper's; our Bruck copies while its messages are under way")
    whole = [s.usual("li2018-12b", "mpich", block) / s.usual("li2018-12b", "leader(1,mnco(rows))", block) for block in (8, 64)]
    flat = [s.usual("li2018-12b-16", "bruck", block) / s.usual("li2018-12b-16", "leader(1,mnco(rows))", block) for block in (8, 64)]
    yield ("... over MVAPICH2 that knows no topology", "3.81; 128 nodes x 24",
           "%.2f and %.2f at 8 and 64 B over SMPI's Bruck among all ranks, whose copies are free; %.2f and %.2f over our own, "
           "16 nodes x 24; [simulated](#li2018-figure-12b-topology-aware-128-nodes-x-24-ranks)" % tuple(whole + flat),
           "not reached: in the simulation a node's 24 ranks send 24 times as fast as its leader")
    twelve, leaders = ([s.usual(grid, theirs, block, "allgather") / s.usual(grid, mine, block, "allgather")
                        for block in (8, 64, 512)]
                       for grid, theirs, mine in (("li2018-12c", "doubling", "mnco(rows)"),
                                                  ("li2018-13", "leader(1,doubling)", "leader(1,mnco(rows))")))
    yield ("topology-aware MN-CO over topology-aware MVAPICH2, allgather below 4 KiB", "1.91; 256 nodes",
           "%s over recursive doubling among leaders, 128 nodes x 24; %s over the same on 256 nodes, one rank each; 8 to 512 B; "
           "[simulated](#li2018-figure-12c-allgather-among-leaders)" % (span(leaders), span(twelve)),
           "not reached: recursive doubling is as fast where nodes are in order")
    over = {other: [gain for block in (8, 64)
                    for gain in s.gains("li2018-13", "leader(1,mnco(rows))", "overlap(%s)" % other, (block,))]
            for other in ("doubling", "ring")}
    plain = [gain for block in (8, 64) for gain in s.gains("li2018-13", "leader(1,mnco(rows))", "leader(1,doubling)", (block,))]
    yield ("topology-aware MN-CO over doubling, ring with overlap, below 2 KB", "1.88, 1.82; 256 nodes x 24",
           "%s, %s at 8 and 64 B, 128 nodes x 24; over doubling without overlap %s; "
           "[simulated](#li2018-figure-13-allgather-128-nodes-x-24-ranks)" % (
               span(over["doubling"], "%.1f"), span(over["ring"], "%.1f"), span(plain)),
           "reached over the ring; not over doubling where nodes are in order")
    near = s.page["Neighbourhoods (simulated, figures 11c and 11d)"][0]
    share = []
    for size in ("512", "4K", "32K"):
        naive, curve = [float(row[3]) for row in near if row[1] == size][:2]
        share.append(100 * (curve / naive - 1))
    yield ("neighbourhoods, SH-CO and SH-NUMA-CO over SH-Naive", "1.15 to 1.18; Phi and E7",
           "%s %% more L2 misses; [simulated](#neighbourhoods-simulated-figures-11c-and-11d)" % span(share, "%.1f"),
           "not reached: on grids no order saves more than 2 % of the misses")
    ft, heat = s.examples["Fourier transform"][-1], s.examples["Heat"][0]
    plain, short = ({name: [cell(ft, name, letter, ranks, times) for letter, times in runs for ranks in ("4", "16")]
                     for name in ("SH-Naive", "SH-CO", "auto")}
                    for runs in ((("A", "6"), ("B", "20"), ("S", "200"), ("W", "200")), (("S", "6"), ("W", "6"))))
    order, brief = (span([co / naive for co, naive in zip(some["SH-CO"], some["SH-Naive"])]) for some in (plain, short))
    yield ("FT, SH-CO or SH-NUMA-CO over SH-Naive", "1.16 Phi, 1.14 E7",
           "%s, classes A and B, and S and W with 200 iterations; %s, S and W with their own 6; "
           "[measured](examples.md#native-against-mortar)" % (order, brief),
           "cannot be shown on 2 cores: [why](#applications-li2018-figures-14-and-15)")
    yield ("FT over the MPI library", "1.80 Phi, 1.52 E7",
           "SH-CO %s, auto %s, classes A and B, and S and W with 200 iterations; %s and %s, S and W with their own 6; "
           "[measured](examples.md#native-against-mortar)" % (
               span(plain["SH-CO"]), span(plain["auto"]), span(short["SH-CO"]), span(short["auto"])),
           "not reached: calls are a small part of the time here, and few")
    first = [[float(cell.split()[0]) for cell in row[-3:]] for row in heat[1:]]
    yield ("heat over SH-Naive; over MVAPICH2", "1.15 to 1.27; 1.79 to 1.85",
           "SH-CO over SH-Naive %s; auto over Open MPI 4.1 %s, 16 and 64 ranks; [measured](examples.md#heat)"
           % (span([curve / rows for rows, curve, _ in first]), span([auto for _, _, auto in first])),
           "not reached: 1024 iterations on 2 cores that the ranks share")


def ramesh2024(s):
    both = [ratio for rows in s.measured for ratio in ratios(rows)]
    yield ("HINT over other libraries, alltoall", "up to 10; Intel and AMD nodes",
           "mortar's choice up to %.1f, 2 to 64 ranks, four MPI libraries; [results](results.md)" % max(both),
           "reached, on 2 cores that the ranks share")
    others = ("columns", "morton", "hilbert", "tiles")
    spread = [s.order("alltoall", plan, "16", size) for plan in others for size in ("512", "4K", "32K")]
    wide = [s.order("alltoall", plan, "64", "512") for plan in others]
    yield ("one order over another", "up to 20 %",
           "times as fast as rows: %s, 16 ranks to 32 KiB; %s, 64 ranks at 512 B; "
           "[measured](#orders-and-copies-measured-on-this-machine)" % (span(spread), span(wide)),
           "reached with 64 ranks on 2 cores only")
    rows = s.page["alltoall"][0]
    mixed = [s.order("alltoall", "rows, hybrid", *row[:2]) / max(1, s.order("alltoall", "rows, nt", *row[:2])) for row in rows[1:]]
    yield ("the hybrid copy over regular and over non-temporal copies", "up to 20 %; Cascade Lake",
           "%s times as fast as the better of both, 4 to 64 ranks, 512 B to 1 MiB; "
           "[measured](#orders-and-copies-measured-on-this-machine)" % span(mixed), "not reached")
    yield ("the hybrid copy, alltoall of 1 MiB, 32 ranks", "50 % fewer misses, a tenth of the stalls; Cascade Lake",
           "50 % fewer misses; [simulated](#small-benchmarks-of-the-papers)",
           "misses reached on another machine's model; stalls cannot be shown here: no counters")
    ft = s.examples["Fourier transform"][-1]
    calls = [cell(ft, "auto", letter, ranks, "200") for letter in "SW" for ranks in ("4", "16")]
    yield ("P3DFFT, a 3-D FFT library, time of a loop", "22.2 % less than Intel MPI; Cascade Lake, 16 ranks a node",
           "another 3-D FFT, 200 iterations: %s times as fast; [measured](examples.md#native-against-mortar)" % span(calls),
           "not shown: P3DFFT was not run")


def kumar2008(s):
    original = s.usual("kumar2008", "mpich", 512)
    saved = [100 * (1 - s.usual("kumar2008", plan, 512) / original) for plan in ("aggregate(pairwise)", "auto")]
    card = {scheme: float(row["seconds"]) for scheme, row in adapters.load()["9", "InfiniPath", 32, 512].items()}
    yield ("aggregation, alltoall of 512 B", "55 % less than the original; InfiniPath, 64 nodes x 8",
           "aggregation %.0f %% less, mortar's choice %.0f %% less, on a [card without limits](#kumar2008-64-nodes-x-8-ranks); "
           "%.0f %% more and %.0f %% less on [one like InfiniPath](#kumar2008-figures-7-to-12-network-cards-with-limits), "
           "32 nodes x 8; simulated" % (
               *saved, 100 * (card["SA-orig"] / card["orig"] - 1), 100 * (1 - card["mortar"] / card["orig"])),
           "not reached: the original is cheaper in the simulation")
    leader = card["L-orig"] / card["SA-orig"]
    hosts = {scheme: float(row["seconds"]) for scheme, row in adapters.load()["as 9", "InfiniHost III", 32, 512].items()}
    yield ("aggregation beats leaders where the processor copies for the card, leaders win on InfiniHost III", "figures 7 and 10",
           "%.2f times as fast as leaders on a card like InfiniPath, leaders %.2f times as fast on one like InfiniHost III, 512 B; "
           "[simulated](#kumar2008-figures-7-to-12-network-cards-with-limits)" % (leader, hosts["SA-orig"] / hosts["L-orig"]),
           "reached at 512 B, on cards whose figures are guesses")
    yield ("CPMD, a molecular dynamics code", "33 % less; 64 nodes x 8", "-",
           "cannot be shown here: no cluster, and no CPMD")


def parsons2015(s):
    sizes = {name: tables.load(name) for name in ("parsons2015-1", "parsons2015-1-64", "parsons2015-1-128")}
    most = {}
    for name, found in sizes.items():
        for point, plans in found.items():
            for scheme in ("universal(native)", "leader(1,native)"):
                most.setdefault(name, []).extend(
                    tables.seconds(plans["mpich"][block]) / tables.seconds(row) for block, row in plans.get(scheme, {}).items()
                    if block in plans.get("mpich", {}))
    yield ("universal algorithm, most collectives, mean", "15 to 30; Cray XE6, up to 64 thousand cores",
           "%s, up to nine collectives, mean %.2f with 128 ranks and %.2f with 512, 64 B and 4 KiB; %s with 3072, 64 B, for %d "
           "whose native routine ended; [simulated](#parsons2015-table-i-the-universal-algorithm-over-the-native-routines)" % (
               span(most["parsons2015-1"] + most["parsons2015-1-64"]), *(tables.mean(most[name]) for name in list(sizes)[:2]),
               span(most["parsons2015-1-128"]), len(most["parsons2015-1-128"])),
           "not reached with 512 ranks, in part with 3072; 32 thousand cannot be simulated")
    for collective, name, plan, value in (
            ("alltoallv", "alltoallv", "leader(1,native)", "21.7 with Cray MPT inside, 6.7 with MPICH"),
            ("reduce_scatter_block", "reduce-scatter", "universal(native)", "45 with MPICH inside")):
        factors = [s.usual("parsons2015-1", "mpich", block, collective) / s.usual("parsons2015-1", plan, block, collective)
                   for block in (64, 4096)]
        large = "parsons2015-1-128" if collective == "reduce_scatter_block" else "parsons2015-1-64"
        factors.append(s.usual(large, "mpich", 64, collective) / s.usual(large, plan, 64, collective))
        yield ("universal algorithm, %s, mean" % name, "%s; Cray XE6, 32 thousand cores" % value,
               "%.2f and %.2f at 64 B and 4 KiB, 16 nodes x 8; %.2f at 64 B, %d x %d; "
               "[simulated](#parsons2015-table-i-the-universal-algorithm-over-the-native-routines)" % (
                   *factors, *tables.grids.GRIDS[large].size),
               "%s; 32 thousand cannot be simulated" % (
                   "nearly, with 3072 ranks" if factors[-1] > 30 else "not reached with 512 ranks"))
    inside = {plan: lambda block, delay, plan=plan: s.usual("parsons2015-2", plan, block, "reduce", delay, True)
              for plan in ("mpich", "tardy")}
    late = [inside["mpich"](block, delay) / inside["tardy"](block, delay)
            for block in (128, 2048, 32768, 524288) for delay in (1e-3, 10e-3, 100e-3)]
    here = s.page["Reductions with late ranks (parsons2015 section III, table II)"][0]
    measured, long = ([float(field.split()[0]) for row in here[2:] for field in row[some]] for some in (slice(1, 4), slice(4, 5)))
    yield ("reduce with late ranks", "up to 80; Cray XE6, 8192 cores",
           "%s, 256 ranks, late by 1 to 100 ms, [simulated](#parsons2015-table-ii-late-ranks-reduce-on-16-nodes-x-16-ranks); "
           "%s up to 32 KiB and %s at 512 KiB, 64 ranks of one node, "
           "[measured](#reductions-with-late-ranks-parsons2015-section-iii-table-ii)" % (
               span(late, "%.0f"), span(measured, "%.0f"), span(long, "%.2g")),
           "reached in the simulation; the model chooses it at 512 KiB only, else trials have to")


def table(root):
    sources = Sources(root)
    yield "| paper | claim | the paper's value and machine | here | reached? |"
    yield "|---|---|---|---|---|"
    for rows in (li2018, ramesh2024, kumar2008, parsons2015):
        for fields in rows(sources):
            yield "| %s |" % " | ".join((rows.__name__,) + fields)


def main(words):
    if any(word.startswith("-") and word != "--check" for word in words):
        sys.exit(__doc__)
    root = next((word for word in words if not word.startswith("-")), os.path.join(HERE, ".."))
    path = os.path.join(root, PAGE)
    with open(path, encoding="utf-8") as file:
        text = file.read()
    if text.count(BEGIN) != 1 or END not in text.split(BEGIN)[1]:
        sys.exit("%s: the marks of measure/headline.py are not there" % PAGE)
    before, rest = text.split(BEGIN)
    made = before + BEGIN + "\n".join(table(root)) + "\n" + END + rest.split(END, 1)[1]
    if "--check" in words:
        sys.exit(0 if made == text else "%s: its first table is not what its sources say; run measure/headline.py" % PAGE)
    with open(path, "w", encoding="utf-8") as file:
        file.write(made)


if __name__ == "__main__":
    main(sys.argv[1:])
