# SPDX-License-Identifier: BSD-3-Clause
"""claims - what docs/reproduction.md says of simulated clusters: asserted of the files in docs/results, some of whose cells are
simulated anew. A cell that comes out otherwise means that the files are old: measure/grids.py makes them."""
import os
import subprocess
import sys
import tempfile

build, source = sys.argv[1:3]
if not os.path.exists(os.path.join(build, "lib", "mortar-sim")):
    print("skipped: mortar was built without SimGrid (libsimgrid-dev)")
    sys.exit(77)
os.environ["MORTAR_SIM"] = os.path.join(build, "lib")
sys.path.insert(0, os.path.join(source, "measure"))
import adapters
import grids
import heldout
import platforms
import simulate
import tables

AGAIN = (("li2018-12a", "mnco(rows)", 64), ("li2018-12a", "bruck", 8), ("li2018-12c", "doubling", 64))
# Where mortar's choice is simulated anew: of these grids all overheads, copy prices and placements, at these sizes.
CHOSEN = (("li2018-12a", (8, 64)), ("li2018-12c", (8, 64, 512)))
EVEN = 1.003  # both run recursive doubling, and only mortar's copies cost something
# Grids in which every selector was simulated at these sizes, and how many times faster mortar's choice is in the mean.
WHOLE = (("li2018-12b-16", (8, 64, 512), 1.5), ("li2018-12b-32", (8, 64), 1.5))
FOUR = {"li2018-12a": (8, 64, 512), "li2018-12c": (8, 64, 512), "kumar2008": (8, 64)}
# Where a selector is absent: at most so many times what a node's link needs.
LINK = {"li2018-12b": {64: 1.31, 512: 1.25, 4096: 1.25}, "li2018-12b-16": {4096: 1.04}, "li2018-12b-32": {512: 1.20, 4096: 1.04},
        "kumar2008": {512: 1.26}}
ONLY_USUAL = (("li2018-12b-32", 4096),)  # simulated for messages of 0.25 us and nodes in order only
HELD_OUT = 16  # points of measure/heldout.py
NOT_DONE = {("torus", "alltoall", 1024): ["ompi", "told"], ("ethernet", "alltoall", 1024): ["ompi"],
            ("fat tree", "allgather", 1024): ["mpich"], ("dragonfly", "alltoall", 1024): ["ompi", "told"],
            ("fat tree", "alltoall", 1024): ["ompi", "impi", "told"]}
LOST = {"told": 1.07, "measured": 1.6, "usual": 1.89}  # times the best plan, on held-out platforms
GAINED = {"told": 1.29, "measured": 1.1, "usual": 1.01}  # times as fast as the best selector
CHOICE = 1.05  # the model does not tell apart what is closer
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


def chosen_by_the_network():
    """The cost model with its own prices for copies and a card's network file: one leader at 512 B for InfiniHost III alone."""
    for adapter in adapters.ADAPTERS:
        environment = dict(os.environ, MORTAR_TUNING=adapters.network_file(adapter))
        told = subprocess.run([os.path.join(build, "bin", "mortar"), "info", "--plan", "alltoall 64x8 512"], env=environment,
                              capture_output=True, text=True).stdout
        chosen = [line[2:].partition("  ")[0] for line in told.splitlines() if line.startswith("* ") and "(" in line[:20]]
        expect(len(chosen) == 1 and chosen[0].startswith("leader(1,") == (adapter == "InfiniHost III"),
               "%s, by its network file: %s" % (adapter, " ".join(chosen)))


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
    """(grid, point, bytes, row, the best selector) of all rows `auto` of the grids that have been made."""
    for name in [name for name in grids.GRIDS if os.path.exists(tables.path_of(name))]:
        for point, plans in points(name):
            for block, row in sorted(plans.get("auto", {}).items()):
                yield name, point, block, row, tables.best(plans, block, True)


def against_selectors():
    """Mortar's choice is at least as fast as the best of SimGrid's selectors, also where only mortar's copies cost something: at
    the sizes of FOUR, where all four must have been simulated, and at longer ones where they were."""
    for name, sizes in FOUR.items():
        for point, plans in points(name):
            for block in (8, 64, 512, 4096):
                mine = plans.get("auto", {}).get(block)
                if block not in sizes and (not mine or tables.absent(plans, block)):
                    continue
                theirs = rivals_of(name, point, plans, block)
                expect(mine and theirs and float(mine["seconds"]) <= theirs[0] * EVEN, "%s %s %d B: %s %.1f us, %s %.1f us" % (
                    name, point[1:4], block, mine["ran"] if mine else "nothing", float(mine["seconds"]) * 1e6 if mine else 0,
                    theirs[1] if theirs else "nobody", theirs[0] * 1e6 if theirs else 0))


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


def as_printed():
    """The page has what measure/tables.py prints of mortar's choice, cell by cell."""
    with open(os.path.join(source, "docs", "reproduction.md"), encoding="utf-8") as file:
        page = file.read()
    for name in ("li2018-12a", "li2018-12b", "li2018-12b-16", "li2018-12b-32", "li2018-12c", "kumar2008"):
        sizes = grids.GRIDS[name].sizes[:3 if name == "kumar2008" else 4]
        absent = [text for point, plans in points(name) for text in (tables.choice(name, point, plans, block) for block in sizes)
                  if text != "-" and "| %s |" % text not in page]
        expect(not absent, "%s: the page has every cell of its choices; not: %s" % (name, "; ".join(absent[:3]) or "none"))


def elsewhere():
    """Held-out platforms: what the choice loses against the best plan by what the model is told, and that it beats all selectors.
    One is simulated anew."""
    found = heldout.load()
    expect(len(found) >= HELD_OUT, "held-out platforms: %d complete points" % len(found))
    for point, (chosen, best, theirs, absent) in found.items():
        expect(sorted(chosen) == sorted(heldout.FACTS), "%s: all choices are there" % (point,))
        lacks = absent + [facts for facts in heldout.FACTS if not chosen[facts][0]]
        expect(theirs and lacks == NOT_DONE.get(point, []), "%s: not simulated: %s" % (point, " ".join(lacks) or "nothing"))
        for facts, (seconds, plan) in chosen.items():
            if not seconds:
                continue
            expect(seconds <= best[0] * LOST[facts], "%s, %s: %s takes %.2f times as long as %s" % (
                point, facts, plan, seconds / best[0], best[1]))
            expect(theirs and theirs[0] > GAINED[facts] * seconds, "%s, %s: %.2f times as fast as the best selector" % (
                point, facts, theirs[0] / seconds if theirs else 0))
    point = ("torus", "allgather", 32)
    with tempfile.TemporaryDirectory() as folder:
        again = heldout.cell(point[0], folder, point[1], point[2], ["auto"], lean=True, facts="measured").run()[0]
    was = found[point][0]["measured"]
    now = float(again["seconds"])
    expect(again["ran"] == was[1] and abs(now / was[0] - 1) < 0.001, "%s, now: %s %.2f us; %s %.2f us in the file" % (
        point, again["ran"], now * 1e6, was[1], was[0] * 1e6))


def rivals_of(name, point, plans, block):
    """The best selector, (seconds, name); all four must have been simulated."""
    absent = tables.absent(plans, block)
    expect(not absent, "%s %s %d B: selectors that are absent: %s" % (name, point[1:4], block, " ".join(absent) or "none"))
    return tables.best(plans, block, True) if not absent else None


def against_all_four():
    """li2018 figure 12b on fewer nodes, where every selector ends: mortar's choice against the best of all four, in every cell of
    the grid; and in the mean over the sizes."""
    for name, sizes, least in WHOLE:
        found = tables.load(name)
        expect(len(found) == len(grids.GRIDS[name].points), "%s: all points are there" % name)
        for point, plans in found.items():
            ratios = []
            for block in sizes:
                theirs, mine = rivals_of(name, point, plans, block), plans.get("auto", {}).get(block)
                expect(mine, "%s %s %d B: mortar's choice was simulated" % (name, point[1:4], block))
                if mine and theirs:
                    ratios.append(theirs[0] / float(mine["seconds"]))
                    expect(ratios[-1] * EVEN >= 1, "%s %s %d B: %.2f times as fast as %s" % (
                        name, point[1:4], block, ratios[-1], theirs[1]))
            gain = tables.mean(ratios) if ratios else 0
            expect(gain >= least, "%s %s: %.2f times as fast in the mean over %s B" % (name, point[1:4], gain, sizes))


def near_the_link():
    """Where a selector is absent nobody knows the best one. There mortar's choice is compared with what a node's link needs, which
    no algorithm can be faster than. At 8 B on 128 nodes that is not what limits anybody."""
    for name, sizes in LINK.items():
        for point, plans in points(name):
            for block, most in sizes.items():
                if (name, block) in ONLY_USUAL and point[1:4] != (0.25e-6, 10e-9, "ordered"):
                    continue
                mine = plans.get("auto", {}).get(block)
                times = float(mine["seconds"]) / tables.link_seconds(name, block) if mine else 99
                expect(1 <= times <= most, "%s %s %d B: mortar takes %.2f times what a node's link needs, at most %.2f" % (
                    name, point[1:4], block, times, most))


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
    """li2018 figure 13: MN-CO among leaders against the rivals that unpack while messages are under way; and that saves time."""
    faster_everywhere("li2018-13", "leader(1,mnco(rows))", ("overlap(ring)",), (8, 64))
    faster_everywhere("li2018-13", "overlap(doubling)", ("leader(1,doubling)",), (8, 64))
    for point, plans in points("li2018-13", lambda point: point[3] == "shuffled"):
        gain = tables.gain(plans, "leader(1,mnco(rows))", "overlap(doubling)", (64,))
        expect(gain > 1.4, "li2018-13 %s 64 B: leader(1,mnco(rows)) %.2f times as fast as overlap(doubling)" % (point[1:4], gain))


def original():
    """kumar2008: at 512 B the paper's original algorithm sends straight, as `mpich` does here. What aggregation saves of it at
    the usual point, and what mortar's choice does."""
    for point, plans in points("kumar2008", lambda point: point[1:4] == (0.25e-6, 10e-9, "ordered")):
        theirs = float(plans["mpich"][512]["seconds"])
        for plan, least in (("aggregate(pairwise)", 0.195), ("leader(1,direct)", 0.33), ("auto", 0.315)):
            saved = 1 - float(plans[plan][512]["seconds"]) / theirs
            expect(saved >= least, "kumar2008 512 B: %s takes %.1f %% less than the original" % (plan, 100 * saved))


def universal_grows():
    """parsons2015 table I: over the native routine the universal algorithm gains the more the larger the job is."""
    for collective, least in (("reduce_scatter_block", 30), ("scatterv", 8), ("gatherv", 7)):
        factors = [tables.gain(plans, "universal(native)", "mpich", (64,)) for name in ("", "-64", "-128")
                   for point, plans in points("parsons2015-1" + name) if point[0] == collective]
        told = " ".join("%.2f" % factor if factor else "-" for factor in factors)
        expect(len(factors) == 3 and all(factors) and factors == sorted(factors) and factors[-1] >= least,
               "universal(native), %s of 64 B, 128, 512 and 3072 ranks: %s times as fast as native" % (collective, told))


def by_the_adapter():
    """kumar2008's point: aggregation beats leaders where processors copy what they send, leaders win at 512 B where the card does
    all by itself; and mortar's choice is as fast as the best scheme of the paper. Four nodes are simulated anew."""
    found = adapters.load()
    for key, rows in found.items():
        _, adapter, nodes, block = key
        expect(sorted(rows) == sorted(adapters.schemes(adapter, block)), "adapters %s: all schemes are there" % (key,))
        us = {scheme: float(row["seconds"]) * 1e6 for scheme, row in rows.items()}
        if len(us) < 5:
            continue
        text = "adapters %s: leaders %.1f us, aggregation %.1f us" % (key[1:], us["L-orig"], us["SA-orig"])
        if adapter == "InfiniHost III" and block == 512:
            expect(us["L-orig"] < us["SA-orig"], text)
        elif adapter != "InfiniHost III" and (nodes, block) != (64, 8):
            expect(us["SA-orig"] < us["L-orig"], text)
        least = min(us[scheme] for scheme in us if scheme != "mortar")
        expect(us["mortar"] <= least * CHOICE, "adapters %s: mortar's choice %.1f us, the best scheme %.1f us" % (
            key[1:], us["mortar"], least))
        if nodes == 4:
            for scheme, plan in adapters.schemes(adapter, block).items():
                cell = simulate.Cell((nodes, adapters.EACH), "alltoall", [block], [plan], adapters.ADAPTERS[adapter], lean=True)
                now = float(cell.run()[0]["seconds"]) * 1e6
                expect(abs(now / us[scheme] - 1) < 0.001, "adapters %s %s: %.2f us in the file, %.2f us now" % (
                    key[1:], scheme, us[scheme], now))


for part in (topology_aware, overlapped, original, universal_grows, by_the_adapter, chosen_by_the_network, against_all_four,
             near_the_link, as_printed, elsewhere, against_bruck, against_selectors, simulated_again, fresh_against_selectors,
             chosen_today):
    part()
print("%d wrong" % len(complaints))
sys.exit(1 if complaints else 0)
