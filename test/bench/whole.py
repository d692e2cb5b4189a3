# SPDX-License-Identifier: BSD-3-Clause
"""whole - the whole programs of bench/programs, each once under mortar with default settings: are their results right, and does
a program notice when they are not? Those that call no collective run natively as well, as measure/programs.py runs them: are their
memory and times told? The same of the applications of examples/, and of their results.
usage: whole.py FLAVOUR RANKS MORTAR PROGRAMS WRONG, where WRONG is a library whose collectives are wrong, or none: not tried"""
import argparse
import os
import re
import subprocess
import sys
import tempfile

from testing import ROOT, check, flavour, run
import program_tables as tables  # of measure; testing says where
import programs as tool

ranks, mortar, executable, wrong = int(sys.argv[2]), *sys.argv[3:]
SMALL = {  # each program of list.h, as briefly as it still does everything
    "first": [["--iterations", "1"], ["--iterations", "10"]],
    "communicators": [["--iterations", "8"], ["--iterations", "8", "--split"], ["--iterations", "2", "--size", "300"]],
    "planewave": [["--iterations", "2", "--size", "4096"]],
    "density": [["--iterations", "1"]],
    "solver": [["--iterations", "64", "--size", "32"]],
    "chemistry": [["--iterations", "40"]],
    "dynamics": [["--iterations", "12"]],
    "late": [["--iterations", "8", "--size", "3000"]],
    "fresh": [["--size", "4", "--iterations", "6"]],
}
BRIEF = {  # the same of those that call no collective
    "gather": "--size 8 --iterations 1",
    "triad": "--size 8 --iterations 2",
    "touch": "--size 8 --iterations 2",
    "fields": "--iterations 3",
    "columns": "--size 32 --iterations 3",
    "zeroed": "--iterations 3",
    "small": "--iterations 20",
    "grow": "--size 8 --iterations 2",
    "trim": "--size 16 --iterations 2",
    "beyond": "--iterations 4",
    "fork": "--size 8 --iterations 2",
    "exec": "--size 8 --iterations 2",
    "pool.py": "--size 8 --iterations 2",
    "vectors.py": "--size 8 --iterations 2",
}
with open(os.path.join(ROOT, "bench", "programs", "list.h"), encoding="utf-8") as file:
    listed = re.findall(r"^PROGRAM\((\w+),", file.read(), re.M)
check("every program is tried", sorted(listed) == sorted([*SMALL, *(name for name in BRIEF if not name.endswith(".py"))]), listed)
check("and is in the table", {words[0] for words in tool.ROWS.values()} == set(SMALL) and
      {words[0] for words in tool.ALONE.values()} == set(BRIEF))
LINE = r"%s ranks=%d size=\d+ iterations=\d+ init=\S+ inside=\S+ finalize=\S+ busy=\S+ rss=\S+ .*"
for name in SMALL:
    for words in SMALL[name]:
        out, errors = run(mortar, "run", executable, name, *words, ranks=ranks)
        check("right results: %s %s" % (name, " ".join(words)), re.fullmatch(LINE % (name, ranks), out.strip()), out + errors)
    if wrong != "none":
        # the highest byte of the first double that rank 1 receives; who says so first ends the others
        _, errors = run("env", "WRONG_RANK=1", "WRONG_BYTE=7", "LD_PRELOAD=" + wrong, executable, name, *SMALL[name][-1],
                        code=1)
        check("a wrong result is seen: " + name, re.search(r"%s: rank \d: \d+ WRONG results" % name, errors), errors)
python, numpy = tool.python_of(tool.NUMPY)
for name, words in tool.ALONE.items():
    if words[0] in tool.NUMPY and not numpy:
        print("skipped: %s: no Python here has numpy" % name)
        continue
    told = argparse.Namespace(mpi=flavour, build=os.path.dirname(os.path.dirname(mortar)), option=[], words=BRIEF[words[0]],
                              patience=50, python=python)
    for side in tool.SIDES:
        found = tool.run(told, name, 1, side)
        check("%s, %s" % (name, side), found["cpu"] >= found["busy"] > 0 and
              found["rss"] >= found["pss"] >= found["private"] > 0, found)
        if words[0] in ("touch", "triad"):
            check("16 MiB and more are counted", found["rss"] > 16 and found["faults"] > 0, found)
        check("an answer", found["answer"] in (("given", "refused") if words[0] == "beyond" else ("none",)), found)
for name, words in tool.APPLICATIONS.items():
    told = argparse.Namespace(mpi=flavour, build=os.path.dirname(os.path.dirname(mortar)), option=[], words="--iterations 2",
                              patience=50)
    if not os.path.exists(tool.program_of(told, words)[0]):
        print("skipped: %s is not built" % words[0])
        continue
    if words[-1] == "A":
        continue  # a second for each run
    found = {side: tool.run(told, name, ranks, side) for side in tool.SIDES}
    check(name, all(one["wall"] > one["inside"] > 0 and one["rss"] >= one["pss"] > 0 for one in found.values()), found)
    check("the same result", found["native"]["answer"] == found["mortar"]["answer"] not in ("none", "failed"), found)
out, errors = run(executable, "planewave", "--iterations", "1", "--size", "64", "--shares", ranks=ranks)
spent = dict(re.findall(r" (\w+)=([\d.]+)", out.split("answer=")[-1]))
check("shares of the time", set(spent) == {"allreduce", "alltoall", "bcast", "barrier", "communicators"} and
      0 < sum(map(float, spent.values())) < 100.5, out)
for words, said in ((["fist"], '"fist": expected a program'), (["first", "--size", "0"], "--size 0: expected a number from 1 to"),
                    (["first", "--size"], "--size : expected a number"), (["first", "--many"], "unknown option --many")):
    done = subprocess.run([executable, *words], stderr=subprocess.PIPE, text=True, check=False)
    check("refused: " + " ".join(words), done.returncode == 2 and said in done.stderr, done.stderr)


def turns(*pairs):
    """As cells_of has them: the wall times of native and mortar."""
    return [{side: dict(dict.fromkeys(tool.NUMBERS, wall), answer="none") for side, wall in zip(tool.SIDES, pair)}
            for pair in pairs]


def alone(*pairs, **mortar):
    """As turns, for verdict_alone; mortar: what the side of mortar has otherwise, in all turns."""
    return [{**turn, "mortar": {**turn["mortar"], **mortar}} for turn in turns(*pairs)]


for given, size, expected in [
    (turns((1, 1.039), (1, 1.039)), 16, "yes"), (turns((1, 1.041), (1, 1.041)), 16, "**no**"),
    (turns((0.2, 0.405), (0.2, 0.405)), 64, "yes"), (turns((0.2, 0.415), (0.2, 0.415)), 64, "**no**"),
    (turns((1, 0.9), (1, 1.03), (1, 1.2)), 2, "yes?"), (turns((1, 0.9), (1, 1.05), (1, 1.2)), 2, "**no**?"),
    (turns((1, 1.0), (2, 2.0), (9, 8.0)), 2, "yes"), (alone((1, 0.5), answer="given"), 2, "**no**, another answer"),
]:
    check("within the budget: %s" % expected, tables.verdict(given, size) == expected, (given, size, tables.verdict(given, size)))
for one, other, expected in [
    ("-63.34030422 0.033743", "-63.34030423 0.033743", True), ("-63.34030422 0.033743", "-63.34130422 0.033743", False),
    ("1.5 2.5", "1.5", False), ("1.0E-12", "-3.0E-11", True), ("c0ffee", "c0ffee", True), ("c0ffee", "c0ffe1", False),
    ("0.5", "given", False), ("none", "none", True),
]:
    check("the same answer: %s" % expected, tables.same(one, other) == expected, (one, other))
for given, expected in [
    (alone((1, 1.029)), "yes"), (alone((1, 1.031)), "**no**"), (alone((1, 1.029), cpu=1.031), "**no**"),
    (alone((1, 1.0), (1, 1.02), (1, 1.2)), "yes?"), (alone((1, 1.0), (1, 1.02), (1, 1.2), wall=1.0), "yes?"),
    (alone((1, 1.0), answer="given"), "**no**, another answer"),
]:
    check("as without mortar: %s" % expected, tables.verdict_alone(given) == expected, (given, tables.verdict_alone(given)))
if wrong != "none":
    with tempfile.TemporaryDirectory() as folder:
        path, script = os.path.join(folder, "runs.csv"), os.path.join(ROOT, "measure", "programs.py")
        words = [sys.executable, "-B", script, "--build", os.path.dirname(os.path.dirname(mortar)), "--mpi", flavour]
        words += ["--ranks", "2", "--programs", "first", "exec", "--words=--size 8", "--csv", path]
        examples = [*words[:words.index("--programs") + 1], "heat2d", "--words=--iterations 8", "--csv", path]
        for count in 1, 1, 2:  # the second time there is nothing to do
            done = subprocess.run([*words, "--turns", str(count)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                  check=True)
            lines = [line for line in done.stdout.splitlines() if line.startswith("| first, ")]
            check("a row for each program", [line.split(" | ")[:3] for line in lines] ==
                  [["| first, " + calls, "2", str(count)] for calls in ("1 call", "10 calls", "100 calls", "1000 calls")],
                  done.stdout)
            lines += [line for line in done.stdout.splitlines() if line.startswith("| fork and exec | %d |" % count)]
            check("and one in the other table", len(lines) == 5 and lines[4].count("|") == 16, done.stdout)
            check("two runs for each turn", len(tool.read(path)) == 10 * count, done.stderr)
        done = subprocess.run([*examples, "--turns", "1"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=True)
        lines += [line for line in done.stdout.splitlines() if line.startswith("| heat2d, 512 x 512 | 2 | 1 |")]
        check("applications have a table of their own", len(lines) == 6 and lines[5].count("|") == 16 and
              "### Applications\n" in done.stdout, done.stdout + done.stderr)
        found = subprocess.run([*words[:3], "--page", path], stdout=subprocess.PIPE, text=True, check=True).stdout
        check("and the page has them", all(line in found for line in lines) and "## %s\n" % tool.MPIS[flavour] in found, found)
        with open(path, encoding="utf-8") as file:
            text = file.read()
        for less in 1, 40:  # the last number looks whole; it does not
            with open(path, "w", encoding="utf-8") as file:
                file.write(text[:-less])
            done = subprocess.run([*words[:3], "--page", path], stderr=subprocess.PIPE, text=True, check=False)
            check("half a row is refused", done.returncode == 1 and "line %d is not a whole row" % len(text.splitlines()) in
                  done.stderr and "Traceback" not in done.stderr, done.stderr)
        with open(path, "w", encoding="utf-8") as file:
            file.write("something else\n")
        done = subprocess.run([*words[:3], "--page", path], stderr=subprocess.PIPE, text=True, check=False)
        check("another file is refused", done.returncode == 1 and "not a file of this program" in done.stderr, done.stderr)
