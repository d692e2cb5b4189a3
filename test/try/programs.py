# SPDX-License-Identifier: BSD-3-Clause
"""programs - `mortar try` with an MPI program: both ways to name it, failing programs, differing outputs.
usage: programs.py FLAVOUR PROGRAM"""
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
from run import LAUNCH, MORTAR  # noqa: E402

flavour, program = sys.argv[1:]
ENDS = {"OMPI_MCA_odls_base_sigkill_timeout": "0"}  # else Open MPI 4 takes a second to see a failed program off
FAST = {"MORTAR_START": "first"}


def complaints(errors):
    """What the programs wrote to standard error, in runs that failed."""
    said = ""
    for name in re.findall(r"(\S+)\.out, \.err", errors):
        with open(name + ".err", encoding="utf-8", errors="replace") as file:
            said += file.read()
    return said


def intel_failed(said):
    """Intel MPI itself fails in MPI_Init now and then where the processors are busy: natively 6 of 180 starts of two ranks."""
    return flavour.startswith("impi") and ("description in business card" in said or "KILLED BY SIGNAL: 11" in said)


def tries(*words, code=0, inside=(), options=()):
    """`mortar try` with the program on two ranks; inside: words in front of the program. (stdout, stderr)"""
    command = [MORTAR, "try", "-n", "1", *options, "--", LAUNCH, flavour, "2", *inside, program, *words]
    for _ in range(5):
        done = subprocess.run(["timeout", "-k", "5", "90", *command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, env={**os.environ, **ENDS, **FAST}, check=False)
        said = complaints(done.stderr)
        if not intel_failed(said):
            break
        for left in os.listdir(os.environ["TMPDIR"]):
            shutil.rmtree(os.path.join(os.environ["TMPDIR"], left))
    check("exit code %d: %s" % (code, " ".join([*inside, "tried", *words])), done.returncode == code,
          done.stdout + done.stderr + said)
    return done.stdout, done.stderr


def check(what, fine, shown=""):
    if not fine:
        sys.exit("wrong: %s\n%s" % (what, shown))
    print("ok: " + what)


with tempfile.TemporaryDirectory() as folder:
    os.environ["TMPDIR"] = folder
    for inside in (), (MORTAR, "run"), (MORTAR, "run", "--off", "exscan", "--heap", "off", "--"):
        out, errors = tries(inside=inside)
        check("a sentence each", [line.split(":")[0] for line in out.splitlines()][:5] ==
              ["whole program", "collectives", "memory", "output", "not certain"], out)
        check("mortar was at work", re.search(
            r"collectives: at most \d+\.\d+ s of \d+\.\d+ s of any rank in a run under mortar \(\d+ %\)", out) and
              "by the MPI library itself" not in out, out)
        check("memory of both", re.search(r"memory: [1-9]\d* MiB natively, [1-9]\d* MiB under mortar", out), out)
        check("the same output", "output: the same in all runs (words: 2)." in out, out)
        check("one pair is no interval", "an interval needs at least 6 pairs of runs" in out, out)
        check("progress", len(re.findall(r"^  \S.* native +\d\S* s  mortar +\d\S* s$", errors, re.M)) == 2, errors)
    if not flavour.startswith("impi"):  # see intel_failed
        end, closed = os.pipe()
        os.close(end)
        done = subprocess.run(["timeout", "90", MORTAR, "try", "-n", "1", "--", LAUNCH, flavour, "2", program],
                              stdin=subprocess.DEVNULL, stdout=closed, stderr=subprocess.PIPE, text=True,
                              env={**os.environ, **FAST}, check=False)
        os.close(closed)
        check("nobody reads what was found", "BrokenPipe" not in done.stderr, done.stderr)
    check("nothing is left", os.listdir(folder) == [], os.listdir(folder))
    out, _ = tries("clock")
    check("clocks are seen through", "output: all runs under mortar have what all native runs have (words: 2)." in out and
          "words of the output differ from run to run natively, too (1)" in out, out)
    out, _ = tries("differ")
    kept = re.search(r"the outputs differ\. A run under mortar lacks 'preloaded=0'; see (\S+) and (\S+)\n", out)
    check("a difference is seen", "output: differs." in out and kept, out)
    for path, value in zip(kept.groups(), "01"):
        with open(path, encoding="utf-8") as file:
            check("and kept", "preloaded=%s\n" % value in file.read(), path)
    for words, codes in (("fail", "33"), ("fail-preloaded", "03")):
        out, errors = tries(words, "3", code=1)
        said = re.search(r"natively: exit code (\d+); under mortar: exit code (\d+)\. What they printed is in (\S+)\.out", errors)
        # a launcher may turn the exit code into another one, but not into 0 or from it
        check("both exit codes: " + words, said and not out and [int(code) > 0 for code in said.groups()[:2]] ==
              [code > "0" for code in codes], out + errors)
        with open(said.group(3) + ".out", encoding="utf-8") as file:
            check("the output is kept", "ranks=2 sum=" in file.read(), said.group(3))
    keep = os.path.join(folder, "new", "kept")
    tries(options=("--output", keep))
    names = ["%s-%d.%s" % (side, n, end) for side in ("mortar", "native") for n in (0, 1) for end in ("err", "out")]
    check("--output keeps all", sorted(os.listdir(keep)) == [*names, "report.json"])
    with open(os.path.join(keep, "report.json"), encoding="utf-8") as file:
        check("with the report", json.load(file)["ranks"] == 2)
