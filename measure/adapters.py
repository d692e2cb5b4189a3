#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""adapters - kumar2008 figures 1, 7 to 12: the paper's schemes over network cards with limits of their own; what mortar chooses.

    measure/adapters.py --jobs 2        runs what is missing in docs/results/sim-kumar2008-adapters.csv
    measure/adapters.py --tables        prints the table of docs/reproduction.md
    measure/adapters.py --networks      writes docs/results/network-ADAPTER.json: the same cards, for
                                        MORTAR_TUNING=FILE mortar info --plan 'alltoall 64x8 512'"""
import argparse
import json
import os
import sys

import grids  # says where the others are
import platforms
import simulate

CSV = os.path.join(grids.RESULTS, "sim-kumar2008-adapters.csv")
# A node of 2007: eight cores, memory four times as slow as that of the defaults.
NODE = {"piece": 50e-9, "byte": 0.4e-9, "loop_latency": 0.6e-6, "loop_bandwidth": 1.2e9, "barrier": 0.5e-6, "barrier_each": 0.1e-6,
        "overhead": 0.4e-6}
# Guessed, to have the shape of the paper's figures 2 to 4: on InfiniPath a processor copies what it sends, so several bring more
# than one; InfiniHost III takes one message after another, whoever sends it; ConnectX lies between.
ADAPTERS = {
    "InfiniPath": dict(NODE, bandwidth=0.95e9, rank_byte=1.5e-9, gap=0.1e-6),
    "InfiniHost III": dict(NODE, bandwidth=1.4e9, gap=0.7e-6),
    "ConnectX": dict(NODE, bandwidth=1.5e9, rank_byte=1.0e-9, gap=0.2e-6),
}
SIZES = (8, 64, 512, 2048)
EACH = 8  # ranks of a node
# Which figures: adapter, nodes, block sizes. Where ranks wait for their card no two messages start together, which takes SimGrid
# minutes for 512 ranks that send straight; so with InfiniPath only the shortest blocks are simulated on the paper's 64 nodes.
RUNS = (("12", "ConnectX", 4, SIZES), ("7 and 8", "InfiniPath", 16, SIZES), ("10 and 11", "InfiniHost III", 16, SIZES),
        ("9", "InfiniPath", 4, (512,)), ("9", "InfiniPath", 8, (512,)), ("9", "InfiniPath", 32, (512,)),
        ("as 9", "InfiniHost III", 32, (512,)), ("7 and 8", "InfiniPath", 64, (8,)), ("10 and 11", "InfiniHost III", 64, SIZES[:3]))
# Figure 1: the same data between 16 nodes, in more and shorter messages the more ranks a node has: ranks of each, block.
FIGURE_ONE = ((1, 4096), (2, 1024), (4, 256), (8, 64))


def routine(adapter, block):
    """What the paper's MVAPICH runs for blocks of a size (its section 6.1), as mortar's own code, whose copies are charged. With
    more than eight messages of each rank at a time a simulation of 512 ranks does not end."""
    if adapter == "InfiniPath":
        return "bruck" if block < 256 else "direct(8)" if block <= 32768 else "pairwise"
    return "bruck" if block <= 8192 else "pairwise"


def schemes(adapter, block):
    """The paper's names, and the plans that they are: a leader's message has EACH x EACH blocks, another's EACH."""
    return {"orig": routine(adapter, block),
            "L-orig": "leader(1, %s)" % routine(adapter, EACH * EACH * block),
            "SA-orig": "aggregate(%s)" % routine(adapter, EACH * block),
            "orig-RD": "distribute(%s)" % routine(adapter, EACH * block),
            "mortar": "auto"}


def cells():
    for _, adapter, nodes, sizes in RUNS:
        for block in sizes:
            for plan in schemes(adapter, block).values():
                yield simulate.Cell((nodes, EACH), "alltoall", [block], [plan], ADAPTERS[adapter], lean=True, seconds=300)
    yield from figure_one()


def figure_one():
    for each, block in FIGURE_ONE:
        yield simulate.Cell((16, each), "alltoall", [block], ["direct(8)"], ADAPTERS["InfiniPath"], lean=True, seconds=300)


def load():
    """{(figures, adapter, nodes, bytes): {scheme: row}}; a scheme that is not in the file is missing."""
    rows = {simulate.key_of(row): row for row in simulate.read_csv(CSV)}
    found = {}
    for figures, adapter, nodes, sizes in RUNS:
        for block in sizes:
            point = found[figures, adapter, nodes, block] = {}
            for scheme, plan in schemes(adapter, block).items():
                cell = simulate.Cell((nodes, EACH), "alltoall", [block], [plan], ADAPTERS[adapter])
                row = rows.get(cell.key(plan.replace(" ", ""), block))
                if row and simulate.as_asked(row):
                    point[scheme] = row
    return found


def print_tables():
    print("| figure | adapter | nodes | block | orig | L-orig | SA-orig | orig-RD | mortar's choice |")
    print("|---|---|---|---|---|---|---|---|---|")
    for (figures, adapter, nodes, block), rows in load().items():
        texts = ["%.1f" % (float(rows[scheme]["seconds"]) * 1e6) if scheme in rows else "-" for scheme in schemes(adapter, block)]
        if "mortar" in rows:
            texts[-1] += " (`%s`)" % rows["mortar"]["ran"]
        print("| %s | %s | %dx%d | %d | %s |" % (figures, adapter, nodes, EACH, block, " | ".join(texts)))


def print_figure_one():
    rows = {simulate.key_of(row): row for row in simulate.read_csv(CSV)}
    found = [rows.get(cell.key("direct(8)", cell.sizes[0])) for cell in figure_one()]
    print("| ranks of each of 16 nodes | " + " | ".join("%d" % each for each, _ in FIGURE_ONE) + " |")
    print("|---" * (len(FIGURE_ONE) + 1) + "|")
    print("| block | " + " | ".join("%d B" % block for _, block in FIGURE_ONE) + " |")
    print("| us | " + " | ".join("%.1f" % (float(row["seconds"]) * 1e6) if row else "-" for row in found) + " |")


def network(parameters):
    """As `mortar bench network --save` writes it (docs/network.md)."""
    p = dict(platforms.DEFAULTS, **parameters)
    byte, o = 1 / p["bandwidth"], p["overhead"]
    return {"latency_seconds": platforms.hops(64) * p["latency"] + 2 * o, "send_seconds": o, "receive_seconds": o,
            "message_seconds": 2 * o, "node_message_seconds": p["gap"], "byte_seconds": max(byte, p["rank_byte"]),
            "node_byte_seconds": byte, "one_partner_ratio": 1, "many_partners_ratio": 1, "pairs": EACH,
            "date": "2008-01-01T00:00:00Z", "between": "nobody: guessed by measure/adapters.py"}


def network_file(adapter):
    return os.path.join(grids.RESULTS, "network-%s.json" % adapter.lower().replace(" ", "-"))


def write_networks():
    machine = {"cpu": "guessed", "l1d": 32768, "l2": 4194304, "l3": 0, "processors": EACH, "numa": 1, "sockets": 2, "l3s": 1}
    for adapter, parameters in ADAPTERS.items():
        network_set = {"machine": machine, "mpi": "none", "kernel": "none", "mortar": "0.1.0", "date": "2008-01-01T00:00:00Z",
                       "network": network(parameters), "entries": []}
        with open(network_file(adapter), "w", encoding="ascii") as file:
            json.dump({"format": "mortar tuning", "version": 1, "sets": [network_set]}, file, indent=1)
            file.write("\n")


def main():
    parser = argparse.ArgumentParser(description="kumar2008's schemes over network cards with limits")
    parser.add_argument("--jobs", type=int, default=0)
    parser.add_argument("--tables", action="store_true")
    parser.add_argument("--networks", action="store_true")
    arguments = parser.parse_args()
    if arguments.networks:
        write_networks()
        return
    if arguments.tables:
        print_tables()
        print()
        print_figure_one()
        return
    rows = simulate.read_csv(CSV) if os.path.exists(CSV) else []
    known = {simulate.key_of(row) for row in rows}
    missing = [cell for cell in cells() if cell.key(cell.plans[0].replace(" ", ""), cell.sizes[0]) not in known]

    def keep(more):
        rows.extend(more)
        rows.sort(key=lambda row: [float(row[name]) for name in platforms.DEFAULTS] + [int(row["nodes"]), int(row["bytes"]),
                                                                                       row["plan"]])
        simulate.write_csv(CSV, rows)

    wrong = simulate.run_cells(missing, arguments.jobs, on_rows=keep)[1]
    for text in wrong:
        print("mortar: " + text, file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
