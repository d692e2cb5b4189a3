# SPDX-License-Identifier: BSD-3-Clause
"""samples - measure/samples.py over a stand-in for perf, whose samples are known: which libraries have a row, what the sides had,
and what it says where there is no perf, no sample, or the program fails.
usage: samples.py FLAVOUR"""
import os
import re
import subprocess
import sys
import tempfile

from testing import ROOT, check, flavour

PERF = """#!/bin/sh
# `record` notes which side it is, by the words behind --; `report` prints that side's samples: 10 more in each run.
runs=$(cat "$COUNT" 2>/dev/null || echo 0)
case "$1 $*" in
record*fails*) echo it failed; exit 3 ;;
record*none*) echo none >"$SIDE" ;;
record*"mortar run --option HEAP=on prog x"*) echo mortar >"$SIDE" ;;
record*mortar*) exit 9 ;;
record*prog*) echo native >"$SIDE" ;;
report*)
    case $(cat "$SIDE") in
    mortar) echo "    60.00%  $((1200 + 10 * runs))  libown.so"; echo "  1.00%   7  libmortar-heap.so" ;;
    native) echo "    60.00%  $((1000 + 10 * runs))  libown.so" ;;
    none) exit 0 ;;
    esac
    for few in a b c; do echo "   0.05%  1  libfew-$few.so"; done
    echo $((runs + 1)) >"$COUNT" ;;
esac
"""


def run(folder, *words, path=None):
    env = dict(os.environ, PATH=path or folder + ":" + os.environ["PATH"], COUNT=os.path.join(folder, "count"),
               SIDE=os.path.join(folder, "side"))
    command = [sys.executable, "-B", os.path.join(ROOT, "measure", "samples.py"), "--mpi", flavour, *words]
    done = subprocess.run(command, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    return done.returncode, done.stdout, done.stderr


def main():
    with tempfile.TemporaryDirectory() as folder:
        perf = os.path.join(folder, "perf")
        with open(perf, "w", encoding="utf-8") as file:
            file.write(PERF)
        os.chmod(perf, 0o755)
        code, out, err = run(folder, "--turns", "3", "--ranks", "5", "--option", "HEAP=on", "--", "prog", "x")
        rows = {line.split()[0]: re.findall(r"(\d+) \((\d+)-(\d+)\)", line) + [line.split()[-1]] for line in out.splitlines()[1:]}
        check("it ends well", code == 0, err)
        # Each side is the first, the second and the third of a turn: runs 0, 5, 7 are native, 1, 3, 8 native again, 2, 4, 6 mortar.
        own = [("1050", "1000", "1070"), ("1030", "1010", "1080"), ("1240", "1220", "1260")]
        check("medians, least and most of each side", rows.get("libown.so", [])[:3] == own, out)
        check("the median of the differences, in parts of all", rows.get("libown.so", ["", ""])[-1] == "+18.0", out)
        check("mortar's libraries have a row", rows.get("libmortar-heap.so", [])[2:3] == [("7", "7", "7")], out)
        check("others with little share one", rows.get("other", [])[:1] == [("3", "3", "3")] and "libfew" not in out, out)
        check("all of them", rows.get("all", [])[2:3] == [("1250", "1230", "1270")], out)
        code, out, err = run(folder, "--turns", "1", "--", "fails")
        check("a program that fails is told of", code == 1 and "exit code 3" in err and "it failed" in err, err)
        code, out, err = run(folder, "--turns", "1", "--", "none")
        check("no samples", code == 1 and "perf has no samples of none" in err, err)
        code, out, err = run(folder, "--", "prog", path=os.path.join(folder, "empty"))
        check("no perf", code == 1 and "there is no perf here" in err, err)


if __name__ == "__main__":
    main()
