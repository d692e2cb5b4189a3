# SPDX-License-Identifier: BSD-3-Clause
"""claims - what docs/reproduction.md says of simulated clusters: asserted of the files in docs/results, some of whose cells are
simulated anew. A cell that comes out otherwise means that the files are old: measure/grids.py makes them."""
import os
import sys

build, source = sys.argv[1:3]
if not os.path.exists(os.path.join(build, "lib", "mortar-sim")):
    print("skipped: mortar was built without SimGrid (libsimgrid-dev)")
    sys.exit(77)
os.environ["MORTAR_SIM"] = os.path.join(build, "lib")
sys.path.insert(0, os.path.join(source, "measure"))
import grids
import platforms
import simulate
import tables

AGAIN = (("li2018-12a", "mnco(rows)", 64), ("li2018-12a", "bruck", 8), ("li2018-12c", "doubling", 64))
# Where mortar's choice is simulated anew: of these grids all overheads, copy prices and placements, at these sizes.
CHOSEN = (("li2018-12a", (8, 64)), ("li2018-12c", (8, 64, 512)))
EVEN = 1.003  # both run recursive doubling, and only mortar's copies cost something
complaints = []


def expect(condition, text):
    print(("" if condition else "WRONG: ") + text)
    if not condition:
        complaints.append(text)


def simulated_again():
    for name, plan, block in AGAIN:
        grid = grids.GRIDS[name]
        rows = [row for row in simulate.read_csv(os.path.join(grids.RESULTS, "sim-%s.csv" % name))
                if row["plan"] == plan.replace(" ", "") and int(row["bytes"]) == block and row["placement"] == "ordered"
                and float(row["overhead"]) == 0.25e-6 and float(row["piece"]) > 0]
        expect(len(rows) == 1, "%s has %s at %d B" % (name, plan, block))
        again = simulate.Cell(grid.size, grid.collectives[0], [block], [plan], lean=grid.lean, seconds=200).run()[0]
        was, now = float(rows[0]["seconds"]), float(again["seconds"])
        expect(abs(now / was - 1) < 0.05,
               "%s, %s, %d B: %.2f us in the file, %.2f us now" % (name, plan, block, was * 1e6, now * 1e6))


def points(name, chosen=lambda point: True):
    for point, plans in tables.load(name).items():
        if chosen(point):
            yield point, plans


def against_bruck():
    """li2018 figure 12a: MN-CO against a Bruck whose copies cost what its own do; messages of 0.5 us are too dear for it."""
    for point, plans in points("li2018-12a", lambda point: point[1] < 0.3e-6):
        gain = tables.gain(plans, "mnco(rows)", "bruck", (8, 64, 512))
        expect(gain and gain > 1, "12a %s: mnco(rows) %.2f times as fast as bruck" % (point[1:4], gain or 0))


def parameters_of(row):
    return {name: float(row[name]) for name in platforms.DEFAULTS}


def cells_chosen():
    """(grid, point, bytes, row, the best selector) of all rows `auto`."""
    for name in grids.GRIDS:
        for point, plans in points(name):
            for block, row in sorted(plans.get("auto", {}).items()):
                yield name, point, block, row, tables.best(plans, block, True)


def against_selectors():
    """Mortar's choice is at least as fast as the best of SimGrid's selectors, in every cell where both were simulated: also where
    only mortar's copies cost something."""
    for name, point, block, row, theirs in cells_chosen():
        if not theirs or name.startswith("parsons"):
            continue
        mine = float(row["seconds"])
        expect(mine <= theirs[0] * EVEN, "%s %s %d B: %s %.1f us, %s %.1f us" % (
            name, point[1:4], block, row["ran"], mine * 1e6, theirs[1], theirs[0] * 1e6))


def chosen_today():
    """The files' rows `auto` ran the plans that the cost model chooses today."""
    asked = {}
    for name, point, block, row, _ in cells_chosen():
        if not name.startswith("parsons"):
            asked.setdefault((name, point), []).append((block, row))
    for (name, point), rows in asked.items():
        cell = simulate.Cell(grids.GRIDS[name].size, point[0], [block for block, _ in rows], ["auto"], parameters_of(rows[0][1]),
                             point[3], lean=True, seconds=300, model=True)
        first = {}
        for expected in cell.run():
            first.setdefault(int(expected["bytes"]), expected["plan"].replace(" ", ""))
        for block, row in rows:
            expect(first[block] == row["ran"].replace(" ", ""),
                   "%s %s %d B: the file has %s, the model chooses %s" % (name, point, block, row["ran"], first[block]))


def fresh_against_selectors():
    """The same of simulations made now, and that they say what the files say."""
    for name, sizes in CHOSEN:
        for point, plans in points(name):
            was = plans["auto"]
            size, parameters = grids.GRIDS[name].size, parameters_of(was[sizes[0]])
            for row in simulate.Cell(size, point[0], sizes, ["auto"], parameters, point[3], seconds=200).run():
                block = int(row["bytes"])
                now, before, theirs = float(row["seconds"]), float(was[block]["seconds"]), tables.best(plans, block, True)
                fine = row["verified"] == "verified" and abs(now / before - 1) < 0.001
                expect(fine and now <= theirs[0] * EVEN,
                       "%s %s %d B, now: %s %.2f us, %.2f us in the file, %s %.2f us" % (
                           name, point[1:4], block, row["ran"], now * 1e6, before * 1e6, theirs[1], theirs[0] * 1e6))


def topology_aware():
    """li2018 figure 12b: MN-CO among leaders against Bruck among leaders, whose copies hide behind its messages: half as fast again
    at the usual point, and faster wherever else it was simulated."""
    for point, plans in points("li2018-12b"):
        usual = point[1] == 0.25e-6 and point[3] == "ordered"
        for block in (8, 64, 512):
            gain = tables.gain(plans, "leader(1,mnco(rows))", "leader(1,bruck)", (block,))
            expect(gain and gain > 1.45 if usual else gain is None or gain > 1,
                   "12b %s %d B: leader(1, mnco(rows)) %.2f times as fast as leader(1, bruck)" % (point[1:4], block, gain or 0))


def twice_the_best():
    """128 nodes x 24 ranks, alltoall: twice as fast as the best selector in the mean over 8 B to 4 KiB, by what mortar itself
    chooses, at every overhead and placement. No selector can be simulated at 4 KiB: there it is taken for as fast as a node's link
    lets anybody be."""
    nodes, each = grids.GRIDS["li2018-12b"].size
    for point, plans in points("li2018-12b"):
        mine = {block: float(row["seconds"]) for block, row in plans.get("auto", {}).items()}
        theirs = {block: tables.best(plans, block, True)[0] for block in (8, 64, 512) if tables.best(plans, block, True)}
        theirs[4096] = each * each * (nodes - 1) * 4096 / platforms.DEFAULTS["bandwidth"]
        complete = sorted(mine) == sorted(theirs) == [8, 64, 512, 4096]
        gain = tables.mean(theirs[block] / mine[block] for block in mine) if complete else 0
        expect(gain >= 2, "12b %s: mortar's choice %.2f times as fast as the best selector, mean over 8 B - 4 KiB" % (
            point[1:4], gain))


def faster_everywhere(name, mine, others, sizes):
    """At every point where they were simulated, and at the usual one in any case."""
    usual = False
    for point, plans in points(name):
        for other in others:
            for block in sizes:
                gain = tables.gain(plans, mine, other, (block,))
                usual = usual or (gain is not None and point[1:4] == (0.25e-6, 10e-9, "ordered"))
                expect(gain is None or gain > 1, "%s %s %d B: %s %.2f times as fast as %s" % (
                    name, point[1:4], block, mine, gain or 0, other))
    expect(usual, "%s: %s at the usual point" % (name, mine))


def overlapped():
    """li2018 figure 13: MN-CO among leaders against the rivals that unpack while messages are under way."""
    faster_everywhere("li2018-13", "leader(1,mnco(rows))", ("overlap(doubling)", "overlap(ring)"), (8, 64))


def led_and_aggregated():
    """kumar2008 figures 7 to 9: leaders and aggregation against the original algorithm, the pairwise exchange."""
    for scheme in ("leader(1,direct)", "aggregate(pairwise)"):
        faster_everywhere("kumar2008", scheme, ("impi", "mvapich2"), (512,))


for part in (topology_aware, overlapped, led_and_aggregated, twice_the_best, against_bruck, against_selectors, simulated_again,
             fresh_against_selectors, chosen_today):
    part()
print("%d wrong" % len(complaints))
sys.exit(1 if complaints else 0)
