# SPDX-License-Identifier: BSD-3-Clause
"""corners - operands and ranks that a program right by the standard has now and then: operations that count on alignment,
mappings that come and go, elements and distances longer than an int can say, processes that look dead, ranks that never wait.
usage: corners.py TEST FLAVOUR RANKS"""
import os
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import run  # noqa: E402
from run import Failure  # noqa: E402

AS_USERS = {"MORTAR_START": "paid", "MORTAR_TUNE": "watch"}


def operands(flavour, ranks):
    """Operands of a user's operation lie at multiples of 16, as natively; by default, from the first call, over nodes."""
    run.need(flavour)
    for env, calls in ((AS_USERS, "3000"), ({}, "300"), ({"MORTAR_NODES": "2"}, "100"), ({"MORTAR_HEAP": "off"}, "100")):
        words = run.command(flavour, ranks, [run.target("operands-" + flavour), calls])
        run.run(words, 100, env).ok("%s ranks, 0 errors, 0 odd operands" % ranks).silent()


def mapped(flavour, ranks):
    """Buffers in the program's own mappings move, and these come and go as they do without mortar."""
    run.need(flavour)
    first, forced = {"MORTAR_START": "first", "MORTAR_TUNE": "watch"}, ["--plan", "pull(rows)"]
    nodes = {"MORTAR_NODES": "2"}
    for env, rounds, options, least in ((first, "600", forced, 20), (AS_USERS, "2000", [], 0), (nodes, "600", [], 0)):
        program = [run.target("mapped-" + flavour), rounds]
        result = run.mpi(flavour, ranks, program, options, seconds=100, env=env).ok("%s ranks, 0 errors" % ranks).silent()
        moved = result.report["moved"]
        result.check(moved["buffers"] >= least * int(ranks), "hardly a buffer has moved: %r" % moved)
        print("%d buffers, %d MiB" % (moved["buffers"], moved["bytes"] >> 20))


def watched(flavour, ranks):
    """UCX, which overwrites functions of the C library, sees what it sees natively of memory that goes away."""
    run.need(flavour)
    program = [run.target("watched-" + flavour)]
    natively = run.run(run.command(flavour, ranks, program, None), 60, {}).ok("unmapped").out
    if "-1" in natively:
        raise run.Skip("this MPI has no UCX")
    for env in ({"MORTAR_START": "first"}, {"MORTAR_HEAP": "aside"}):
        result = run.run(run.command(flavour, ranks, program), 60, env).ok(natively.strip())
    print(result.out.strip())


def undead(flavour, ranks):
    """A rank whose first thread has ended, or that has left MPI, is not dead: nobody gives up waiting for another one."""
    run.need(flavour)
    early = {"OMPI_MCA_async_mpi_finalize": "1"}
    for env in ({}, AS_USERS):
        for word, more in (("thread", {}), ("gone", early)):
            words = run.command(flavour, ranks, [run.target("undead-" + flavour), word])
            result = run.run(words, 40, {**env, **more}).ok()
            result.check(result.err.count(": 0 errors") == int(ranks), result.err)


def hungry(flavour, ranks):
    """A rank that never waits gets its messages on by its calls, as it does natively."""
    run.need(flavour)
    program = [run.target("hungry-" + flavour), "3000", "16000000"]
    pieces = {"OMPI_MCA_btl_vader_single_copy_mechanism": "none", "OMPI_MCA_btl_sm_use_xpmem": "0"}

    def calls(words, env):
        result = run.run(words, 60, {**env, **pieces}).ok("calls")
        return int(re.search(r"(\d+) calls", result.out).group(1))

    natively = calls(run.command(flavour, ranks, program, None), {})
    for env in ({}, AS_USERS):
        under = calls(run.command(flavour, ranks, program), env)
        print("%d calls natively, %d under mortar" % (natively, under))
        if under > 2 * natively + 100:
            raise Failure("%d calls got the message on, natively %d" % (under, natively))


def elements(flavour, ranks):
    """An element of more than 2 GiB whose type has no layout."""
    run.need_memory(15)
    run.need(flavour)
    for env in ({}, {"MORTAR_NODES": "2"}):
        words = run.command(flavour, ranks, [run.target("elements-" + flavour)])
        run.run(words, 150, env).ok("0 errors in 2.0 GiB").silent()


def beyond(flavour, ranks):
    """Over nodes, blocks that begin more than 2 GiB apart on some rank, with the MPI library inside a plan, and by default."""
    run.need_memory(12)
    for name, plan in (("gatherv", "universal(native)"), ("scatterv", "universal(native)"), ("alltoallv", "leader(1, native)"),
                       ("alltoallv", "exchange(native, pull(rows, plain))")):
        env = {"MORTAR_NODES": ranks, "MORTAR_PLAN": plan}
        result = run.mpi(flavour, ranks, ["beyond-" + flavour, name], (), 100, env)
        result.ok("0 errors").took(3, collective=name, plan=plan).silent()
    words = run.command(flavour, ranks, [run.target("beyond-" + flavour), "alltoallv"])
    run.run(words, 100, {**AS_USERS, "MORTAR_NODES": ranks}).ok("0 errors").silent()


def pinned(flavour, ranks):
    """Memory that windows expose, or that a GPU's driver has registered, stays where it is as long as it is, and moves then."""
    run.need(flavour)
    drivers = [run.target("libcuda.so.1"), run.target("libhsa-runtime64.so.1")]
    moves = "shared: other %s, meanwhile 0, afterwards %s" % (ranks, ranks)
    for kind in ["create", "attach", "allocate"] + drivers:
        words = run.command(flavour, ranks, [run.target("pinned-" + flavour), kind])
        result = run.run(words, 60, {"MORTAR_DEVICES": "ask"}).ok("0 errors").silent()
        if kind != "allocate":  # its memory may be shared natively
            result.ok(moves)
        run.run(words, 60, {**AS_USERS, "MORTAR_DEVICES": "ask"}).ok("0 errors").silent()
    if not flavour.startswith("ompi"):  # which takes few. Minutes where each block walked to its note
        words = run.command(flavour, ranks, [run.target("pinned-" + flavour), "150000"])
        run.run(words, 60).ok("is done").silent()


def surroundings(flavour, ranks):
    """One rank clears its environment, or a thread changes it all the time, with options set; and traps for floating point."""
    run.need(flavour)

    def runs(env, *words):
        command = run.command(flavour, ranks, [run.target("surroundings-" + flavour)] + list(words))
        run.run(command, 100, env).ok("0 errors").silent()

    for tune in ("watch", "online"):
        runs({"MORTAR_START": "paid", "MORTAR_TUNE": tune, "MORTAR_REGRET": "50"}, "clears")
    runs({}, "sets", "40", "30")
    for env in ({}, AS_USERS, {"MORTAR_NODES": "2"}, {**AS_USERS, "MORTAR_NODES": "2"}):
        runs(env, "traps", "20", "100")


def behind(flavour, ranks):
    """Behind a collective a look finds what was sent before it, MPI_Cancel is too late for it, and MPI_Bsend has room, as
    natively; a report counts looks. Of many messages natively some may be missing on more than 2 ranks. A look ends with what it
    finds."""
    run.need(flavour)
    for word in ("looks", "buffers", "cancels", "yields") + ("many",) * (ranks == "2"):
        for env in ({}, AS_USERS, {"MORTAR_NODES": "2"}):
            words = run.command(flavour, ranks, [run.target("behind-" + flavour), word, "600"])
            run.run(words, 60, env).ok("%s ranks, 0 overlooked" % ranks).silent()
    run.mpi(flavour, ranks, ["behind-" + flavour, "looks", "300"]).ok(", 0 overlooked").silent()


def locked(flavour, ranks):
    """The library is driven behind a collective while another thread's operation, in the library, waits for what this one holds."""
    run.need(flavour)
    for env in ({}, AS_USERS):
        words = run.command(flavour, ranks, [run.target("locked-" + flavour), "400"])
        run.run(words, 60, env).ok("%s ranks, 0 errors" % ranks).silent()


def repeated(flavour, ranks):
    """More edges than ranks, on a node and over nodes, where tables of blocks lie in the team's memory (src/mpi/sizes.c)."""
    run.need(flavour)
    for env in ({}, {"MORTAR_NODES": "2"}):
        words = run.command(flavour, ranks, [run.target("repeated-" + flavour)])
        run.run(words, 40, env).ok("%s ranks, 0 errors" % ranks).silent()


def tables(flavour, ranks):
    """Counts, displacements and types that peers cannot read, from the first call and by default."""
    run.need(flavour)
    for env in ({}, AS_USERS):
        words = run.command(flavour, ranks, [run.target("tables-" + flavour)])
        run.run(words, 60, env).ok("%s ranks, 0 errors" % ranks).silent()


run.main_of(mapped, watched, behind, locked, pinned, surroundings, operands, undead, hungry, elements, beyond, repeated, tables)
