#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""cores - the tables of docs/cores.md that `mortar cores` makes. Nothing is measured.

    measure/cores.py [--jobs 2] [--only WORD]    simulates (20 minutes on 2 cores) and writes the tables into docs/cores.md;
                                                 WORD: only tables whose first line has it"""
import argparse
import concurrent.futures
import csv
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
PAGE = os.path.join(ROOT, "docs", "cores.md")
MACHINES = ("epyc-2x48", "epyc-2x96", "xeon-2x56", "xeon-4x18", "arm-64", "grace-72", "knc-60")
ONE_MESH = ("grace-72", "knc-60", "arm-64")  # one memory domain
ORDERS = ("spread", "columns", "morton", "hilbert", "numa(rows)", "numa(morton)")
NAMES = {8: "8 B", 64: "64 B", 512: "512 B", 4096: "4 KiB", 16384: "16 KiB", 32768: "32 KiB", 262144: "256 KiB"}


def simulate(words, fan="0"):
    """The rows of a run of `mortar cores`."""
    command = [os.path.join(ROOT, "build", "release", "bin", "mortar"), "cores", "--csv", *words]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=True, encoding="utf-8", env=dict(os.environ, MORTAR_FAN=fan))
    return list(csv.DictReader(done.stdout.splitlines()))


class Runs:
    """Simulations, some at a time. What is asked for is begun; its value waits."""

    def __init__(self, jobs):
        self.pool, self.begun = concurrent.futures.ThreadPoolExecutor(jobs), {}

    def ask(self, *words, fan="0"):
        key = (words, fan)
        if key not in self.begun:
            self.begun[key] = self.pool.submit(simulate, words, fan)
        return self.begun[key]

    def call(self, machine, call, size, plan=None, fan="0", between="use", ranks=None):
        plans = ["--plan", plan] if plan else ["--plans", "1"]
        some = ["--ranks", str(ranks)] if ranks else []
        return self.ask("--machine", machine, *some, "--bytes", str(size), "--between", between, *plans, call, fan=fan)


def us(run, column="ns"):
    return float(run.result()[0][column]) / 1e3


def barriers(runs):
    designs = ("central", "tree", "tree4", "tree8", "dissemination", "sum-beside", "sum-inside")
    yield "| machine | cores | %s |" % " | ".join(designs)
    yield "|---|" + "---:|" * (1 + len(designs))
    asked = {machine: runs.ask("--machine", machine, "--designs") for machine in MACHINES}
    for machine, run in asked.items():
        found = {row["plan"]: row for row in run.result()}
        yield "| %s | %s | %s |" % (machine, found["central"]["ranks"], " | ".join(
            "%.1f" % (float(found[name]["ns"]) / 1e3) for name in designs))


CALLS = [("barrier", 8)] + [(call, size) for call, sizes in (
    ("allreduce", (8, 512, 4096)), ("allgather", (8, 512, 4096)), ("alltoall", (8, 512, 4096))) for size in sizes]


def calls(runs):
    yield "| call | %s |" % " | ".join(MACHINES)
    yield "|---|" + "---|" * len(MACHINES)
    asked = {(call, size): [[runs.call(machine, call, size, fan=fan) for fan in ("1", "0")] for machine in MACHINES]
             for call, size in CALLS}
    for (call, size), cells in asked.items():
        name = call if call == "barrier" else "%s %d" % (call, size)
        yield "| %s | %s |" % (name, " | ".join("%.1f, %.1f" % tuple(map(us, cell)) for cell in cells))


FEW = (("barrier", 8), ("allreduce", 8), ("allreduce", 512), ("allgather", 8), ("alltoall", 8), ("alltoall", 512),
       ("alltoall", 4096))


def few(runs):
    machines, counts = ("epyc-2x48", "xeon-2x56", "xeon-4x18", "arm-64", "grace-72", "knc-60"), (2, 4, 8)
    yield "| call, ranks | %s |" % " | ".join(machines)
    yield "|---|" + "---|" * len(machines)
    asked = {(call, size, ranks): [[runs.call(machine, call, size, fan=fan, ranks=ranks) for fan in ("1", "0")]
                                   for machine in machines] for call, size in FEW for ranks in counts}
    for (call, size, ranks), cells in asked.items():
        name = call if call == "barrier" else "%s %d" % (call, size)
        yield "| %s, %d ranks | %s |" % (name, ranks, " | ".join("%.2f, %.2f" % tuple(map(us, cell)) for cell in cells))


LOOSE = [("reduce", 8, (None,)), ("reduce", 512, (None,)), ("bcast", 8, (None,)), ("bcast", 512, ("mailbox", "tape")),
         ("bcast", 4096, ("mailbox", "tape")), ("bcast", 32768, (None,)), ("scatter", 8, (None,)), ("scatter", 512, (None,)),
         ("gather", 8, (None,)), ("gather", 512, (None,))]


def loose(runs):
    yield "| call without a barrier | %s |" % " | ".join(MACHINES)
    yield "|---|" + "---|" * len(MACHINES)
    asked = [(call, size, plans, [[runs.call(machine, call, size, plan) for plan in plans] for machine in MACHINES])
             for call, size, plans in LOOSE]
    for call, size, plans, cells in asked:
        by = " by " + ", by ".join("`%s`" % plan for plan in plans) if plans[0] else ""
        yield "| %s %d%s | %s |" % (call, size, by, " | ".join(", ".join("%.1f" % us(run) for run in cell) for cell in cells))


def reductions(runs):
    machines = ("epyc-2x48", "epyc-2x96", "xeon-2x56", "xeon-4x18", "grace-72", "knc-60")
    yield "| vector | %s |" % " | ".join(machines)
    yield "|---|" + "---|" * len(machines)
    asked = {size: [[runs.call(machine, "allreduce", size, plan) for plan in ("combine", "slices")] for machine in machines]
             for size in (512, 4096, 32768, 262144)}
    for size, cells in asked.items():
        yield "| %s | %s |" % (NAMES[size], " | ".join("%.1f, %.1f" % tuple(map(us, cell)) for cell in cells))


def ordered(runs, machine, call, size, order, between="use"):
    if order.startswith("numa") and machine in ONE_MESH:
        return None
    return runs.call(machine, call, size, "pull(%s, plain)" % order, between=between)


def orders(runs):
    yield "| machine | call | block | `rows`, us | %s |" % " | ".join("`%s`" % order for order in ORDERS)
    yield "|---|---|---|---:|" + "---|" * len(ORDERS)
    machines = ("epyc-2x48", "epyc-2x96", "xeon-2x56", "xeon-4x18", "grace-72", "knc-60")
    asked = {(machine, call, size): [ordered(runs, machine, call, size, order) for order in ("rows",) + ORDERS]
             for machine in machines for call in ("allgather", "alltoall") for size in (64, 512, 4096)}
    for (machine, call, size), (rows, *others) in asked.items():
        cells = ["%.2f, %.2f" % tuple(us(rows, what) / us(run, what) for what in ("ns", "round")) if run else "" for run in others]
        yield "| %s | %s | %s | %.1f, %.1f | %s |" % (
            machine, call, NAMES[size], us(rows), us(rows, "round"), " | ".join(cells))


def staged(runs):
    sizes, machines = (64, 512, 4096), ("epyc-2x48", "epyc-2x96", "xeon-2x56", "xeon-4x18", "grace-72")
    yield "| call, block | %s |" % " | ".join(machines)
    yield "|---|" + "---|" * len(machines)
    plans = ("cico", "pull(spread, plain)")
    asked = {(call, size): [[runs.call(machine, call, size, plan) for plan in plans] for machine in machines]
             for call in ("allgather", "alltoall") for size in sizes}
    for (call, size), cells in asked.items():
        yield "| %s, %s | %s |" % (call, NAMES[size], " | ".join("%.1f, %.1f" % tuple(us(run, "round") for run in cell)
                                                                for cell in cells))


def paper(machine, named):
    def table(runs):
        yield "| call | block | `rows`, us | %s |" % " | ".join(
            "`%s`%s" % (order, " (%s)" % name if name else "") for order, name in named)
        yield "|---|---|---:|" + "---:|" * len(named)
        asked = {(call, size): [ordered(runs, machine, call, size, order, "cold") for order, _ in [("rows", "")] + named]
                 for call in ("allgather", "alltoall") for size in (8, 64, 512, 4096, 16384)}
        for (call, size), (rows, *others) in asked.items():
            yield "| %s | %s | %.1f | %s |" % (call, NAMES[size], us(rows), " | ".join(
                "%.2f" % (us(rows) / us(run)) for run in others))
    return table


TABLES = (barriers, calls, few, loose, reductions, orders, staged,
          paper("xeon-4x18", [("morton", "SH-CO"), ("numa(rows)", ""), ("numa(morton)", "SH-NUMA-CO"), ("spread", "")]),
          paper("knc-60", [("morton", "SH-CO"), ("hilbert", ""), ("spread", "")]))


def replace(text, lines):
    """The table that begins with the same line."""
    before, rest = text.split("\n" + lines[0] + "\n")
    return before + "\n" + "\n".join(lines) + "\n\n" + rest.split("\n\n", 1)[1]


def main():
    parser = argparse.ArgumentParser(usage=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    runs = Runs(options.jobs)
    for table in TABLES:
        made = table(runs)
        if options.only not in (first := next(made)):
            continue
        lines = [first, *made]
        print("\n".join(lines) + "\n", flush=True)
        with open(PAGE, encoding="utf-8") as file:
            text = replace(file.read(), lines)
        with open(PAGE, "w", encoding="utf-8") as file:
            file.write(text)


if __name__ == "__main__":
    main()
