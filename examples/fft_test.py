# SPDX-License-Identifier: BSD-3-Clause
"""fft_test - fft3d in C and in Fortran, by itself and under `mortar run`: are the benchmark's checksums right, whoever has what of
the grid, and does the report prove that mortar took the transposes? Then plans by force, the options that a user has, what the
program says of a wrong checksum and of wrong words, and fft-times.
usage: fft_test.py FLAVOUR PROGRAMS RANKS...       PROGRAMS: fft3d or fft3d,fft3d-f90
       fft_test.py FLAVOUR PROGRAMS large RANKS... class W, under mortar only"""
import csv
import itertools
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "test"))
import run  # noqa: E402
from run import mpi  # noqa: E402

WAYS = [["--decomposition", "slab"], ["--decomposition", "pencil", "--types"], ["--decomposition", "slab", "--types"],
        ["--decomposition", "pencil"]]
PLANS = ["pull(rows)", "pull(morton)", "pull(rows, plain, cma)", "cico"]
CALLS = 8  # of each transpose: a transform to try, one to begin with, six iterations
COLLECTIVES = ("alltoall", "alltoallv", "alltoallw")
USERS = {"MORTAR_START": "paid", "MORTAR_TUNE": "watch"}  # what runs without any option


def fft(flavour, program, ranks, words, options=None, env=None):
    """Returns the result, which has to be right, and what the program printed about it: {"grid": ...}."""
    result = mpi(flavour, ranks, ["%s-%s" % (program, flavour), *words], options, env=env)
    result.ok("ranks=%d " % ranks, "verification=successful").silent()
    facts = dict(re.findall(r"(\w+)=(\S+)", result.out))
    result.check(0 < float(facts["pss"]) and float(facts["communication"]) <= float(facts["transposes"]) <=
                 float(facts["seconds"]), "these figures cannot be")
    return result, facts


def taken(result, facts, words):
    """All transposes were mortar's. Ranks in different rows or columns may have different plans: then there are more lines."""
    expected = CALLS * sum(int(ranks) > 1 for ranks in facts["grid"].split("x"))
    calls, native = (sum(result.calls(mine, collective=name) for name in COLLECTIVES) for mine in (True, False))
    result.check(calls >= expected and native == 0, "mortar took %d of %d calls, %d are native" % (calls, expected, native))
    if "--types" in words:
        result.check(calls == result.calls(True, collective="alltoallw"), "not all were MPI_Alltoallw")


def right(flavour, programs, counts):
    """Each program with each number of ranks and in each way: not all pairs, but all of the three."""
    for (i, ranks), (j, program) in itertools.product(enumerate(counts), enumerate(programs)):
        words = WAYS[(i + 2 * j) % len(WAYS)]
        fft(flavour, program, ranks, words)
        result, facts = fft(flavour, program, ranks, words, [])
        if ranks > 1:
            taken(result, facts, words)


def forced(flavour, programs, ranks):
    for number, plan in enumerate(PLANS):
        words = WAYS[number % len(WAYS)]
        result, facts = fft(flavour, programs[number % len(programs)], ranks, words, ["--plan", plan])
        taken(result, facts, words)
        rows = [row for name in COLLECTIVES for row in result.collectives(collective=name)]
        result.check(all(row["plan"].startswith(plan.rstrip(")")) for row in rows), "another plan than %s" % plan)


def by_itself(flavour, programs, ranks):
    """Without any option: the MPI library begins, and mortar takes over."""
    result, _ = fft(flavour, programs[0], ranks, ["--iterations", "60"], [], USERS)
    native, mine = (result.calls(taken, collective="alltoall" + "v" * bool(64 % ranks)) for taken in (False, True))
    result.check(native > 0 and native + mine == 62, "%d calls were native, %d mortar's" % (native, mine))


def wrong_sums(flavour):
    """One damaged number is noticed, and said by one rank. (Fortran's calls do not come past the library that damages it.)"""
    path = os.path.join(run.BUILD, "examples", "fft3d-" + flavour)
    words = ["env", "WRONG_RANK=1", "WRONG_BYTE=7", "LD_PRELOAD=" + run.WRONG, path]
    result = run.run([run.LAUNCH, flavour, "2", *words], env=run.QUICK_END)
    result.check(result.code == 1 and "verification=failed" in result.out and result.err.count("iteration 1: wrong") == 1,
                 "a wrong number was not noticed")


def wrong_words(flavour, programs):
    for program in programs:
        for words, said in ((["--class", "D"], "--class: expected S, W, A or B, not D\n"),
                            (["--class"], "--class: expected S, W, A or B, not nothing\n"),
                            (["--decomposition", "slabs"], "--decomposition: expected slab or pencil, not slabs\n"),
                            (["--iterations", "0"], "--iterations: expected a number from 1 to 1000000, not 0\n"),
                            (["--iterations", "5x"], "--iterations: expected a number from 1 to 1000000, not 5x\n"),
                            (["--what"], ", not --what\n")):
            result = mpi(flavour, 2, ["%s-%s" % (program, flavour), *words], None, env=run.QUICK_END)
            result.check(result.code == 2 and not result.out and result.err.count(said) == 1 == result.err.count("fft3d: "),
                         "not one line: %r" % said)


def painter():
    """A Python that has matplotlib, or None."""
    for python in dict.fromkeys((sys.executable, "/usr/bin/python3")):
        if subprocess.run([python, "-c", "import matplotlib"], stderr=subprocess.DEVNULL, check=False).returncode == 0:
            return python
    return None


def times(flavour):
    """fft-times writes each run into its file, draws them, and stops when a checksum is wrong under mortar."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "fft-times")
    words = [script, "--mpi", flavour, "--ranks", "2", "--classes", "S", "--repeat", "1"]
    with tempfile.TemporaryDirectory() as folder:
        path, picture = (os.path.join(folder, name) for name in ("times.csv", "times.png"))
        result = run.run([sys.executable, *words, "--build", run.BUILD, "--csv", path]).ok("pull(rows", "pull(morton")
        with open(path, newline="", encoding="utf-8") as file:
            ways = [row["way"] for row in csv.DictReader(file)]
        result.check(ways == ["native", "SH-Naive", "SH-CO", "auto"], "the file has %s" % ways)
        if painter():
            result = run.run([sys.executable, "-B", *words[:-1], "0", "--csv", path, "--draw", picture]).ok()
            with open(picture, "rb") as file:
                result.check(file.read(4) == b"\x89PNG" and not result.out, "no picture, or more than that")
            nowhere = os.path.join(folder, "no", "times.png")
            result = run.run([sys.executable, "-B", *words, "--build", run.BUILD, "--draw", nowhere])
            result.check(result.code == 2 and "No such file" in result.err and not result.out, "told after an hour of measuring")
        os.mkdir(os.path.join(folder, "bin"))
        os.symlink(os.path.join(run.BUILD, "examples"), os.path.join(folder, "examples"))
        with open(os.path.join(folder, "bin", "mortar"), "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\nshift 3\n"$@" | sed s/=successful/=doubtful/\n')
            os.chmod(file.name, 0o755)
        result = run.run([sys.executable, *words, "--build", folder, "--ways", "native,auto"])
        result.check(result.code != 0 and "another result: FT S, slab, 2 ranks, auto" in result.err, "no word of it")


def test(flavour, programs, *counts):
    programs = programs.split(",")
    if counts[0] == "large":
        for (i, program), (j, ranks) in itertools.product(enumerate(programs), enumerate(counts[1:])):
            for words in WAYS[(i + j) % 2::2]:
                taken(*fft(flavour, program, int(ranks), ["--class", "W", *words], []), words)
        return
    counts = [int(word) for word in counts]
    right(flavour, programs, counts)
    forced(flavour, programs, min(4, max(counts)))
    by_itself(flavour, programs, 2)
    wrong_sums(flavour)
    wrong_words(flavour, programs)
    times(flavour)


run.main(test)
