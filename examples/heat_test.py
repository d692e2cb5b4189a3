# SPDX-License-Identifier: BSD-3-Clause
"""heat_test - heat2d and heat3d, by themselves and under `mortar run`: every point as one rank computes it, the same hash however
many ranks there are, and the report proves that mortar took the neighbour calls, if it knows them.
usage: heat_test.py FLAVOUR RANKS..."""
import os
import re
import struct
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "test"))
import run  # noqa: E402
from run import mpi  # noqa: E402

ITERATIONS = 64
# program, the call it makes, points: 37 is divided by no number of ranks here, so boxes differ by one row or column
PROGRAMS = [("heat2d", "neighbor_alltoallv", 37), ("heat3d", "neighbor_alltoall", 9)]


def known(collective):
    """Has mortar a plan of its own for this collective?"""
    listed = run.run([run.MORTAR, "info", "--plans", collective])
    return listed.code == 0 and any(plan != "native" for plan in listed.out.split())


def heat(name, flavour, ranks, words, options=None):
    """Returns the result and what the program printed about it: {"hash": ...}."""
    result = mpi(flavour, ranks, ["%s-%s" % (name, flavour), "--iterations", str(ITERATIONS), *map(str, words)], options)
    result.ok("%s ranks=%d" % (name, ranks))
    return result, dict(re.findall(r"(\w+)=(\S+)", result.out))


def verified(flavour, counts):
    for name, collective, n in PROGRAMS:
        hashes = {}
        for ranks in counts:
            for options in (None, []):
                result, facts = heat(name, flavour, ranks, ["--n", n, "--verify"], options)
                result.ok("%s verify: 0 points differ" % name).silent()
                same = hashes.setdefault(facts["points"], facts["hash"])
                result.check(facts["hash"] == same, "the hash was %s before" % same)
            # a communicator of one rank may be left to the MPI library
            if ranks > 1 and known(collective):
                result.took(ITERATIONS, collective=collective)
        if name == "heat2d" and len(hashes) != 1:
            raise run.Failure("grids of different sizes: %s" % hashes)


def image(flavour):
    """A file that numpy reads: the values are those of the hot wall, of a cold one and between."""
    with tempfile.TemporaryDirectory() as folder:
        for name, shape in (("heat2d", (12, 12)), ("heat3d", (12, 6, 6))):
            path = os.path.join(folder, name + ".npy")
            heat(name, flavour, 2, ["--n", shape[-1], "--image", path])
            with open(path, "rb") as file:
                data = file.read()
            size = shape[0] * shape[1] * (shape[2] if len(shape) == 3 else 1)
            fine = data.startswith(b"\x93NUMPY\x01\x00\x76\x00") and len(data) == 128 + 8 * size and data[127:128] == b"\n"
            fine = fine and ("'shape': %s" % (shape,)).encode() in data[:128]
            values = struct.unpack("<%dd" % size, data[128:]) if fine else ()
            first, last = values[:shape[-1]], values[-shape[-1]:]
            if not fine or not all(20 < cold < hot < 100 for hot, cold in zip(first, last)):
                raise run.Failure("%s is no picture of %s:\n%r" % (path, shape, data[:400]))


def times(flavour):
    """heat-times writes each run into its file, and stops when mortar's field is another one."""
    script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "heat-times")
    words = [sys.executable, script, "--mpi", flavour, "--ranks", "1,2", "--n2", "16", "--n3", "4", "--iterations", "4"]
    words += ["--repeat", "2", "--ways", "native,auto"]
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "times.csv")
        result = run.run([*words, "--build", run.BUILD, "--csv", path])
        result.ok("heat3d 4                        2 2x1x1    8x4x4        auto")
        with open(path, encoding="utf-8") as file:
            lines = file.read().splitlines()
        rows = [line.split(",") for line in lines[1:]]
        result.check(len(rows) == 16 and all(row[6] in ("native", "auto") for row in rows), "the file is\n" + "\n".join(lines))
        none = os.path.join(folder, "none.csv")
        for more, said in (([], "expected --csv FILE and --draw PICTURE"), (["--draw", none + ".png"], "no native run to draw")):
            result = run.run([*words, "--repeat", "0", "--csv", none, *more])
            result.check(result.code == 2 and said in result.err or "matplotlib" in result.err, "no %r" % said)
        result.check(not os.path.exists(none), "a file without a run was made")
        os.mkdir(os.path.join(folder, "bin"))
        os.symlink(os.path.join(run.BUILD, "examples"), os.path.join(folder, "examples"))
        with open(os.path.join(folder, "bin", "mortar"), "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\nshift 3\n"$@" | sed s/hash=./hash=x/\n')
            os.chmod(file.name, 0o755)
        result = run.run([*words, "--build", folder])
        result.check(result.code != 0 and "another result: heat2d 16, 1 ranks, auto" in result.err, "no word of it")


def wrong_words(flavour):
    for name, _, _ in PROGRAMS:
        for words, said in ((["--n", "x"], "expected a number"), (["--n"], "expected a number"), (["--what"], "usage: "),
                            (["--n", "1", "--iterations", "-1"], "expected a number")):
            result = mpi(flavour, 2, ["%s-%s" % (name, flavour), *words], None, env=run.QUICK_END)
            result.check(result.code != 0 and said in result.err, "no %r" % said)
    result = mpi(flavour, 2, ["heat2d-" + flavour, "--n", "1"], None, env=run.QUICK_END)
    result.check(result.code != 0 and "more ranks than points" in result.err, "a rank without points")


def test(flavour, *counts):
    verified(flavour, [int(word) for word in counts])
    image(flavour)
    times(flavour)
    wrong_words(flavour)


run.main(test)
