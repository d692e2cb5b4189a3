# SPDX-License-Identifier: BSD-3-Clause
"""smoke_test - does `mortar bench` see wrong results, tell A/A from mortar, write its CSV file and refuse bad options?
No time is judged.

usage: smoke_test.py FLAVOUR MORTAR PROGRAM WRONG, where WRONG is a library whose MPI_Alltoall is wrong"""
import csv
import os
import subprocess
import sys
import tempfile

MPI = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))), "scripts", "mpi")
HEADER = "collective,ranks,nodes,bytes,buffers,plan,repetition,seconds,mpi,machine,commit"
RANKS, REPETITIONS = 2, 3
QUICK = ["--seconds", "0.01", "--repetitions", str(REPETITIONS)]
flavour, mortar, program, wrong = sys.argv[1:]


def run(*command, code=0):
    # the launchers of Open MPI say much when a program fails, those of MPICH turn its exit code into another one
    done = subprocess.run([MPI, flavour, str(RANKS), *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=50)
    if (done.returncode == 0) != (code == 0):
        sys.exit("exit code %d, expected %d: %s\n%s%s" % (done.returncode, code, command, done.stdout, done.stderr))
    return done.stdout, done.stderr


def check(what, fine, shown=""):
    if not fine:
        sys.exit("wrong: %s\n%s" % (what, shown))
    print("ok: " + what)


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def table(text):
    return [line.split() for line in text.splitlines() if line[:9].strip()[:1].isdigit()]


def without_mortar():
    out, _ = run(program, "alltoall", "--bytes", "8,1K", *QUICK)
    check("without mortar it says that both columns are native", "not loaded" in out and "A/A" in out, out)
    check("one row for each size", [row[0] for row in table(out)] == ["8", "1K"], out)


def with_mortar(folder):
    path = os.path.join(folder, "bench.csv")
    words = ["--plan", "auto", "cico", "pull(rows)", "--limit", "--csv", path, *QUICK]
    out, _ = run("env", "MORTAR_TUNE=off", mortar, "bench", "alltoall", "--bytes", "1,8:4K:x64", *words)
    check("with mortar it does not say A/A", "A/A" not in out, out)
    sizes = [size for size in ("1", "8", "512", "4K") for _ in range(3)]
    check("a row for each size and plan", [row[0] for row in table(out)] == sizes, out)
    check("mortar ran what was asked for", out.count(" cico\n") >= 4 and "native:" not in out, out)
    with open(path, encoding="utf-8") as file:
        check("the header of the CSV file", file.readline() == HEADER + "\n")
    rows = rows_of(path)
    plans = ["native", "auto", "cico", "pull(rows)", "limit"]
    expected = {("alltoall", str(size), plan, str(r)) for size in (1, 8, 512, 4096) for plan in plans for r in range(REPETITIONS)}
    found = [(row["collective"], row["bytes"], row["plan"], row["repetition"]) for row in rows]
    check("every repetition of every contestant, once", len(found) == len(expected) and set(found) == expected, found)
    check("their facts", all(row["ranks"] == str(RANKS) and row["nodes"] == "1" and row["buffers"] == "heap" and row["mpi"] and
                             row["machine"] and row["commit"] and float(row["seconds"]) > 0 for row in rows), rows[0])
    run(mortar, "bench", "allgather", "--bytes", "24", "--buffers", "stack", "--csv", path, *QUICK)
    more = rows_of(path)[len(rows):]
    check("another run adds its rows", [(row["collective"], row["bytes"], row["buffers"]) for row in more] ==
          [("allgather", "24", "stack")] * 2 * REPETITIONS, more)


def wrong_result():
    out, errors = run("env", "LD_PRELOAD=" + wrong, program, "alltoall", "--bytes", "16", *QUICK, code=1)
    said = "WRONG RESULT of native-again: alltoall of 16 bytes, rank %d of 2, block from rank 0, byte 15"
    check("a wrong result is seen on each rank", all(said % rank in errors for rank in range(RANKS)), out + errors)
    check("and no time is printed", table(out) == [], out)


def refused(folder):
    other = os.path.join(folder, "notes.txt")
    with open(other, "w", encoding="utf-8") as file:
        file.write("not a CSV file\n")
    for words, expected in [
        ([], "Expected alltoall or allgather"),
        (["alltoal"], '"alltoal": expected a collective'),
        (["alltoall", "--bytes", "8:4K"], "--bytes 8:4K: expected FROM:TO:xN"),
        (["alltoall", "--buffers", "static"], "--buffers static: expected heap or stack"),
        (["alltoall", "--plan", "push(rows)"], '"push(rows)" is no plan'),
        (["alltoall", "--repetitions", "0"], "--repetitions 0: expected a whole number"),
        (["alltoall", "--csv", other], "the file exists and is none of ours"),
    ]:
        out, errors = run(mortar, "bench", *words, code=2)
        check("refused: " + " ".join(words), errors.count(expected) == 1, out + errors)


with tempfile.TemporaryDirectory() as temporary:
    without_mortar()
    with_mortar(temporary)
    wrong_result()
    refused(temporary)
