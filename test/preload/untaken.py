# SPDX-License-Identifier: BSD-3-Clause
"""untaken - the report counts what mortar does not take: how often, how long, and nothing of mortar's own.
usage: untaken.py TEST FLAVOUR"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import run  # noqa: E402
from run import mpi, target  # noqa: E402

RANKS = {"mpich4": 2}  # it spins


def ranks(flavour):
    return RANKS.get(flavour, 3)


def counted(result):
    rows = result.report["not_taken"]
    result.check(isinstance(rows, list), "nothing was counted")
    return {row["function"]: row for row in rows}


def expect(result, expected):
    found = {name: row["calls"] for name, row in counted(result).items()}
    result.check(found == expected, "counted were %r instead of %r" % (found, expected))


def all_calls(result, p):
    persistent = {} if "MPI 3" in result.out else {"MPI_Allreduce_init": 7}
    expect(result, {"MPI_Ialltoall": 20, "MPI_Iallreduce": 12, "MPI_Ibarrier": 1, "MPI_Iscan": 1, "MPI_Put": 3, "MPI_Win_fence": 4,
                    **persistent})
    rows = counted(result)
    result.check(rows["MPI_Put"]["calls_of_all"] == 3 and rows["MPI_Win_fence"]["calls_of_all"] == 4 * p, "sums over ranks")
    waits = [rows[name]["seconds"] for name in ("MPI_Ibarrier", "MPI_Iscan")]
    result.check(0.15 < waits[0] < 30, "the wait for a late rank is not in its time")
    result.check(waits[1] < 0.7 * waits[0], "the same wait is in another one's time, too")
    result.check(0.15 < rows["MPI_Win_fence"]["seconds"] < 30, "the call's own time is not counted")
    result.check({rows[name]["kind"] for name in rows} >= {"nonblocking", "one-sided"}, "kinds")


def counts(flavour):
    """C; with a tool before mortar and behind it, which sees the same calls; as a table; on pretended nodes."""
    p, program, tool = ranks(flavour), "untaken-" + flavour, target("libuntakentool.so")
    done = "%d ranks, 0 errors" % p
    all_calls(mpi(flavour, p, [program]).ok(done).silent(), p)
    for how, words, env in (("linked", ["untaken-linked-" + flavour], {}), ("preloaded", [program], {"LD_PRELOAD": tool})):
        result = mpi(flavour, p, words, env=env).ok(done)
        result.check(result.out.count("the tool saw 20 and 21") == p, "a tool that is %s does not see the calls" % how)
        all_calls(result, p)
    result = run.run(run.command(flavour, p, [target(program)], ["--report", "-"])).ok(done)
    result.check(any(line.split()[:2] == ["MPI_Ialltoall", "20"] for line in result.err.splitlines()), "not in the table")


def own(flavour):
    """What mortar itself calls is not the program's; and without a report nothing is loaded that counts."""
    p = ranks(flavour)
    for env in ({}, {"MORTAR_NODES": "2"}):
        result = mpi(flavour, p, ["exchange-" + flavour], env=env).ok("%d ranks, 0 errors" % p)
        expect(result, {})
    env = dict(line.split("=", 1) for line in run.run([run.MORTAR, "run", "env"]).ok().out.splitlines() if "=" in line)
    result.check("libmortar-count" not in env["LD_PRELOAD"], "the counting library is loaded without a report")


def fortran(flavour):
    result = mpi(flavour, ranks(flavour), ["untakenf-" + flavour]).ok("%d ranks, 0 errors" % ranks(flavour)).silent()
    expect(result, {"MPI_Ibcast": 9, "MPI_Iallreduce": 1})


run.main_of(counts, own, fortran)
