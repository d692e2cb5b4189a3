#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""heldout - platforms that the cost model was never corrected on: fixed here, in a commit of its own, before the first run.

The grids of docs/reproduction.md are those on which the model was corrected, and there it is told the simulator's own prices. These
four differ in topology, in the number of nodes and ranks, in every price that the network has, and in the sizes of the blocks. None
had been simulated, and no plan of mortar's tried on one, before this list.

    measure/heldout.py --jobs 2        runs what is missing in docs/results/sim-heldout.csv
    measure/heldout.py --tables        prints the table of docs/reproduction.md"""
import argparse
import concurrent.futures
import csv
import os
import sys
import tempfile

import grids  # says where the others are
import platforms
import simulate

COLLECTIVES, SIZES = ("alltoall", "allgather"), (32, 1024)
# Name: nodes, ranks of each, SimGrid's topology (empty: the fat tree of sim/platforms.py), hops of the longest way, parameters.
PLATFORMS = {
    "fat tree": ((48, 12), "", 4, {"overhead": 0.4e-6, "bandwidth": 12.5e9}),
    "dragonfly": ((36, 8), 'DRAGONFLY" topo_parameters="3,2;2,1;3,1;2', 5,
                  {"overhead": 0.2e-6, "bandwidth": 12.5e9, "latency": 0.1e-6}),
    "torus": ((64, 4), 'TORUS" topo_parameters="4,4,4', 6,
              {"overhead": 0.8e-6, "bandwidth": 2e9, "latency": 0.1e-6, "piece": 30e-9, "byte": 0.4e-9}),
    "ethernet": ((24, 16), "", 4, {"overhead": 1.5e-6, "bandwidth": 3.1e9, "latency": 2e-6, "barrier_each": 0.06e-6}),
}
# What the model is told: the simulator's prices; its own constants for copying and a network measured as `mortar bench network`
# does; its own constants for both.
FACTS = ("told", "measured", "usual")
# Simulated besides what it chooses, to find the best plan: so many of its list, as sim/model.py takes them.
RIVALS = 12

CSV = os.path.join(grids.RESULTS, "sim-heldout.csv")
COLUMNS = ("platform", "collective", "bytes", "plan", "ran", "selector", "chosen", "seconds", "verified", "source")
LIMIT = {32: 40, 1024: 115}  # seconds of one simulation, by size; what takes longer is in the file as not done


def cell(name, folder, collective, block, plans, **more):
    size, topology, hops, parameters = PLATFORMS[name]
    parameters = dict(platforms.DEFAULTS, **parameters)
    path = os.path.join(folder, name.replace(" ", "-") + ".xml")
    if not os.path.exists(path):
        with open(path, "w", encoding="ascii") as file:
            file.write(platforms.xml(size[0], size[1], parameters, topology))
    more.setdefault("facts", "told")
    return simulate.Cell(size, collective, [block], plans, parameters, platform=path, hops=hops, seconds=LIMIT[block], **more)


def choices(name, folder, collective, block):
    """{plan: [by which facts it is chosen]}, and the rivals, which nobody chooses."""
    chosen, rivals = {}, []
    models = [cell(name, folder, collective, block, ["auto"], facts=facts, model=True) for facts in FACTS]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        lists = list(pool.map(simulate.Cell.run, models))
    for facts, expected in zip(FACTS, lists):
        chosen.setdefault(expected[0]["plan"], []).append(facts)
        rivals = rivals or simulate.tried(expected, RIVALS)
    return dict({plan: [] for plan in rivals}, **chosen)


def refused(row):
    """A selector that takes no time has done nothing: so does SMPI's mvapich2 for an allgather on 24 nodes x 16 ranks, and the
    results are wrong. It is no rival."""
    return row if not row["seconds"] or float(row["seconds"]) > 0 else dict(row, seconds="", verified="WRONG")


def read():
    if not os.path.exists(CSV):
        return []
    with open(CSV, encoding="ascii", newline="") as file:
        return [refused(row) for row in csv.DictReader(file)]


def write(rows):
    with open(CSV, "w", encoding="ascii", newline="") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def run_one(rows, name, collective, block, jobs):
    """Adds what is missing of one platform, collective and size."""
    point = {"platform": name, "collective": collective, "bytes": str(block)}
    def missing(cells):
        known = {(row["plan"], row["selector"]) for row in rows if all(row[key] == point[key] for key in point)}
        return [one for one in cells if (one.plans[0], one.selector if one.plans == ["native"] else "") not in known]

    with tempfile.TemporaryDirectory() as folder:
        natives = [cell(name, folder, collective, block, ["native"], selector=selector, lean=True) for selector in grids.ALL]
        if not missing(natives):  # they come last
            return
        plans = {plan.replace(" ", ""): facts for plan, facts in choices(name, folder, collective, block).items()}

        def keep(found):
            for row in map(refused, found):
                rows.append(dict(point, **{key: row[key] for key in ("plan", "ran", "seconds", "verified", "source")},
                                 selector=row["selector"] if row["plan"] == "native" else "",
                                 chosen=" ".join(plans.get(row["plan"], []))))
            write(rows)

        cells = [cell(name, folder, collective, block, [plan], lean=not plan.startswith("overlap")) for plan in plans]
        for some in (cells, natives):
            simulate.run_cells(missing(some), jobs, on_rows=keep)
            keep([{"plan": one.plans[0], "ran": "", "seconds": "", "verified": "not done in %d s" % LIMIT[block],
                   "source": simulate.version(), "selector": one.selector} for one in missing(some)])


def load():
    """{(platform, collective, bytes): ({facts: (seconds, plan)}, best (seconds, plan), best selector (seconds, name), absent
    selectors)}, where all has been tried. A choice that was not done has None for seconds. A selector that delivers wrong results
    is not absent."""
    points = {}
    for row in read():
        points.setdefault((row["platform"], row["collective"], int(row["bytes"])), []).append(row)
    found = {}
    for point, rows in points.items():
        if not any(row["selector"] == grids.ALL[-1] for row in rows):
            continue
        done = [(float(row["seconds"]), row["selector"] or row["ran"], row) for row in rows
                if row["seconds"] and (row["selector"] or simulate.as_asked(row))]
        mine = [one for one in done if not one[2]["selector"]]
        chosen = {facts: (None, row["plan"]) for row in rows for facts in row["chosen"].split()}
        chosen.update({facts: one[:2] for one in mine for facts in one[2]["chosen"].split()})
        found[point] = (chosen, min(one[:2] for one in mine), min((one[:2] for one in done if one[2]["selector"]), default=None),
                        [row["selector"] for row in rows if row["selector"] and row["verified"].startswith("not done")])
    return found


def print_tables():
    print("| platform | collective | block | " + " | ".join(FACTS) + " | best plan | best selector |")
    print("|---|---|---|" + "---|" * len(FACTS) + "---|---|")
    for (name, collective, block), (chosen, best, theirs, absent) in load().items():
        texts = ["%.2f: `%s` %.1f" % (seconds / best[0], plan, seconds * 1e6) if seconds else "not done: `%s`" % plan
                 for seconds, plan in (chosen[facts] for facts in FACTS)]
        texts.append("`%s` %.1f" % (best[1], best[0] * 1e6))
        told = "%s %.1f" % (theirs[1], theirs[0] * 1e6) if theirs else "-"
        texts.append(told + (", without " + " ".join(absent) if absent else ""))
        print("| %s | %s | %d B | %s |" % (name, collective, block, " | ".join(texts)))


def main():
    parser = argparse.ArgumentParser(description="mortar's choice on platforms that its cost model was not corrected on")
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--tables", action="store_true")
    arguments = parser.parse_args()
    if arguments.tables:
        print_tables()
        return
    rows = read()
    for block in SIZES:
        for collective in COLLECTIVES:
            for name in sorted(PLATFORMS, key=lambda name: PLATFORMS[name][0][0] * PLATFORMS[name][0][1]):
                run_one(rows, name, collective, block, arguments.jobs)


if __name__ == "__main__":
    main()
