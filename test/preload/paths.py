# SPDX-License-Identifier: BSD-3-Clause
"""paths - data paths to buffers outside the shared heap, in an unmodified program: what ran, and what happens when a path is not
there, stops working, or moves less than it was asked for. A preloaded library plays the kernel.
usage: paths.py TEST FLAVOUR"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import run  # noqa: E402
from run import Skip, mpi, plans  # noqa: E402

RANKS = {"mpich4": 2}  # it spins: more ranks than processors take for ever
CMA = "pull(rows, plain, cma)"
NO_STAGE = ["--option", "SLOT=512"]  # staging would take many barriers, however short one is: its own choice is a path

XPMEM = "pull(rows, plain, xpmem)"


def outside(flavour, bytes, rounds, how="same", options=(), **kernel):
    """Three of four calls are alltoalls, the fourth is an allgather in place."""
    if not any("cma" in plan for plan in plans("alltoall")):
        raise Skip("process_vm_readv is not permitted here")
    p = RANKS.get(flavour, 4)
    env = {"TEST_CMA_" + name.upper(): str(value) for name, value in kernel.items()}
    env["LD_PRELOAD"] = run.target("libcma.so")
    words = ["outside-" + flavour, str(bytes), str(rounds), how]
    return mpi(flavour, p, words, options, env=env).ok("%d ranks, 0 errors" % p).silent()


def reads(result):
    found = re.findall(r"rank \d+: (\d+) reads, (\d+) refused", result.out)
    return sum(int(a) for a, _ in found), sum(int(b) for _, b in found)


def chosen(flavour):
    """Long blocks: mortar chooses CMA, whether it was known before the call that buffers are outside or not."""
    p = RANKS.get(flavour, 4)
    result = outside(flavour, 100000, 12, options=["--heap", "off", *NO_STAGE]).took(12, plan=CMA)
    expected = 9 * p * (p - 1) + 3 * p * (p - 1) + p * (p - 1)  # and the probes
    result.check(reads(result) == (expected, 0), "%s reads instead of %d" % (reads(result), expected))
    result = outside(flavour, 100000, 12, options=NO_STAGE)
    result.took(9, plan=CMA, collective="alltoall").took(3, plan=CMA, collective="allgather")
    outside(flavour, 100000, 12, "heap").took(0, plan=CMA).took(12)
    outside(flavour, 8, 12, options=["--heap", "off"]).took(12, plan="cico")


def forced(flavour):
    """Every mixture of buffers, in orders of both kinds."""
    for plan in (CMA, "pull(columns, plain, cma)"):
        for bytes in (1, 1000, 20000):
            result = outside(flavour, bytes, 40, "mixed", ["--plan", plan]).took(40, plan=plan)
            result.check(reads(result)[0] > 40, "CMA was not used")
    outside(flavour, 1000, 12, "heap", ["--plan", CMA]).took(12, plan=CMA)


def short(flavour):
    """The kernel stops early, as it does after 2 GiB."""
    p = RANKS.get(flavour, 4)
    result = outside(flavour, 20000, 8, options=["--plan", CMA], most=3001).took(8, plan=CMA)
    result.check(reads(result)[0] >= 8 * p * (p - 1) * 7, "only %d reads" % reads(result)[0])


def refused(flavour):
    """Not permitted on one rank: nobody uses it; and a forced plan is refused on all ranks."""
    result = outside(flavour, 100000, 12, options=["--heap", "off", *NO_STAGE], calls=0, rank=1).took(0, plan=CMA)
    result.check(reads(result)[1] > 0, "nothing was refused")
    outside(flavour, 1000, 8, options=["--plan", CMA], calls=0, rank=1).native(8, "does not do this here")


def foreign(flavour):
    """On one rank the peers' process ids, or segments, mean something else: it reads other bytes than it was told to look for."""
    result = outside(flavour, 1000, 8, options=["--plan", CMA], foreign=1, rank=1).native(8, "does not do this here")
    result.check(reads(result)[0] > 0, "CMA was not tried")
    result, _ = attached(flavour, 1000, 8, options=["--plan", XPMEM], foreign=1, rank=1)
    result.native(8, "does not do this here")


def lost(flavour):
    """Permission goes away on one rank, between two reads of one call: the call is staged on all ranks, and all later ones."""
    p = RANKS.get(flavour, 4)
    for fine in range(p - 1, 4 * (p - 1) + 2):
        result = outside(flavour, 100000, 12, options=["--heap", "off", *NO_STAGE], calls=fine, rank=1)
        alltoalls = (fine - (p - 1)) // (p - 1) + 1  # the last one was staged
        result.check(reads(result)[1] == 1, "%d reads were refused: the path was used again" % reads(result)[1])
        result.check(result.calls(plan=CMA) in (alltoalls, alltoalls + 1), "%d calls by CMA" % result.calls(plan=CMA))
        result = outside(flavour, 1000, 12, "mixed", ["--plan", "pull(columns, cma)"], calls=fine, rank=p - 1)
        result.check(result.calls(plan="pull(columns, plain, cma)") >= 9, "alltoalls left the forced plan")


# ---- XPMEM, by a stand-in library ----

def attached(flavour, bytes, rounds, how="mixed", options=(), **kernel):
    """Returns the result and how often each rank attached. Everything must have been given back."""
    p = RANKS.get(flavour, 4)
    env = {"TEST_XPMEM_" + name.upper(): str(value) for name, value in kernel.items()}
    options = [*options, "--option", "XPMEM=" + run.target("libxpmem.so.0")]
    result = mpi(flavour, p, ["outside-" + flavour, str(bytes), str(rounds), how, "shared"], options, env=env)
    result.ok("%d ranks, 0 errors" % p).silent()
    found = re.findall(r"rank \d+: (\d+) attached, all given back, 0 mistakes", result.out)
    result.check(len(found) == p, "not all ranks used XPMEM and gave everything back")
    return result, [int(count) for count in found]


def xpmem(flavour):
    """Every mixture of buffers in orders of both kinds; the windows in which a peer keeps its 3 places are attached once
    for all calls, one to three of them."""
    p = RANKS.get(flavour, 4)
    for plan in (XPMEM, "pull(columns, plain, xpmem)", "pull(morton, plain, xpmem)"):
        for bytes in (1, 1000, 20000):
            result, counts = attached(flavour, bytes, 40, options=["--plan", plan])
            result.took(40, plan=plan)
            result.check(all(p - 1 <= count <= 3 * (p - 1) for count in counts), "attached %s times" % counts)
    # its own choice
    attached(flavour, 100000, 12, "same", NO_STAGE)[0].took(12, plan=XPMEM)


def xpmem_lost(flavour):
    """A peer's memory cannot be attached on one rank any more: that call is staged, and all later ones."""
    p = RANKS.get(flavour, 4)
    plan = "pull(columns, plain, xpmem)"
    for fine in (p - 1, p):
        result, counts = attached(flavour, 20000, 12, options=["--plan", plan], attaches=fine, rank=1)
        result.check(result.calls(plan=plan) >= 9, "alltoalls left the forced plan")
        result.check(fine in counts, "attached %s times" % counts)
    attached(flavour, 20000, 12, options=["--plan", plan], attaches=0, rank=1)[0].native(12, "does not do this here")


def xpmem_missing(flavour):
    """No such library, and libxpmem without its module, which looks the same: a forced plan is not run, others are."""
    p = RANKS.get(flavour, 4)
    for library in ("no-such-library.so", "off"):
        result = mpi(flavour, p, ["outside-" + flavour, "100000", "8"], ["--option", "XPMEM=" + library]).ok().silent()
        result.took(0, plan=XPMEM)
        result = mpi(flavour, p, ["outside-" + flavour, "1000", "8"], ["--option", "XPMEM=" + library, "--plan", XPMEM])
        result.ok("%d ranks, 0 errors" % p).native(8, "does not do this here")


run.main(lambda name, flavour: globals()[name](flavour))
