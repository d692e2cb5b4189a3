# SPDX-License-Identifier: BSD-3-Clause
"""testing - what the tests of `mortar bench` and `mortar tune` share: starting them, reading what they printed and wrote. The first
word of a test's command line is the MPI."""
import csv
import json
import os
import subprocess
import sys

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MPI = os.path.join(ROOT, "scripts", "mpi")
sys.path.insert(0, os.path.join(ROOT, "measure"))
flavour = sys.argv[1]
for name in list(os.environ):
    if name.startswith("MORTAR_") and name != "MORTAR_MPIS":
        del os.environ[name]
if flavour.endswith("abi"):  # the launcher's own ABI would be taken
    mpis = os.environ.get("MORTAR_MPIS", os.path.join(ROOT, "build", "mpis"))
    os.environ["MORTAR_MPI"] = os.path.join(mpis, flavour[:-3], "lib", "libmpi_abi.so.1")
QUICK_END = {"OMPI_MCA_odls_base_sigkill_timeout": "0"}  # else Open MPI 4 takes a second to see a failed program off


def run(*command, code=0, ranks=2, seconds=50):
    """What the program printed, and its complaints. Of the exit code only whether it is 0 counts."""
    # the launchers of Open MPI say much when a program fails, those of MPICH turn its exit code into another one
    done = subprocess.run([MPI, flavour, str(ranks), *command], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=seconds, env={**QUICK_END, **os.environ})
    if (done.returncode == 0) != (code == 0):
        sys.exit("exit code %d, expected %d: %s\n%s%s" % (done.returncode, code, command, done.stdout, done.stderr))
    return done.stdout, done.stderr


def check(what, fine, shown=""):
    if not fine:
        sys.exit("wrong: %s\n%s" % (what, shown))
    print("ok: " + what)


def refuses(start, rows):
    """Each row: the words that start(*words, code=2) gets, and what the one complaint says. Nothing else is printed."""
    for words, expected in rows:
        out, errors = start(*words, code=2)
        check("refused: " + " ".join(words), errors.count(expected) == 1 and not out, out + errors)


def rows_of(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def load(path):
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def table(text):
    """The words of each line that begins with a size."""
    return [line.split() for line in text.splitlines() if line.startswith("  ") and line[:9].strip()[:1].isdigit()]
