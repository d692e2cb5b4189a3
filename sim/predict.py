#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mortar predict - which plans a cluster would like, from simulations of it: a table, a picture, a tuning file."""
import argparse
import json
import os
import subprocess
import sys
import time

import draw
import platforms
import simulate

DEFAULT_SIZES = "8:4K:x8"
MACHINE = {"cpu": "simulated", "l1d": 0, "l2": 0, "l3": 0, "processors": 0, "numa": 1, "sockets": 1, "l3s": 1}
SHOWN = 6  # plans in the picture


def options():
    parser = argparse.ArgumentParser(
        prog="mortar predict",
        description="Simulates a collective on a cluster with SimGrid: which plan is fastest for which size?",
        epilog="Computing is not simulated but charged: see docs/simulation.md for the parameters and what they leave out.")
    parser.add_argument("--platform", required=True, metavar="FILE|NxM",
                        help="a SimGrid platform file, or NODESxRANKS for a fat tree made of the parameters, e.g. 128x24")
    parser.add_argument("--ranks-per-node", type=int, metavar="N", help="default: the M of NxM")
    parser.add_argument("--nodes", type=int, metavar="N", help="use that many of the platform file's hosts; default: all")
    parser.add_argument("--collective", required=True, metavar="C")
    parser.add_argument("--sizes", default=DEFAULT_SIZES, help="bytes of a block, 8,64,4K or 8:4K:x8 (default %s)" % DEFAULT_SIZES)
    parser.add_argument("--plans", nargs="+", metavar="PLAN", help="default: all that `mortar info --plans C` lists")
    parser.add_argument("--placement", choices=platforms.PLACEMENTS, default="ordered", help="of the ranks on the nodes")
    parser.add_argument("--selectors", nargs="+", choices=simulate.SELECTORS, default=["mpich"],
                        help="whose algorithms SimGrid's own MPI library uses")
    parser.add_argument("--set", action="append", default=[], metavar="NAME=NUMBER",
                        help="a parameter, in seconds and bytes per second: " + platforms.describe(platforms.DEFAULTS))
    parser.add_argument("--lean", action="store_true", help="less memory, unverified: all ranks share one buffer")
    parser.add_argument("--seconds", type=float, default=600, help="limit of one simulation (default 600)")
    parser.add_argument("--jobs", type=int, default=0, help="simulations at a time (default: half of the processors)")
    parser.add_argument("--picture", metavar="FILE", help="time over block size of the best plans: .png or .svg")
    parser.add_argument("--csv", metavar="FILE")
    parser.add_argument("--tuning", metavar="FILE", help="write a tuning file")
    parser.add_argument("--like", metavar="FILE",
                        help="a tuning file from the cluster: its machine and MPI library are written into the new one, so that it"
                        " counts there")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    return parser


def cluster(arguments, parser):
    """(nodes, ranks per node), and the platform file or None."""
    size = platforms.parse_size(arguments.platform)
    if size:
        return (arguments.nodes or size[0], arguments.ranks_per_node or size[1]), None
    if not os.path.exists(arguments.platform):
        parser.error("--platform %s: expected a SimGrid platform file, or NODESxRANKS as 128x24" % arguments.platform)
    if not arguments.ranks_per_node:
        parser.error("--platform %s: say also --ranks-per-node N" % arguments.platform)
    return (arguments.nodes or len(platforms.hosts_of(arguments.platform)), arguments.ranks_per_node), arguments.platform


def all_plans(collective):
    answer = subprocess.run([simulate.find("mortar-info"), "--plans", collective], capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        sys.exit(answer.stderr.strip() or "mortar: --collective %s: expected one that `mortar info` lists" % collective)
    return answer.stdout.split("\n")[:-1]


def label(row):
    return row["plan"] if row["plan"] != "native" else "native (%s)" % row["selector"]


def seconds_by_plan(rows):
    """{label: {bytes: seconds}} of the plans that ran as asked."""
    table = {}
    for row in rows:
        if not simulate.as_asked(row):
            continue
        table.setdefault(label(row), {})[int(row["bytes"])] = float(row["seconds"])
    return table


def best_rows(rows):
    """{bytes: (the fastest row of a plan, the fastest native row or None)}"""
    best = {}
    for row in rows:
        if row["plan"] == "auto" or not simulate.as_asked(row):
            continue
        plan, native = best.get(int(row["bytes"]), (None, None))
        if plan is None or float(row["seconds"]) < float(plan["seconds"]):
            plan = row
        if row["plan"] == "native" and (native is None or float(row["seconds"]) < float(native["seconds"])):
            native = row
        best[int(row["bytes"])] = (plan, native)
    return dict(sorted(best.items()))


def print_table(best, out=sys.stdout):
    print("%9s  %12s  %12s  %6s  %s" % ("bytes", "best us", "native us", "gain", "plan"), file=out)
    for block, (plan, native) in best.items():
        mine, theirs = float(plan["seconds"]), float(native["seconds"]) if native else None
        print("%9d  %12.2f  %12s  %6s  %s" % (block, mine * 1e6, "%.2f" % (theirs * 1e6) if native else "-",
                                              "%.2f" % (theirs / mine) if native and mine > 0 else "-", plan["ran"]), file=out)


def entries(best, size, collective):
    """Each size stands for the powers of two up to the next one that was simulated."""
    blocks, made = sorted(best), []
    for k, block in enumerate(blocks):
        plan, native = best[block]
        first = 1 << (block.bit_length() - 1) if block else 0
        last = (1 << (blocks[k + 1].bit_length() - 1)) - 1 if k + 1 < len(blocks) else 2 * first - 1
        seconds, other = float(plan["seconds"]), float((native or plan)["seconds"])
        gain = other / seconds if seconds > 0 else 1.0
        made.append({"collective": collective, "ranks": size[0] * size[1], "nodes": size[0], "domains": 1, "buffers": "heap",
                     "from": first, "to": max(first, last), "plan": plan["ran"], "seconds": seconds, "interval": [seconds, seconds],
                     "native_seconds": other, "gain": gain, "gain_interval": [gain, gain], "repetitions": 1})
    return made


def write_tuning(path, best, size, collective, parameters, like):
    head = {"machine": MACHINE, "mpi": simulate.version()}
    if like:
        try:
            with open(like, encoding="utf-8") as file:
                head = json.load(file)["sets"][0]
        except (OSError, ValueError, KeyError, IndexError) as error:
            sys.exit("mortar: --like %s: expected a tuning file of `mortar tune`: %s" % (like, error))
    answer = subprocess.run([simulate.find("mortar-info"), "--version"], capture_output=True, text=True, check=True)
    told = simulate.version() + ": overhead=%g latency=%g bandwidth=%g" % tuple(
        parameters[name] for name in ("overhead", "latency", "bandwidth"))
    made = {"machine": head["machine"], "mpi": head["mpi"], "kernel": told[:95], "mortar": answer.stdout.split()[-1],
            "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "entries": entries(best, size, collective)}
    beside = "%s.%d.new" % (path, os.getpid())
    with open(beside, "w", encoding="utf-8") as file:
        json.dump({"format": "mortar tuning", "version": 1, "sets": [made]}, file, indent=1)
        file.write("\n")
    os.replace(beside, path)


def main():
    parser = options()
    arguments = parser.parse_args()
    size, platform = cluster(arguments, parser)
    parameters, sizes = platforms.parse_settings(arguments.set), simulate.parse_sizes(arguments.sizes)
    plans = arguments.plans or all_plans(arguments.collective)
    cells = []
    for plan in ["native"] + [plan for plan in plans if plan != "native"]:
        for selector in arguments.selectors if plan == "native" else arguments.selectors[:1]:
            cells.append(simulate.Cell(size, arguments.collective, sizes, [plan], parameters, arguments.placement, selector,
                                       lean=arguments.lean, platform=platform, seconds=arguments.seconds))
    rows, wrong = simulate.run_cells(cells, arguments.jobs, arguments.quiet)
    for text in wrong:
        print("mortar: " + text, file=sys.stderr)
    best = best_rows(rows)
    if not best:
        sys.exit("mortar: no simulation worked")
    title = "%s, %d nodes x %d ranks, %s" % (arguments.collective, *size, simulate.version())
    print(title)
    print(platforms.describe(parameters) + (" placement=%s" % arguments.placement))
    print_table(best)
    if arguments.csv:
        simulate.write_csv(arguments.csv, rows)
    if arguments.tuning:
        write_tuning(arguments.tuning, best, size, arguments.collective, parameters, arguments.like)
    if arguments.picture:
        draw.over_sizes(arguments.picture, draw.fastest(seconds_by_plan(rows), SHOWN), title)
    sys.exit(0)


if __name__ == "__main__":
    main()
