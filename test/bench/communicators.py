# SPDX-License-Identifier: BSD-3-Clause
"""communicators - does `mortar bench communicators` measure both sides, keep mortar out of the native one, see wrong results, write
its CSV file and refuse bad options? No time is judged.

usage: communicators.py FLAVOUR MORTAR PROGRAM WRONG, where WRONG is a library whose collectives are wrong"""
import os
import sys
import tempfile

import testing
from testing import check, load, refuses, rows_of, table

mortar, program, wrong = sys.argv[2:]
HEADER = "ranks,nodes,group,calls,bytes,communicators,side,repetition,seconds,mpi,machine,commit"
RANKS, REPETITIONS = 3, 3
QUICK = ["--repetitions", str(REPETITIONS), "--seconds", "0.01"]


def run(*words, code=0, before=("env", mortar, "bench")):
    return testing.run(*before, "communicators", *words, code=code, ranks=RANKS)


def sides(folder):
    """Each side is named, and the calls of mortar's side are in its report."""
    path, report = os.path.join(folder, "rows.csv"), os.path.join(folder, "report.json")
    for words, seats, group in ([], str(RANKS), 0), (["--groups", "2"], "2", 2):
        known = len(rows_of(path)) if os.path.exists(path) else 0
        before = ("env", "MORTAR_TUNE=off", "MORTAR_REPORT=" + report, mortar, "bench")
        out, _ = run("--calls", "1,3", "--csv", path, *words, *QUICK, before=before)
        check("a row for each number of calls", [row[:2] for row in table(out)] == [[seats, "1"], [seats, "3"]], out)
        check("it says how they are made", "MPI_Comm_%s," % ("split" if group else "dup") in out and "A/A" not in out, out)
        rows = rows_of(path)[known:]
        expected = [(calls, side, str(r)) for calls in "13" for side in ("native", "mortar") for r in range(REPETITIONS)]
        found = [(row["calls"], row["side"], row["repetition"]) for row in rows]
        check("and its repetitions in the CSV file", found == expected and
              all(row["ranks"] == str(RANKS) and row["group"] == str(group) and float(row["seconds"]) > 0 for row in rows), rows)
        asked = {name: sum(row["calls"] for row in load(report)["collectives"] if row["collective"] == name)
                 for name in ("allreduce", "alltoall")}
        timed = {calls: sum(int(row["communicators"]) for row in rows if (row["calls"], row["side"]) == (calls, "mortar"))
                 for calls in "13"}
        least = {"allreduce": timed["1"] + 2 * timed["3"], "alltoall": timed["3"]}
        if not group:  # a report counts the calls of all groups
            check("mortar saw its side's calls", all(least[name] <= asked[name] for name in least), (least, asked))
    with open(path, encoding="utf-8") as file:
        check("the header", file.readline() == HEADER + "\n")


def without_mortar():
    out, _ = run("--calls", "2", *QUICK, before=("env", program))
    check("without mortar it says so", "A/A" in out and "not loaded" in out, out)
    check("and measures", [row[:2] for row in table(out)] == [["3", "2"]], out)


def wrong_results():
    before = ("env", "WRONG_RANK=1", "WRONG_BYTE=7", "LD_PRELOAD=" + wrong, program)
    out, errors = run("--calls", "2", *QUICK, before=before, code=1)
    check("a wrong result is seen", "WRONG RESULT of native-again: rank 1 of 3" in errors and table(out) == [], out + errors)
    check("the native side goes past what is preloaded", "WRONG RESULT of native:" not in errors, errors)


def refused(folder):
    other = os.path.join(folder, "notes.txt")
    with open(other, "w", encoding="utf-8") as file:
        file.write("not a CSV file\n")
    refuses(run, [
        (["alltoall"], '"alltoall": expected an option'),
        (["--calls", "1,none"], "--calls 1,none: expected a list of numbers"),
        (["--calls", "0"], "--calls 0: expected a list of numbers"),
        (["--groups", "4"], "--groups 4: there are 3 ranks"),
        (["--groups", "two"], "--groups two: expected a list of ranks in a group"),
        (["--bytes", "12"], "--bytes 12: expected one multiple of 8"),
        (["--bytes", "2M"], "--bytes 2M: expected one multiple of 8, from 8 to 1M"),
        (["--seconds", "0"], "--seconds 0: expected 0.001 to 1000000"),
        (["--repetitions", "1.5"], "--repetitions 1.5: expected a whole number"),
        (["--csv"], "--csv needs a file"),
        (["--csv", other], "the file exists and is none of ours"),
        (["--plan", "cico"], "unknown option --plan"),
    ])
    out, _ = run("--help")
    check("help, once", out.count("usage: mpirun -n P mortar bench communicators") == 1, out)


with tempfile.TemporaryDirectory() as temporary:
    sides(temporary)
    without_mortar()
    wrong_results()
    refused(temporary)
