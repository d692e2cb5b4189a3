# SPDX-License-Identifier: BSD-3-Clause
"""comms - life and death of communicators: attribute callbacks, messages under way, processes of other jobs, sessions.
usage: comms.py TEST FLAVOUR RANKS"""
import os
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import run  # noqa: E402
from run import Failure, mpi  # noqa: E402

# Open MPI reaches processes of another job over TCP only.
BETWEEN_JOBS = {"ompi4": {"OMPI_MCA_btl": "self,vader,tcp"}, "ompi5": {"OMPI_MCA_btl": "self,sm,tcp"}}
CALLS = 5  # of each collective on each communicator


def callbacks(flavour, ranks):
    for words in ([], ["one"]):
        mpi(flavour, ranks, ["callbacks-" + flavour, *words], seconds=40).ok("%s ranks, 0 errors" % ranks).silent()


def pending(flavour, ranks):
    for nodes, words in (("0", ["threads"]), ("2", []), ("2", ["threads"])):
        result = mpi(flavour, ranks, ["pending-" + flavour, *words], seconds=40, env={"MORTAR_NODES": nodes})
        result.ok("%s ranks, 0 errors" % ranks).silent()


def strangers(flavour, ranks):
    """What a communicator with strangers is left alone, on both sides; what has none is mortar's as ever."""
    result = mpi(flavour, ranks, ["strangers-" + flavour, "spawn"], seconds=40, env=BETWEEN_JOBS.get(flavour))
    result.ok("parents: %s ranks, 0 errors" % ranks).silent()
    if "cannot spawn" in result.out:
        print("no spawn")
    else:
        result.check("children: %s ranks, 0 errors" % ranks in result.out, "nothing of the children")
        result.took(2 * CALLS, collective="alltoall")  # the world, and the parents' side of what was merged
        result.native(3 * CALLS, "processes of another job", collective="alltoall")
    result = mpi(flavour, ranks, ["strangers-" + flavour, "connect"], seconds=40, env=BETWEEN_JOBS.get(flavour))
    result.ok("parents: %s ranks, 0 errors" % ranks).silent()
    if "cannot connect" in result.out:
        print("no connections")
    else:
        result.native(0, "processes of another job")


def sessions(flavour, ranks):
    """Without MPI_COMM_WORLD there is no mortar. Other MPIs fail natively when sessions come and go."""
    for words in [[], ["many"]] if flavour == "mpich5" else [[]]:
        result = mpi(flavour, ranks, ["sessions-" + flavour, *words], seconds=40).silent()
        result.ok(*("rank %d of %s: 0 errors" % (r, ranks) for r in range(int(ranks))))


def test(name, flavour, ranks):
    tests = {f.__name__: f for f in (callbacks, pending, strangers, sessions)}
    if name not in tests:
        raise Failure("no test %s" % name)
    tests[name](flavour, ranks)


run.main(test)
