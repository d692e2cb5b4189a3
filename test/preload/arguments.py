# SPDX-License-Identifier: BSD-3-Clause
"""arguments - every collective with every kind of wrong argument (arguments.c), with the MPI library alone and under `mortar
run`: the same error classes on the same ranks, and as many calls of the error handler. Where the library itself crashes or hangs on
a row, which it may, the row is left out.
usage: arguments.py TEST FLAVOUR"""
import fnmatch
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import run  # noqa: E402
from run import Failure  # noqa: E402

# Rows that this library does not survive. What is missing here costs another start, no more.
OPEN_MPI = ["*, no send buffer", "*, no receive buffer", "allgather, no communicator", "neighbor_allgather, no communicator",
            "alltoall[vw], room for one less*", "allgatherv, *room for*", "bcast, negative send count", "gather*, long, room*",
            "scatter, negative send count", "scatterv, no send type", "scatterv, uncommitted send type",
            "scatterv, negative send count", "scatterv, no elements of an uncommitted type", "exscan, *in place",
            "bcast, send in place", "gather*, send in place", "*, no *'s handle",
            "scatter*, send in place", "reduce, send in place", "*allgatherv, no receive counts", "scatterv, no send counts",
            "scatterv, no send displacements",
            # After it the next gatherv hung or crashed in 11 of 40 native runs of Open MPI 4, in 8 of 30 of Open MPI 5.
            "gather, *room for*"]
MPICH = ["allgather*, one buffer*for both", "allgatherv, room for one less*", "bcast, negative send count", "bcast, *in place",
         "bcast, no * buffer", "bcast, long, room*", "gather*, both in place", "gather*, long, room*", "scatter*, no send type",
         "scatter*, uncommitted send type", "scatter*, negative send count", "scatter*, *in place", "scatter*, no send buffer",
         "reduce*, both in place", "*scan, negative send count", "*reduce, negative send count",
         "reduce_scatter_block, negative send count", "neighbor*, *in place", "neighbor_*[vw], no topology",
         "gather*, send in place", "scatter*, own block received",
         "reduce, send in place", "*, no * counts", "*, no * displacements"]
MPICH5 = MPICH + ["bcast, *room for*", "*reduce*, no send type", "*reduce*, no elements of no type", "*scan, no send type",
                  "*scan, no elements of no type", "*reduce*, no type's handle", "*scan, no type's handle"]
INTEL = MPICH + ["gatherv, no receive*", "gatherv, uncommitted receive type", "gatherv, negative receive count",
                 "gatherv, own block for both", "gatherv, receive in place", "gatherv, *room for*", "scatter, *room for*",
                 "reduce, one buffer for both", "reduce, receive in place", "reduce, no receive buffer"]
DEADLY = {"ompi4": OPEN_MPI, "ompi5": OPEN_MPI, "mpich4": MPICH, "mpich5": MPICH5, "mpich5abi": MPICH5,
          "impi": INTEL, "impiabi": INTEL}
RANKS = {"mpich4": 2, "mpich5": 2, "mpich5abi": 2}  # they spin: more ranks than processors take for ever
NODES = "cyclic:2"  # of three ranks the root shares its node with one
SECONDS, STARTS = 20, 8


def names(flavour):
    words = run.command(flavour, 1, [run.target("arguments-" + flavour), "list"], None)
    lines = run.run(words, 20).ok().out.splitlines()
    return {int(line.split(" ", 1)[0]): line.split(" ", 1)[1] for line in lines}


def one_job(flavour, mode, out, options, limit, env=None):
    """What the rows gave until the end; the row that ended it; the class of a block that is too long."""
    words = [run.target("arguments-" + flavour), mode, str(limit), ",%s," % ",".join(map(str, sorted(out)))]
    result = run.run(run.command(flavour, RANKS.get(flavour, 3), words, options), 150, env)
    rows, begun = {}, None
    for line in result.out.splitlines():
        found = re.fullmatch(r"begin (\d+)|(\d+): ([\d/ ]+)", line)
        if found and found.group(1):
            begun = int(found.group(1))
        elif found:
            rows[int(found.group(2))] = found.group(3).split()
    end = re.search(r"class (\d+) for a block", result.out)
    if end:
        result.ok()
    return rows, None if end else begun, int(end.group(1)) if end else 0, result


def native(flavour, mode, rows, fit, seconds):
    """All rows of those that fit that the MPI library survives."""
    out = {row for row, name in rows.items() if any(fnmatch.fnmatch(name, pattern) for pattern in DEADLY[flavour])}
    out |= set(rows) - fit
    known = {}
    for _ in range(STARTS):
        more, deadly, truncated, result = one_job(flavour, mode, out | set(known), None, seconds)
        known.update(more)
        if not deadly:
            return known, truncated
        print("natively: not after %s" % rows[deadly])
        known.pop(deadly, None)
        out.add(deadly)
    raise Failure("the MPI library does not get through the rows: %s" % result.err)


def by_chance(flavour, rows, known):
    """{row: words}: of six native runs such a row had up to six outcomes, all of these words. Open MPI waits for all neighbours at
    once, and who is told what depends on who comes first."""
    chance = {row for row in known if flavour.startswith("ompi") and rows[row].startswith("neighbor") and "(unequal)" in rows[row]}
    words = {word for row in chance for word in known[row]}
    return dict.fromkeys(chance, words)


def alike(ours, theirs, unequal, truncated, chance):
    """Of all ranks: CLASS/CALLS."""
    if ours == theirs or not unequal:
        return ours == theirs
    # Libraries find by chance what does not fit together, call it this or that, tell those who sent it, and some say nothing.
    # In a call that is left to the library the ranks may have each other's words.
    cut, nothing = "%d/1" % truncated, "0/0"
    errors = {cut, *theirs} - {nothing}
    said = any(word != nothing for word in ours) or all(word == nothing for word in theirs)
    return said and all(our in chance or our in errors or (our == nothing and their != cut) for our, their in zip(ours, theirs))


def compare(flavour, mode, rows, known, truncated, options, env=None):
    out = set(rows) - set(known)
    found, deadly, _, result = one_job(flavour, mode, out, options, SECONDS, env)
    if not found:
        raise Failure("the job does not begin under mortar (exit code %d)\n%s" % (result.code, result.err))
    if deadly:
        raise Failure("%s does not return under mortar; natively %r\n%s" % (rows[deadly], known[deadly], result.err))
    chance = by_chance(flavour, rows, known)
    wrong = ["%s: %s instead of %s" % (rows[row], " ".join(found[row]), " ".join(known[row])) for row in sorted(known)
             if not alike(found[row], known[row], "(unequal)" in rows[row], truncated, chance.get(row, ()))]
    print("%s %s%s: %d rows, %d left out" % (mode, " ".join(options), env or "", len(known), len(out)))
    if wrong:
        raise Failure("%d rows differ:\n%s" % (len(wrong), "\n".join(wrong)))


def everybody(flavour, *plans):
    """All ranks make the same mistake."""
    run.need(flavour)
    rows = names(flavour)
    known, truncated = native(flavour, "all", rows, set(rows), 5)
    # Where the root is refused the others' call may return, natively as well as under mortar, or wait for it.
    known = {row: said for row, said in known.items()
             if not rows[row].startswith(("reduce,", "scatterv, no elements, no send")) or len(set(said)) == 1}
    for options in [[]] + [["--plan", plan] for plan in plans]:
        compare(flavour, "all", rows, known, truncated, options)


def nodes(flavour, *plans):
    """The same over several nodes, by the model's choice and by plans of each kind."""
    run.need(flavour)
    rows = names(flavour)
    known, truncated = native(flavour, "all", rows, set(rows), 5)
    # What Open MPI takes for blocks of no bytes is here a root that has lost them.
    known = {row: said for row, said in known.items()
             if rows[row] not in ("scatter, no send type", "scatter, uncommitted send type")
             and (not rows[row].startswith("reduce,") or len(set(said)) == 1)}
    # Where only some ranks are refused the others may wait for them: in plans with a barrier they do, and mortar may choose one.
    known = {row: said for row, said in known.items() if "(unequal)" in rows[row] or len(set(said)) == 1}
    for options in [[]] + [["--plan", plan] for plan in plans]:
        compare(flavour, "all", rows, known, truncated, options, {"MORTAR_NODES": NODES})


def alone(flavour):
    """One rank makes it, and its handler leaves by longjmp. What all ranks are refused, one is refused alone."""
    run.need(flavour)
    rows = names(flavour)
    refused, _ = native(flavour, "all", rows, set(rows), 5)
    fit = {row for row, all_said in refused.items() if "(unequal)" not in rows[row] and
           (all(said[0] != "0" for said in all_said) or rows[row].endswith("nothing wrong"))}
    known, truncated = native(flavour, "lone", rows, fit, 5)
    compare(flavour, "lone", rows, known, truncated, [])


run.main_of(everybody, nodes, alone)
