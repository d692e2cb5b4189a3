#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""mortar predict - which plans a cluster would like, from simulations of it: a table, a picture, a tuning file."""
import argparse
import contextlib
import json
import os
import re
import signal
import subprocess
import sys
import time

import draw
import platforms
import simulate

DEFAULT_SIZES = "8:4K:x8"
MACHINE = {"cpu": "simulated", "l1d": 0, "l2": 0, "l3": 0, "processors": 0, "numa": 1, "sockets": 1, "l3s": 1}
SHOWN = 6  # plans in the picture
TRIED = 8  # of each size, unless plans are named
RANK_BYTES = 1 << 19  # what SMPI takes for a rank
FORMATS = (".png", ".svg")
FULL = ("alltoall", "alltoallv", "alltoallw")  # what has a block of every rank for every rank; sent as well as received


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
    parser.add_argument("--sizes", default=DEFAULT_SIZES, help="bytes of a block, 8,64,4K or 8:4K:x8 (default %s); of"
                        " sums multiples of 4" % DEFAULT_SIZES)
    parser.add_argument("--plans", nargs="+", metavar="PLAN",
                        help="default: for each size up to %d plans: first those that the cost model likes best, then the"
                        " best of each family; all: every plan that the model considers" % TRIED)
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
    parser.add_argument("--tuning", metavar="FILE", help="write a tuning file, or add to one")
    parser.add_argument("--like", metavar="FILE",
                        help="a tuning file from the cluster: its machine and MPI library are written into the new one, so that it"
                        " counts there")
    parser.add_argument("--quiet", action="store_true", help="no progress")
    return parser


def cluster(arguments, parser):
    """(nodes, ranks per node), and the platform file or None."""
    for name, value in (("--nodes", arguments.nodes), ("--ranks-per-node", arguments.ranks_per_node)):
        if value is not None and value < 1:
            parser.error("%s %d: expected a number above 0" % (name, value))
    size, file = platforms.parse_size(arguments.platform), None
    if not size:
        file = arguments.platform
        if not os.path.isfile(file):
            parser.error("--platform %s: expected a SimGrid platform file, or NODESxRANKS as 128x24" % file)
        if not arguments.ranks_per_node:
            parser.error("--platform %s: say also --ranks-per-node N" % file)
        size = len(platforms.hosts_of(file)), arguments.ranks_per_node
    if arguments.nodes and arguments.nodes > size[0]:
        parser.error("--nodes %d: --platform %s has %d" % (arguments.nodes, arguments.platform, size[0]))
    return (arguments.nodes or size[0], arguments.ranks_per_node or size[1]), file


def check(arguments, size, sizes, parser):
    """What would otherwise be noticed after the simulations, which may take hours."""
    if size[0] * size[1] < 2:
        parser.error("--platform %s: one rank alone; expected at least two" % arguments.platform)
    if not 0 < arguments.seconds < 1e9:
        parser.error("--seconds %g: expected a time above 0" % arguments.seconds)
    if arguments.jobs < 0:
        parser.error("--jobs %d: expected how many simulations may run at a time" % arguments.jobs)
    if arguments.picture and not arguments.picture.endswith(FORMATS):
        parser.error("--picture %s: expected a name that ends in %s" % (arguments.picture, " or ".join(FORMATS)))
    for name, path in (("--picture", arguments.picture), ("--tuning", arguments.tuning), ("--csv", arguments.csv)):
        if not path or path == "-":
            continue
        folder = os.path.dirname(path) or "."
        new = not os.path.exists(path)  # a device as root: a file that takes its name would break it for all
        if not os.access(folder, os.W_OK) or not (new or os.path.isfile(path) and os.access(path, os.W_OK)):
            parser.error("%s %s: expected a file that can be written" % (name, path))
    if arguments.csv:
        simulate.keep_foreign(arguments.csv, parser)
    if arguments.tuning and sizes == [0]:
        parser.error("--tuning %s: a tuning file is about blocks, and these have no bytes" % arguments.tuning)
    if arguments.picture and sizes == [0]:
        parser.error("--picture %s: it shows times over the bytes of a block, and these have none" % arguments.picture)
    if arguments.tuning and os.path.exists(arguments.tuning):
        info("--tuning", arguments.tuning)  # no tuning file: it is left alone
    if arguments.like:
        head_of(arguments.like)


def check_words(arguments, sizes, parser):
    """Collective, sizes and the names of plans: whether a plan can run there is seen in its simulation."""
    named = [plan for plan in arguments.plans or [] if plan != "all"]
    try:  # the cost model of a cluster that takes no time
        simulate.Cell((2, 1), arguments.collective, sizes, named or ["auto"], model=True, seconds=60).run()
    except simulate.Failed as failed:
        told = failed.args[0].partition("mortar-sim: ")[2]  # what is wrong, its text, what was expected
        parser.error("--" + re.sub("^plan ", "plans ", told) if told else failed.args[0])


def fitting_jobs(arguments, size, sizes):
    """How many simulations' buffers fit into the memory that is free; all ranks' of one must."""
    ranks, block = size[0] * size[1], max(sizes)
    each = 2 * ranks if arguments.collective in FULL else ranks if arguments.collective.startswith("allgather") else 2
    need = ranks * (RANK_BYTES + each * block)
    jobs = arguments.jobs or max(1, (os.cpu_count() or 2) // 2)
    try:
        with open("/proc/meminfo", encoding="ascii") as file:
            free = next(int(line.split()[1]) << 10 for line in file if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return jobs
    if arguments.lean:
        need = ranks * RANK_BYTES
    if need > free * 3 // 4:
        sys.exit("mortar: %s of %d bytes on %d ranks takes at least %.1f GB, and %.1f GB are free: take --lean (all ranks share a"
                 " buffer), smaller --sizes or a smaller cluster" % (arguments.collective, block, ranks, need / 1e9, free / 1e9))
    return max(1, min(jobs, free // (2 * need)))  # packing takes memory, too


def plans_of(arguments, size, sizes, like):
    """What the cost model likes best on this cluster; on a single node all that there is."""
    if arguments.plans and arguments.plans != ["all"]:
        return [plan for plan in arguments.plans if plan != "native"]
    here = info("--plans", arguments.collective)
    if size[0] == 1:
        return [plan for plan in here.split("\n")[:-1] if plan != "native"]
    expected, wrong = simulate.run_cells([like(sizes, ["auto"], model=True)], 1, arguments.quiet)
    if wrong:
        sys.exit("mortar: " + wrong[0])
    plans = []
    for block in sizes:
        rows = [row for row in expected if int(row["bytes"]) == block]
        plans += simulate.tried(rows, len(rows) if arguments.plans else TRIED)
    return list(dict.fromkeys(plans))


def label(row):
    return row["ran"] if row["plan"] != "native" else "native (%s)" % row["selector"]


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
        first = 1 << (block.bit_length() - 1)
        last = (1 << (blocks[k + 1].bit_length() - 1)) - 1 if k + 1 < len(blocks) else 2 * first - 1
        seconds, other = float(plan["seconds"]), float((native or plan)["seconds"])
        gain = other / seconds if seconds > 0 else 1.0
        made.append({"collective": collective, "ranks": size[0] * size[1], "nodes": size[0], "domains": 1, "buffers": "heap",
                     "from": first, "to": max(first, last), "plan": plan["ran"], "seconds": seconds, "interval": [seconds, seconds],
                     "native_seconds": other, "gain": gain, "gain_interval": [gain, gain], "repetitions": 1})
    return made


def info(*words):
    """What `mortar info` answers."""
    answer = subprocess.run([simulate.find("mortar-info"), *words], capture_output=True, text=True, check=False)
    if answer.returncode != 0:
        sys.exit(answer.stderr.strip())
    return answer.stdout


def head_of(path):
    """Machine and MPI library of a tuning file."""
    try:
        with open(path, encoding="utf-8") as file:
            head = json.load(file)["sets"][0]
        return {"machine": head["machine"], "mpi": head["mpi"]}
    except (OSError, ValueError, KeyError, IndexError, TypeError) as error:
        sys.exit("mortar: --like %s: expected a tuning file of `mortar tune` or `mortar bench network --save`: %s" % (path, error))


def write_tuning(path, best, size, collective, parameters, like):
    head = head_of(like) if like else {"machine": MACHINE, "mpi": simulate.version()}
    told = simulate.version() + ": overhead=%g latency=%g bandwidth=%g" % tuple(
        parameters[name] for name in ("overhead", "latency", "bandwidth"))
    made = {"machine": head["machine"], "mpi": head["mpi"], "kernel": told[:95], "mortar": info("--version").split()[-1],
            "date": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()), "entries": entries(best, size, collective)}
    beside = "%s.%d.new" % (os.path.realpath(path), os.getpid())
    try:
        with open(beside, "w", encoding="utf-8") as file:
            json.dump({"format": "mortar tuning", "version": 1, "sets": [made]}, file, indent=1)
            file.write("\n")
        info("--merge", path, *([path] if os.path.exists(path) else []), beside)
    finally:
        with contextlib.suppress(FileNotFoundError):  # it could not be opened, and that is what is to be told
            os.unlink(beside)


def simulate_all(arguments, size, sizes, parameters, platform, on_rows):
    """(rows, what went wrong)"""
    def cell(blocks, plans, selector=arguments.selectors[0], model=False):
        return simulate.Cell(size, arguments.collective, blocks, plans, parameters, arguments.placement, selector,
                             lean=arguments.lean, platform=platform, seconds=arguments.seconds, model=model)
    jobs = fitting_jobs(arguments, size, sizes)
    plans = plans_of(arguments, size, sizes, cell)
    cells = [cell(sizes, ["native"], selector) for selector in arguments.selectors] + [cell(sizes, [plan]) for plan in plans]
    rows, wrong = simulate.run_cells(cells, jobs, arguments.quiet, on_rows)
    for plan in arguments.plans or []:
        if plan != "all" and any(row["plan"] == plan.replace(" ", "") and not simulate.as_asked(row) for row in rows):
            wrong.append("%s is left out: it does not do %s on %d nodes x %d ranks" % (plan, arguments.collective, *size))
    return rows, wrong


def main():
    parser = options()
    arguments = parser.parse_args()
    size, platform = cluster(arguments, parser)
    parameters = platforms.parse_settings(arguments.set)
    sizes = [0] if arguments.collective == "barrier" else sorted(set(simulate.parse_sizes(arguments.sizes)))
    check(arguments, size, sizes, parser)
    check_words(arguments, sizes, parser)
    done, code = [], 0
    try:
        rows, wrong = simulate_all(arguments, size, sizes, parameters, platform, done.extend)
    except (KeyboardInterrupt, SystemExit) as stopped:
        code = 130 if isinstance(stopped, KeyboardInterrupt) else stopped.code
        if code not in (129, 130, 143):  # a signal, not an error
            raise
        rows, wrong = done, ["interrupted: what follows is not all%s" % (
            "; %s is not written" % " ".join(filter(None, (arguments.tuning, arguments.picture)))
            if arguments.tuning or arguments.picture else "")]
        arguments.tuning = arguments.picture = None
    for text in wrong:
        print("mortar: " + text, file=sys.stderr)
    best = best_rows(rows)
    if not best:
        print("mortar: no simulation has ended" if code else "mortar: no simulation worked", file=sys.stderr)
        sys.exit(code or 1)
    title = "%s, %d nodes x %d ranks, %s" % (arguments.collective, *size, simulate.version())
    try:
        if arguments.csv:
            simulate.write_csv(arguments.csv, rows)
        if arguments.tuning:
            write_tuning(arguments.tuning, best, size, arguments.collective, parameters, arguments.like)
        if arguments.picture:
            draw.over_sizes(arguments.picture, draw.fastest(seconds_by_plan(rows), SHOWN), title)
    except (OSError, ValueError, SystemExit) as error:  # the table can still be printed; ValueError: matplotlib's
        code = error.code if isinstance(error, SystemExit) else "mortar: what was simulated cannot be written: %s" % error
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)  # the files are there: a reader that has gone ends this without a word
    try:
        print(title)
        print(platforms.describe(parameters) + (" placement=%s" % arguments.placement))
        print_table(best)
        sys.stdout.flush()
    except OSError as error:
        print("mortar: standard output has not got everything: %s" % error.strerror, file=sys.stderr, flush=True)
        os._exit(1)  # Python itself would try again, and complain
    sys.exit(code or bool(wrong))


if __name__ == "__main__":
    main()
