#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""samples - where the processors spend their time, by library, in a program by itself and under `mortar run`, in turns.

    measure/samples.py --ranks 16 --turns 12 -- lmp -in ions.lmp      the program runs in a copy of bench/installed

perf looks at each processor some 1000 times a second, at all that mpirun starts. A wall time says only that a run took longer,
and perhaps the machine was not quiet. This says what took the time: mortar's own libraries have a row each, and the heap's is to be
read with the C library's, whose malloc it replaces. Medians over the turns, in brackets the least and the most. The program runs
natively twice in each turn: the difference of the two is the noise."""
import argparse
import collections
import os
import re
import shutil
import statistics
import subprocess
import sys
import tempfile

from programs import ENVIRONMENT, ROOT, copy_inputs, launch

SIDES = ("native", "native again", "mortar")
LEAST = 0.002  # of all samples: libraries with less are one row


def samples(options, side):
    """{library: samples} of one run."""
    words = launch(options, options.ranks, side)
    with tempfile.TemporaryDirectory() as folder:
        inputs, data = copy_inputs(folder), os.path.join(folder, "perf.data")
        perf = ["perf", "record", "-q", "-e", "cpu-clock", "-F", str(options.rate), "-o", data, "--"]
        done = subprocess.run(["timeout", "-k", "5", str(options.patience), *perf, *words, *options.program], cwd=inputs,
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8",
                              errors="replace", env=ENVIRONMENT, check=False)
        if done.returncode != 0:
            sys.exit("samples: exit code %d of %s\n%s" % (done.returncode, " ".join(perf + words + options.program), done.stdout))
        report = subprocess.run(["perf", "report", "-i", data, "--sort", "dso", "--stdio", "-n", "-q"], stdout=subprocess.PIPE,
                                stderr=subprocess.DEVNULL, encoding="utf-8", errors="replace", check=False)
    found = re.findall(r"^ *[\d.]+% +(\d+) +(\S+)", report.stdout, re.M)
    if not found:
        sys.exit("samples: perf has no samples of %s" % " ".join(options.program))
    return {library: int(count) for count, library in found}


def merged(turns):
    """{library: {side: [samples of a turn]}}, libraries with little as one, `all` first."""
    rows = collections.defaultdict(lambda: {side: [0] * len(turns) for side in SIDES})
    for i, turn in enumerate(turns):
        for side, counts in turn.items():
            for library, count in counts.items():
                rows[library][side][i] += count
                rows["all"][side][i] += count
    most = max(statistics.median(values) for values in rows["all"].values())
    table = {"all": rows["all"]}
    for library in sorted(rows, key=lambda name: -max(statistics.median(values) for values in rows[name].values())):
        large = max(statistics.median(values) for values in rows[library].values()) >= LEAST * most
        row = table.setdefault(library if large or "mortar" in library else "other", rows[library])
        if row is not rows[library]:
            for side in SIDES:
                row[side] = [a + b for a, b in zip(row[side], rows[library][side])]
    return table


def print_table(turns):
    table = merged(turns)
    native = statistics.median(table["all"]["native"])
    print("%-28s%s   %s" % ("samples", "".join("%24s" % side for side in SIDES), "mortar - native, % of all"))
    for library, row in table.items():
        cells = ("%.0f (%d-%d)" % (statistics.median(row[side]), min(row[side]), max(row[side])) for side in SIDES)
        difference = statistics.median(a - b for a, b in zip(row["mortar"], row["native"]))
        print("%-28s%s   %+.1f" % (library, "".join("%24s" % cell for cell in cells), 100 * difference / native))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--mpi", default="ompi4")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--turns", type=int, default=6)
    parser.add_argument("--rate", type=int, default=997, help="samples of a processor in a second")
    parser.add_argument("--patience", type=int, default=300, help="seconds for one run")
    parser.add_argument("--option", action="append", default=[], help="NAME=VALUE for mortar run")
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"))
    parser.add_argument("program", nargs="+")
    options = parser.parse_args()
    if not shutil.which("perf"):
        sys.exit("samples: there is no perf here (Debian: linux-perf)")
    turns = []
    for k in range(options.turns):
        order = SIDES[k % len(SIDES):] + SIDES[:k % len(SIDES)]
        turns.append({side: samples(options, side) for side in order})
        print("turn %d of %d" % (k + 1, options.turns), file=sys.stderr, flush=True)
    print_table(turns)


if __name__ == "__main__":
    main()
