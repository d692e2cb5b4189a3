# SPDX-License-Identifier: BSD-3-Clause
"""claims - what docs/reproduction.md says of simulated clusters: asserted of the files in docs/results, some of whose cells are
simulated anew. A cell that comes out otherwise means that the files are old: sim/grids.py makes them."""
import os
import sys

build, source = sys.argv[1:3]
if not os.path.exists(os.path.join(build, "lib", "mortar-sim")):
    print("skipped: mortar was built without SimGrid (libsimgrid-dev)")
    sys.exit(77)
os.environ["MORTAR_SIM"] = os.path.join(build, "lib")
sys.path.insert(0, os.path.join(source, "sim"))
import grids
import simulate
import tables

AGAIN = (("li2018-12a", "mnco(rows)", 64), ("li2018-12a", "bruck", 8), ("li2018-12c", "doubling", 64))
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


def against_selectors():
    """Some plan of mortar's is at least as fast as the best of SimGrid's selectors, in every cell where both were simulated:
    where nobody's copies are charged, and but for a tenth where only mortar's are."""
    for name in ("li2018-12a", "li2018-12b", "li2018-12c", "li2018-13", "kumar2008"):
        for point, plans in points(name):
            most = 1.1 if point[2] > 0 else 1.0
            for block in sorted({b for rows in plans.values() for b in rows}):
                mine, theirs = tables.best(plans, block, False), tables.best(plans, block, True)
                if mine and theirs:
                    expect(mine[0] <= theirs[0] * most * 1.001, "%s %s %d B: %s %.1f us, %s %.1f us" % (
                        name, point[1:4], block, mine[1], mine[0] * 1e6, theirs[1], theirs[0] * 1e6))


def topology_aware():
    """li2018 figure 12b, and twice as fast as the best selector in the mean over the sizes."""
    for point, plans in points("li2018-12b"):
        for block in (8, 64, 512):
            gain = tables.gain(plans, "leader(1,mnco(rows))", "leader(1,bruck)", (block,))
            expect(gain and gain > 1.8,
                   "12b %d B: leader(1, mnco(rows)) %.2f times as fast as leader(1, bruck)" % (block, gain or 0))
        sizes = [b for b in (8, 64, 512) if tables.best(plans, b, False) and tables.best(plans, b, True)]
        gain = tables.mean(tables.best(plans, b, True)[0] / tables.best(plans, b, False)[0] for b in sizes)
        expect(gain >= 2, "12b: the best plan %.2f times as fast as the best selector, mean over %s B" % (gain, sizes))


for part in (topology_aware, against_bruck, against_selectors, simulated_again):
    part()
print("%d wrong" % len(complaints))
sys.exit(1 if complaints else 0)
