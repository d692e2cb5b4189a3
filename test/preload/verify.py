# SPDX-License-Identifier: BSD-3-Clause
"""verify - MORTAR_VERIFY: calls are compared with the MPI library's, mistakes are found and taken back, and saved calls run again.
usage: verify.py right|wrong|replay FLAVOUR"""
import glob
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from run import BUILD, MORTAR, command, main, mpi, run, target  # noqa: E402

RANKS, CALLS = 4, 10
# kind: what mortar copies when the mistake is made: bytes, copies before it on that rank
KINDS = {"alltoall": (1000, 0), "allgather": (1000, 1), "alltoallw": (500, 0), "bcast": (1000, 0), "neighbor_alltoall": (1000, 0),
         "allreduce": (1000, 0)}


def wrong_memcpy():
    return os.path.join(BUILD, "test", "preload", "libwrong-memcpy.so")


def mistaken(kind, flavour, folder, options=("--option", "VERIFY=3")):
    """A run in which rank 2 makes one mistake, in a folder of its own for the saved cases."""
    size, after = KINDS[kind]
    env = {"WRONG_RANK": "2", "WRONG_BYTES": str(size), "WRONG_AFTER": str(after)}
    report = os.path.join(folder, "report.json")
    words = command(flavour, RANKS, [target("verified-" + flavour), kind, str(CALLS)], ["--report", report, *options])
    at = words.index(MORTAR)
    words[at:at] = ["env", "-C", folder, "LD_PRELOAD=" + wrong_memcpy()]
    return run(words, 60, env, report)


def right(flavour):
    """No difference where there is none, whatever the kind; every third call is looked at."""
    for kind in KINDS:
        result = mpi(flavour, RANKS, ["verified-" + flavour, kind, str(CALLS)], ["--verify", "3"]).ok("0 wrong calls").silent()
        row = result.collectives(collective=kind)[-1]
        most = sum(row.get("verified_calls", 0) for row in result.collectives(collective=kind))
        result.check(row["plan"] != "native" and 4 <= most <= 3 * 4, "%s: %d calls verified" % (kind, most))
        result.check(result.report["differences"] == 0 and result.report["verified_calls"] >= most, "differences, but no mistake")
    off = mpi(flavour, RANKS, ["verified-" + flavour, "alltoall", str(CALLS)]).ok("0 wrong calls").silent()
    off.check(off.report["verified_calls"] == 0, "verified without being asked")
    # An operation of the program's own runs twice only if the program's user says so.
    own = mpi(flavour, RANKS, ["verified-" + flavour, "users", "1"], ["--verify", "1"]).ok().silent()
    twice = sum(row.get("verified_calls", 0) for row in own.collectives(collective="allreduce"))
    own.check(twice == 0, "a program's operation ran twice")
    own = mpi(flavour, RANKS, ["verified-" + flavour, "users", "1"], ["--verify", "1", "--option", "VERIFY_OPS=on"]).ok()
    own.check(own.report["differences"] == 1 and "allreduce, call 1 on MPI_COMM_WORLD" in own.err, "the error was not found")


def wrong(flavour):
    """A mistake on one rank: the program never sees it, all ranks leave the class to the library, and the call is saved."""
    for kind in KINDS:
        with tempfile.TemporaryDirectory(dir=BUILD) as folder:
            result = mistaken(kind, flavour, folder).ok("0 wrong calls")
            where = "data byte %d of block" % (KINDS[kind][0] // 2) if kind != "allreduce" else "element 62, the MPI library"
            said = [line for line in result.lines() if where in line]
            result.check(len(said) == 1 and re.search(r"%s, call \d+ on .* of 4 ranks, by \S+" % kind, said[0]),
                         "%s: not one line that names the difference" % kind)
            native = [row for row in result.collectives(collective=kind, plan="native") if "differed" in row["reason"]]
            result.check(result.report["differences"] == 1 and native and native[0]["calls"] >= CALLS - 3,
                         "%s: the class did not stay with the MPI library" % kind)
            result.check(len(glob.glob(os.path.join(folder, "mortar-case-*"))) == 1, "%s: no saved case" % kind)


def replay(flavour):
    """A saved call is right without the mistake, and differs again with it. Bad input is named."""
    for kind in ("alltoallw", "bcast", "neighbor_alltoall"):
        with tempfile.TemporaryDirectory(dir=BUILD) as folder:
            mistaken(kind, flavour, folder).ok()
            (case,) = glob.glob(os.path.join(folder, "mortar-case-*"))
            again = ["env", "-C", folder, MORTAR, "replay", case]
            launch = command(flavour, RANKS, [], None)
            run([*launch, *again]).ok("%s on 4 ranks by" % kind, "10 calls compared with the MPI library's, all alike").silent()
            # The operands are copied before the call, too: on some ranks the first such copy is not the call's.
            found = [run([*launch, "env", "LD_PRELOAD=" + wrong_memcpy(), *again], env={
                "WRONG_RANK": "2", "WRONG_BYTES": str(KINDS[kind][0]), "WRONG_AFTER": str(after)}) for after in (0, 1)]
            differs = any(one.code == 1 and "the last one differed" in one.out for one in found)
            found[0].check(differs, "%s: no difference in replay" % kind)
            if kind != "bcast":
                continue
            few = run([*command(flavour, RANKS - 1, [], None), *again])
            few.check(few.code != 0 and "the call was made by 4 ranks, and here are 3" in few.err, "other number of ranks")
            with open(case, "rb") as file:
                whole = file.read()
            for damaged in (whole[:-2000], whole[:-1], whole.replace(b"blocks 1 0 1000 0", b"blocks 1 9000000000 1000 0", 1)):
                with open(case, "wb") as file:
                    file.write(damaged)
                cut = run([*launch, *again])
                cut.check(damaged != whole and cut.code != 0 and "it is damaged" in cut.err, "a damaged case")
    other = run([*launch, MORTAR, "replay", __file__])
    other.check(other.code != 0 and "no file that MORTAR_VERIFY of mortar" in other.err, "another file")
    empty = run([*launch, MORTAR, "replay", "/dev/null"])
    empty.check(empty.code != 0 and "/dev/null: the file is empty" in empty.err, "an empty file")
    none = run([*launch, MORTAR, "replay", "/nowhere"])
    none.check(none.code != 0 and "/nowhere: No such file" in none.err, "no such file")


main(lambda what, flavour: {"right": right, "wrong": wrong, "replay": replay}[what](flavour))
