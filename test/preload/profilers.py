# SPDX-License-Identifier: BSD-3-Clause
"""profilers - tools on MPI's profiling interface together with mortar: they count what they count without it.
usage: profilers.py TEST FLAVOUR"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import run  # noqa: E402
from run import Failure, Skip, mpi  # noqa: E402


def ranks(flavour):
    return 2 if flavour == "mpich4" else 4  # it spins: more ranks than processors take for ever


def preloading(library, program, after):
    """The words that start a program with one more library preloaded, before or after mortar's."""
    order = 'export LD_PRELOAD="%s"; shift; exec "$@"' % ("$LD_PRELOAD:$1" if after else "$1:$LD_PRELOAD")
    return ["/bin/sh", "-c", order, "sh", run.target(library), *program]


def some(flavour):
    """Of two functions, the last of which has a collective of its own; before mortar, behind it, and named to `mortar run`."""
    p, program, library = ranks(flavour), run.target("exchange-" + flavour), "profiler-%s.so" % flavour
    for after in (False, True):
        result = mpi(flavour, p, preloading(library, [program], after)).ok("%d ranks, 0 errors" % p, "profiler: 3 alltoalls")
        result.silent().took(3, collective="alltoall").took(2, collective="allgather")
    result = mpi(flavour, p, [program], env={"LD_PRELOAD": run.target(library)}).ok("%d ranks, 0 errors" % p)
    result.silent().took(3, collective="alltoall").took(2, collective="allgather")


def counted(flavour, words, seen=True):
    """Runs a program with a profiler, natively and through mortar: it counts the same. seen: mortar takes the calls too."""
    p = ranks(flavour)
    native, ours = (mpi(flavour, p, words, options).ok("%d ranks, 0 errors" % p) for options in (None, ()))
    # Launchers put what ranks print together, and may lose where a line ends.
    told = [sorted(re.findall(r"counter of rank \d+:(?: \w+ \d+)+", result.out)) for result in (native, ours)]
    native.check(len(told[0]) == p and all(" Init" in line and " Finalize 1" in line for line in told[0]), "no counts natively")
    ours.check(told[0] == told[1], "the profiler counts otherwise than natively: " + told[0][0]).silent()
    ours.check(ours.report is not None, "no report")
    return ours.check((ours.calls(collective="alltoall") > 0) == seen, "mortar took alltoalls: expected %s" % seen)


def every(flavour):
    """A profiler for every call, wherever it comes in the order of libraries: it and mortar see them all."""
    program = run.target("everycall-" + flavour)
    for words in (["everycall-linked-" + flavour], ["everycall-linked-" + flavour, "thread"], ["everycall-inside-" + flavour],
                  preloading("libcounter.so", [program], False), preloading("libcounter.so", [program], True)):
        result = counted(flavour, words)
        for name, calls in (("alltoallw", 2), ("barrier", 2), ("scatterv", 2), ("exscan", 2), ("neighbor_allgatherv", 3)):
            rows = result.collectives(collective=name)
            result.check(sum(row["calls"] for row in rows) == calls, "not all calls of %s arrived" % name)
    # One that finds the MPI library by itself gets all calls; behind mortar it leaves none for it.
    counted(flavour, ["everycall-itself-" + flavour], False)
    counted(flavour, preloading("libcounter-itself.so", [program], False))
    try:
        fortran = run.target("mpif-" + flavour)
    except Skip:
        return
    if not flavour.startswith("ompi"):  # the Fortran bindings of Open MPI call PMPI_X: no profiler for C sees that
        counted(flavour, preloading("libcounter.so", [fortran], True))


def test(name, *words):
    tests = {"some": some, "all": every}
    if name not in tests:
        raise Failure("no test %s" % name)
    tests[name](*words)


run.main(test)
