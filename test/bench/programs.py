# SPDX-License-Identifier: BSD-3-Clause
"""programs - the whole programs of bench/programs, each once under mortar with default settings: are their results right, and does
a program notice when they are not?
usage: programs.py FLAVOUR RANKS MORTAR PROGRAMS WRONG, where WRONG is a library whose collectives are wrong, or none: not tried"""
import os
import re
import subprocess
import sys

from testing import ROOT, check, flavour, run

ranks, mortar, programs, wrong = int(sys.argv[2]), *sys.argv[3:]
SMALL = {  # each program of list.h, as briefly as it still does everything
    "first": [["--iterations", "1"], ["--iterations", "10"]],
    "communicators": [["--iterations", "8"], ["--iterations", "8", "--split"], ["--iterations", "2", "--size", "300"]],
    "planewave": [["--iterations", "2", "--size", "4096"]],
    "density": [["--iterations", "1"]],
    "solver": [["--iterations", "64", "--size", "32"]],
    "chemistry": [["--iterations", "40"]],
    "dynamics": [["--iterations", "12"]],
}
with open(os.path.join(ROOT, "bench", "programs", "list.h"), encoding="utf-8") as file:
    listed = re.findall(r"^PROGRAM\((\w+),", file.read(), re.M)
check("every program is tried", sorted(listed) == sorted(SMALL), listed)
LINE = r"%s ranks=%d size=\d+ iterations=\d+ init=\S+ inside=\S+ finalize=\S+"
for name in listed:
    for words in SMALL[name]:
        out, errors = run(mortar, "run", programs, name, *words, ranks=ranks)
        check("right results: %s %s" % (name, " ".join(words)), re.fullmatch(LINE % (name, ranks), out.strip()), out + errors)
    if wrong != "none":
        # the highest byte of the first double that rank 1 receives; who says so first ends the others
        _, errors = run("env", "WRONG_RANK=1", "WRONG_BYTE=7", "LD_PRELOAD=" + wrong, programs, name, *SMALL[name][-1],
                        code=1)
        check("a wrong result is seen: " + name, re.search(r"%s: rank \d: \d+ WRONG results" % name, errors), errors)
out, errors = run(programs, "planewave", "--iterations", "1", "--size", "64", "--shares", ranks=ranks)
spent = dict(re.findall(r" (\w+)=([\d.]+)", out.split("finalize=")[-1]))
check("shares of the time", set(spent) == {"allreduce", "alltoall", "bcast", "barrier", "communicators"} and
      0 < sum(map(float, spent.values())) < 100.5, out)
for words, said in ((["fist"], '"fist": expected a program'), (["first", "--size", "0"], "--size 0: expected a number from 1 to"),
                    (["first", "--size"], "--size : expected a number"), (["first", "--many"], "unknown option --many")):
    done = subprocess.run([programs, *words], stderr=subprocess.PIPE, text=True, check=False)
    check("refused: " + " ".join(words), done.returncode == 2 and said in done.stderr, done.stderr)
