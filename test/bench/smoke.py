# SPDX-License-Identifier: BSD-3-Clause
"""smoke - does `mortar bench` measure every kind, see wrong results, tell A/A from mortar, write its CSV file and refuse bad
options? No time is judged.

usage: smoke.py FLAVOUR MORTAR PROGRAM WRONG PAPI, where WRONG is a library whose collectives are wrong, and PAPI a folder
with a stand-in for PAPI's library (papi.c), or none when there was no papi.h"""
import contextlib
import csv
import functools
import io
import os
import re
import shutil
import subprocess
import sys
import tempfile

from testing import ROOT, check, flavour, refuses, rows_of, run, table
from results import main as tables_of, read  # testing says where

HEADER = ("collective,ranks,nodes,bytes,buffers,caches,counts,topology,grid,axes,root,then,imbalance_ms,plan,repetition,calls,"
          "seconds,l1_misses,l2_misses,l3_misses,write_stalls,issue_stalls,mpi,machine,commit")
RANKS, REPETITIONS = 2, 3
QUICK = ["--seconds", "0.01", "--repetitions", str(REPETITIONS)]
with open("/proc/cpuinfo", encoding="utf-8") as file:
    CPU = file.read()
with open(os.path.join(ROOT, "bench", "common", "list.h"), encoding="utf-8") as file:
    KINDS = {row[0]: row[2:] for row in re.findall(r"^KIND\((\w+), (\w+), (\w+), (\w+), (\w+), (\w+)\)", file.read(), re.M)}
mortar, program, wrong, stand_in = sys.argv[2:]


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
    plans = ["native", "auto", "cico", "pull(rows)", "limit", "stream"]
    expected = {("alltoall", str(size), plan, str(r)) for size in (1, 8, 512, 4096) for plan in plans for r in range(REPETITIONS)}
    found = [(row["collective"], row["bytes"], row["plan"], row["repetition"]) for row in rows]
    check("every repetition of every contestant, once", len(found) == len(expected) and set(found) == expected, found)
    facts = {"ranks": str(RANKS), "nodes": "1", "buffers": "heap", "caches": "warm", "l1_misses": "", "l2_misses": "",
             "l3_misses": "", "write_stalls": "", "issue_stalls": ""}
    check("their facts", all(facts.items() <= row.items() and row["mpi"] and row["machine"] and row["commit"] and
                             float(row["seconds"]) > 0 for row in rows), rows[0])
    out, said = run(mortar, "bench", "alltoall", "--bytes", "24", "--plan", "central", "cico", *QUICK)
    check("a plan for other collectives is left out", [row[-1] for row in table(out)] == ["cico"] and
          "central does not run alltoall of 24 bytes here" in said, out + said)
    run(mortar, "bench", "allgather", "--bytes", "24", "--buffers", "stack", "--csv", path, *QUICK)
    more = rows_of(path)[len(rows):]
    check("another run adds its rows", [(row["collective"], row["bytes"], row["buffers"]) for row in more] ==
          [("allgather", "24", "stack")] * 2 * REPETITIONS, more)
    out, _ = run(mortar, "bench", "allgather", "--bytes", "24", "--seconds", "0.01", "--repetitions", "1")
    check("one repetition has no spread", table(out)[0][4] == "-", out)
    with open(path, "rb+") as file:
        file.truncate(os.path.getsize(path) - 9)
    size = os.path.getsize(path)
    refuses(functools.partial(run, mortar, "bench"), [(["allgather", "--csv", path], "its last row is not whole; remove it")])
    check("a file that ends within a row stays as it is", os.path.getsize(path) == size, path)


def cold(folder):
    path = os.path.join(folder, "cold.csv")
    words = ["--plan", "pull(rows)", "--limit", "--csv", path, *QUICK]
    plans = ["native", "pull(rows)", "limit", "stream"]
    for how in ["--cold"], ["--cold", "sweep"]:
        said = "clflush" if how == ["--cold"] and "clflush" in CPU else "a sweep through "
        before = len(rows_of(path)) if os.path.exists(path) else 0
        out, _ = run(mortar, "bench", "alltoall", "--bytes", "24,1K", *how, *words)
        check("it says how caches are emptied: " + said, out.count("cold: before each call " + said) == 1, out)
        rows = [(row["bytes"], row["plan"], row["repetition"], row["caches"]) for row in rows_of(path)[before:]]
        expected = [(str(size), plan, str(r), "cold") for size in (24, 1024) for plan in plans for r in range(REPETITIONS)]
        check("its rows are cold", sorted(rows) == sorted(expected), rows)
    out, _ = run(mortar, "bench", "alltoall", "--bytes", "1K", *words)
    check("warm is not cold", "cold" not in out and [row["caches"] for row in rows_of(path)[-9:]] == ["warm"] * 9, out)
    cells, _ = read(path)
    check("results.py keeps them apart", sorted(cells) == [(24, "cold"), (1024, "cold"), (1024, "warm")], cells)


def single_calls():
    """A call that is timed alone goes the way that it goes in a program's loop."""
    preload = 'WRONG_EXAMINED=1 LD_PRELOAD="$0:$LD_PRELOAD" exec "$@"'
    for words in (["alltoall", "--cold"], ["alltoallv", "--irregular", "--cold"], ["reduce", "--imbalance", "0"]):
        _, errors = run(mortar, "run", "sh", "-c", preload, wrong, program, *words, "--bytes", "24", "--plan", "auto", "native",
                        *QUICK)
        check("the timed call is not examined: " + words[0], errors.count("the last call was not examined\n") == RANKS, errors)


def counters(folder):
    path = os.path.join(folder, "counters.csv")
    events = ["l1_misses", "l2_misses", "l3_misses", "write_stalls", "issue_stalls"]
    words = ["alltoall", "--bytes", "24", "--plan", "cico", "--cold", "--counters", "--csv", path, *QUICK]
    if stand_in == "none":
        _, errors = run(mortar, "bench", *words)
        said = "none here, going on without: mortar was built without papi.h"
        check("without papi.h it says so", errors.count(said) == 1, errors)
        return
    with_it = ["sh", "-c", 'LD_LIBRARY_PATH=%s:$LD_LIBRARY_PATH TEST_PAPI=$0 exec "$@"' % stand_in]
    for lack, absent, said in (
            ("nothing", 0, "mean over ranks: L1 L2 L3 MEM_WCY STL_ICY\n"),
            ("no-l2", 2, "mean over ranks: L1 L3 MEM_WCY STL_ICY; no L2: PAPI_L2_DCM: the stand-in has no such event\n"),
            ("no-room", 5, "mean over ranks: L1 L2 L3 MEM_WCY; no STL_ICY: PAPI_STL_ICY: the stand-in has room for four\n")):
        before = len(rows_of(path)) if os.path.exists(path) else 0
        out, _ = run(*with_it, lack, mortar, "bench", *words)
        check("it says what is counted: " + said.strip(), said in out, out)
        counted = [event for event in (1, 2, 3, 4, 5) if event != absent]
        # contestants take turns, and the stand-in numbers the counts: papi.c
        expected, medians = {}, []
        for c, plan in enumerate(["native", "cico"]):
            for r in range(REPETITIONS):
                turn = 1 + 2 * r + (c - r) % 2
                expected[plan, str(r)] = [10000 * event + 100 * turn + 5 if event in counted else "" for event in range(1, 6)]
        found = {(row["plan"], row["repetition"]): [row[name] and float(row[name]) for name in events]
                 for row in rows_of(path)[before:]}
        check("and it is in the CSV file", found == expected, (found, expected))
        for event in counted:
            for plan in "native", "cico":
                medians.append(str(sorted(expected[plan, str(r)][event - 1] for r in range(REPETITIONS))[1]))
        check("and in the table", table(out)[0][5:-1] == medians, out)
    for lack in ("none", "alone"):
        before = len(rows_of(path))
        out, errors = run(*with_it, lack, mortar, "bench", *words)
        said = "--counters: none here, going on without: PAPI_library_init: the stand-in has no counters\n"
        check("without counters it says why, once: " + lack, errors.count(said) == 1, errors)
        check("and goes on", len(table(out)) == 1 and "counted" not in out and
              [row[name] for row in rows_of(path)[before:] for name in events] == [""] * 10 * REPETITIONS, out)
    run(*with_it, "nothing", mortar, "bench", "alltoall", "--bytes", "8", "--counters", "--limit", "--csv", path, *QUICK)
    rows = [row for row in rows_of(path) if row["caches"] == "warm"]
    check("warm and with a limit", len(rows) == 4 * REPETITIONS and
          all(0 < float(row["l3_misses"]) < 40000 for row in rows), rows)
    out, errors = run(mortar, "bench", *words)
    lacks = "none here, going on without: PAPI finds no hardware counters on this machine: "
    check("what this machine has", (lacks in errors) != ("counted per call" in out), out + errors)


def sizes_of(name, sizes, ranks):
    """The options for two sizes or one, and what the table says in its first column: the bytes of a block, or those of a grid for
    each rank, on average. Of three ranks one has nothing of the smaller grid, and the larger one is not divided evenly."""
    if name == "barrier":
        return [], ["0"]
    if name != "redistribution":
        return ["--bytes", ",".join(sizes)], sizes
    edges = [2, 7][-len(sizes):]
    return ["--grid", ",".join(map(str, edges))], [str(edge ** 3 * 16 // ranks) for edge in edges]


def wrong_results():
    """Each kind with one bit changed on one rank that receives; a barrier that waits for nobody."""
    for name, (_, receives, contents, _) in KINDS.items():
        rank = 1 if receives in ("ONE_OTHERS", "ONE_LATER") else 0
        size, (shown,) = sizes_of(name, ["16"], RANKS)
        out, errors = run("env", "WRONG_RANK=%d" % rank, "LD_PRELOAD=" + wrong, program, name, *size, *QUICK, code=1)
        where = ", the sum, byte 0" if contents != "BYTES" else ", block from rank "
        if name == "redistribution":
            where = ", its slab, byte 0"
        said = "WRONG RESULT of native-again: %s of %s bytes, rank %d of 2%s" % (name, shown, rank, where)
        if name == "barrier":
            said = "WRONG RESULT of native-again: barrier: rank 0 of 2 left it before all had entered"
        check("a wrong result is seen: " + name, errors.count(said) == 1 and "WRONG RESULT of native:" not in errors, out + errors)
        check("and no time is printed", table(out) == [], out)


def overrun():
    for name, size in ("alltoall", ["--bytes", "16"]), ("redistribution", ["--grid", "7"]):
        out, errors = run("env", "WRONG_RANK=1", "WRONG_BYTE=-1", "LD_PRELOAD=" + wrong, program, name, *size, *QUICK, code=1)
        check("a byte before a buffer is seen: " + name, errors.count("rank 1 of 2: written around a buffer") == 1, out + errors)


def results(folder):
    """The tables of all that each_kind and imbalance have measured, as if measure/sweep had."""
    sweep = os.path.join(folder, "sweep")
    os.mkdir(sweep)
    for name in KINDS:
        shutil.copy(os.path.join(folder, name + ".csv"), os.path.join(sweep, "%s-%s+barrier-heap-3.csv" % (flavour, name)))
    rows = [row for row in rows_of(os.path.join(folder, "imbalance.csv")) if row["collective"] == "reduce"]
    with open(os.path.join(sweep, flavour + "-reduce+imbalance-heap-3.csv"), "w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)

    def printed(how):
        text = io.StringIO()
        with contextlib.redirect_stdout(text):
            tables_of(sweep, how)
        return text.getvalue()

    small, cells = printed("--matrix"), printed("--cells").splitlines()
    check("a matrix has one row for these ranks, a column for each grid",
          small.count("\n| 3 | ") >= len(KINDS) and " | 7^3 |\n" in small, small)
    check("a line for each cell", all(len(line.split(",")) == 11 for line in cells) and len(cells) > len(KINDS), "\n".join(cells))
    found = printed("")
    check("a table for each kind", all(found.count("### %s, then a barrier, heap buffers: " % name) == 1 for name in KINDS), found)
    check("with a row for each size", found.count("\n| 3 | 72 | ") == len(KINDS) - 2 and found.count("\n| 3 | 0 | ") == 1 and
          found.count("\n| 3 | 1829, 7^3 | ") == 1 and found.count("packed / mortar") == 1, found)
    late = found.split("### reduce, imbalanced, heap buffers: ")[1].split("###")[0]
    check("and one for each imbalance", [line.split(" | ")[0] for line in late.splitlines() if line[:3] in ("| 0", "| 1")] ==
          ["| 0", "| 0.5", "| 1"] and "| imbalance ms | 64 bytes |" in late, late)


def then_barrier():
    for option, said in ([], 0), (["--then-barrier"], RANKS):
        _, errors = run("env", "LD_PRELOAD=" + wrong, program, "bcast", "--bytes", "16", *option, *QUICK)
        check("a barrier follows, or not: %s" % option, errors.count("wrong: a barrier\n") == said, errors)


def conditions(name, kind):
    """The options that this kind has, and what the CSV file says of them."""
    words, facts = ["--then-barrier"], {"then": "barrier"}
    words += sizes_of(name, ["8", "72"], 3)[0]
    if kind[3] == "true":
        words += ["--irregular"]
        facts["counts"] = "irregular"
    if "ROOT" in kind[0] + kind[1]:
        words += ["--root", "2"]
        facts["root"] = "2"
    if kind[1] == "NEIGHBOURS":
        words += ["--topology", "nd"]
        facts["topology"] = "nd"
    if name == "redistribution":
        words += ["--axes", "2,0"]
        facts["axes"] = "2,0"
    return words, {**{"counts": "", "root": "", "topology": "", "axes": "", "imbalance_ms": "", "caches": "warm"}, **facts}


def each_kind(folder):
    """Twice: by itself with its data used and plain otherwise, then under mortar, among more ranks, with all that the kind has."""
    for name, kind in KINDS.items():
        path = os.path.join(folder, name + ".csv")
        plain, sizes = sizes_of(name, ["8", "72"], RANKS)
        use = ["--use"] if name != "barrier" else []
        out, _ = run(program, name, *plain, *use, *QUICK)
        check("without mortar: " + name, "A/A" in out and [row[0] for row in table(out)] == sizes, out)
        check("its data used", out.count("used: ") == len(use), out)
        words, facts = conditions(name, kind)
        sizes = sizes_of(name, ["8", "72"], 3)[1]
        out, _ = run(mortar, "bench", name, *words, "--csv", path, *QUICK, ranks=3)
        check("with mortar: " + name, "A/A" not in out and [row[0] for row in table(out)] == sizes, out)
        rows = rows_of(path)
        plans = ["auto", "native"] + ["packed"] * (name == "redistribution")
        expected = [(size, plan, str(r)) for size in sizes for plan in plans for r in range(REPETITIONS)]
        check("its rows", [(row["bytes"], row["plan"], row["repetition"]) for row in rows] == expected and
              all(facts.items() <= row.items() and row["collective"] == name for row in rows), rows)


def imbalance(folder):
    path = os.path.join(folder, "imbalance.csv")
    for name, words, size in (("reduce", ["--bytes", "64"], "64"), ("barrier", [], "0")):
        before = len(rows_of(path)) if os.path.exists(path) else 0
        out, _ = run(mortar, "bench", name, *words, "--imbalance", "0,0.5,1ms", "--csv", path, *QUICK, ranks=3)
        check("a row for each imbalance: " + name, [row[:2] for row in table(out)] == [[size, ms] for ms in ("0", "0.5", "1")], out)
        found = [(row["imbalance_ms"], row["plan"], row["repetition"]) for row in rows_of(path)[before:]]
        expected = [(ms, plan, str(r)) for ms in ("0", "0.5", "1") for plan in ("auto", "native") for r in range(REPETITIONS)]
        check("and in the CSV file", found == expected, found)
    out, _ = run(program, "gather", "--bytes", "64", "--imbalance", *QUICK)
    check("the usual list", [row[1] for row in table(out)] == ["0", "1", "2", "5", "10"], out)


def used(folder):
    path = os.path.join(folder, "used.csv")
    words = ["alltoall", "--bytes", "24,1K", "--limit", "--csv", path, *QUICK]
    out, _ = run(mortar, "bench", *words, "--use")
    check("it says that data are used, and what that takes", out.count("used: after each call") == 1 and
          out.count(" use us ") == 1 and out.count(" less use ") == 1 and len(table(out)) == 2, out)
    rows = [(row["bytes"], row["plan"], row["repetition"], row["caches"]) for row in rows_of(path)]
    expected = [(str(size), plan, str(r), "used") for size in (24, 1024) for plan in ("auto", "native", "use", "limit", "stream")
                for r in range(REPETITIONS)]
    check("its rows are said to be used", sorted(rows) == sorted(expected), rows)
    out, _ = run(mortar, "bench", *words)
    check("and the others are not", "use" not in out and [row["caches"] for row in rows_of(path)[-9:]] == ["warm"] * 9, out)
    cells, _ = read(path)
    check("results.py keeps them apart, too", sorted(cells) == [(24, "used"), (24, "warm"), (1024, "used"), (1024, "warm")], cells)


def in_a_row(folder):
    """Where ranks may run ahead, all contestants run the same number of calls, a power of two, and the table says which."""
    path = os.path.join(folder, "row.csv")
    for name, words, alike in (("scan", [], True), ("gather", [], True), ("neighbor_alltoall", [], True),
                               ("bcast", ["--then-barrier"], False), ("allreduce", [], False), ("gather", ["--cold"], False)):
        before = len(rows_of(path)) if os.path.exists(path) else 0
        out, _ = run(mortar, "bench", name, "--bytes", "8", *words, "--csv", path, "--seconds", "0.2", "--repetitions", "3")
        calls = [int(row["calls"]) for row in rows_of(path)[before:]]
        check("numbers of calls are written: " + " ".join([name] + words), len(calls) == 6 and min(calls) > 0, calls)
        check("and shown where they are alike", out.count(" in a row ") == alike, out)
        if alike:
            check("one for all", len(set(calls)) == 1 and calls[0] & calls[0] - 1 == 0 and table(out)[0][5] == str(calls[0]), out)


def refused(folder):
    other = os.path.join(folder, "notes.txt")
    with open(other, "w", encoding="utf-8") as file:
        file.write("not a CSV file\n")
    refuses(functools.partial(run, mortar, "bench"), [
        ([], "which collective? e.g. mortar bench alltoall"),
        (["alltoal"], 'no collective "alltoal": did you mean alltoall?'),
        (["everything"], 'no collective "everything" ('),
        (["alltoall", "--seconds", "1e9"], "--seconds 1e9: expected 0.001 to 100000"),
        (["alltoall", "--seconds"], "--seconds needs a value: expected 0.001 to 100000"),
        (["alltoall", "--csv"], "--csv needs a file"),
        (["alltoall", "--bytes", "8:4K"], "--bytes 8:4K: expected FROM:TO:xN"),
        (["alltoall", "--buffers", "static"], "--buffers static: expected heap, stack, mapped or outside"),
        (["alltoall", "--plan", "push(rows)"], '"push(rows)" is no plan'),
        (["alltoall", "--repetitions", "0"], "--repetitions 0: expected a whole number"),
        (["alltoall", "--cold", "water"], "--cold water: expected sweep, or nothing"),
        (["alltoall", "--irregular"], "--irregular: the blocks of alltoall are equal"),
        (["alltoall", "--root", "1"], "--root: alltoall has none"),
        (["bcast", "--root", "2"], "--root 2: there are 2 ranks"),
        (["alltoallv", "--topology", "2d"], "--topology: alltoallv knows no neighbours"),
        (["neighbor_alltoall", "--topology", "4d"], "--topology 4d: expected 2d, 3d or nd"),
        (["alltoallv", "--limit"], "--limit: only alltoall, allgather, allreduce and bcast have it"),
        (["reduce", "--bytes", "8,12"], "--bytes 12: reduce sums up MPI_DOUBLE"),
        (["barrier", "--bytes", "8"], "--bytes: barrier has none"),
        (["redistribution", "--bytes", "8"], "--bytes: redistribution has none"),
        (["redistribution", "--grid", "8,2K"], "--grid 8,2K: expected edges from 1 to 1024"),
        (["redistribution", "--axes", "1,1"], "--axes 1,1: expected two of 0, 1 and 2"),
        (["alltoallw", "--grid", "8"], "--grid: alltoallw has none"),
        (["reduce", "--imbalance", "1s"], "--imbalance 1s: expected milliseconds"),
        (["reduce", "--imbalance", "--then-barrier"], "--imbalance does not go with --then-barrier"),
        (["barrier", "--use"], "--use: barrier has no data"),
        (["alltoall", "--use", "--cold"], "--use does not go with --cold, --counters or --imbalance"),
        (["alltoall", "--csv", other], "the file exists and is none of ours"),
    ])


def no_folders(folder):
    """A script that is given an option tells what it knows, and makes no folder of that name."""
    for script in "measure/sweep", "measure/plans", "scripts/get-mpis":
        done = subprocess.run([os.path.join(ROOT, script), "--help"], cwd=folder, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, timeout=60, check=False)
        told = done.returncode == 2 and "[FOLDER]" in done.stderr
        check("%s --help" % script, told and "--help" not in os.listdir(folder), done.stderr)


with tempfile.TemporaryDirectory() as temporary:
    without_mortar()
    with_mortar(temporary)
    cold(temporary)
    single_calls()
    counters(temporary)
    each_kind(temporary)
    imbalance(temporary)
    used(temporary)
    in_a_row(temporary)
    results(temporary)
    wrong_results()
    overrun()
    then_barrier()
    refused(temporary)
    no_folders(temporary)
