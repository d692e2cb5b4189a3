# SPDX-License-Identifier: BSD-3-Clause
"""figures - the report's figures fit each other, also where a rank is in several communicators of the same size.
usage: figures.py TEST FLAVOUR"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import run  # noqa: E402
from run import mpi  # noqa: E402

RANKS = {"mpich4": 2, "mpich5": 2}  # they spin: more ranks than processors take for ever


def ranks(flavour):
    return RANKS.get(flavour, 4)


def star(flavour):
    """A rank that is late in several communicators did not make anybody wait longer than the row's own time. It is not the one
    that spends most seconds, so its calls are not the row's. Each communicator is set up once."""
    p = ranks(flavour)
    result = mpi(flavour, p, ["star-" + flavour], ["--plan", "cico"]).ok("%d ranks, 0 errors" % p).silent()
    row = result.collectives(collective="alltoall")[0]
    late = row["late"][0]
    result.check(late["rank"] == 0 and late["times"] <= 21, "others waited %r" % late)
    result.check(late["seconds"] <= row["seconds"] * 1.0001, "others waited %g s of %g" % (late["seconds"], row["seconds"]))
    result.check(row["calls"] == 21, "the rank that waited longest made 21 calls, not %d" % row["calls"])
    teams = sum(team["count"] for team in result.report["teams"] if team["ranks"] == 2)
    result.check(p == 2 or teams == p - 1, "%d communicators instead of %d" % (teams, p - 1))


def unmoved(flavour):
    """Buffers on the stack: what holds no whole page has not moved."""
    result = mpi(flavour, ranks(flavour), ["star-" + flavour], ["--plan", "pull(rows)"]).ok()
    result.check(result.report["moved"]["buffers"] == 0, "moved: %r" % result.report["moved"])


def received(flavour):
    """What all ranks receive; where one rank does not know it, or mortar has not looked, it is not made up."""
    p = ranks(flavour)
    blocks = {"alltoall": p * p, "allgather": p * p, "bcast": p - 1, "gather": p, "scatter": p, "reduce": 1, "allreduce": p,
              "scan": p, "exscan": p - 1, "reduce_scatter_block": p}
    for env in ({}, {"MORTAR_START": "paid"}, {"MORTAR_OFF": "all"}):
        result = mpi(flavour, p, ["received-" + flavour], env=env).ok()
        for row in result.collectives(collective=None):
            all_bytes = row["calls"] * 1000 * blocks.get(row["collective"], 0)
            fits = {None} if all_bytes == 0 or "not yet paid" in (row["reason"] or "") else {all_bytes}
            result.check(row["bytes"] in fits, "%s: %r bytes, not %r" % (row["collective"], row["bytes"], fits))
        result.check(len({row["collective"] for row in result.collectives(collective=None)}) == 16, "not all collectives")


run.main_of(star, unmoved, received)
