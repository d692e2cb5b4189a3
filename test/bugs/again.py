# SPDX-License-Identifier: BSD-3-Clause
"""again - calls that come again, which mortar remembers (src/mpi/known.c), types that do not (src/mpi/fresh.c), blocks of malloc,
both kinds (heap/blocks.h), and trials among them (src/mpi/beside.c).
usage: again.py TEST FLAVOUR RANKS"""
import os
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import run  # noqa: E402


def shortcuts(flavour, ranks):
    """Nothing is remembered while a report is wanted from the start, so the program asks for one at its end."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        run.need(flavour)
        words = run.command(flavour, ranks, [run.target("shortcuts-" + flavour), report])
        run.run(words, 60, {"MORTAR_NODES": "2", "MORTAR_TUNE": "watch"}, report).ok("%s ranks, 0 errors" % ranks)
        result = run.run(words, 60, {}, report).ok("%s ranks, 0 errors" % ranks)
        print(result.out.strip())
        for collective, calls in (("alltoall", 150), ("bcast", 150), ("scan", 150), ("reduce", 1000)):
            found = result.calls(True, collective=collective) + result.calls(False, collective=collective)
            result.check(found >= calls, "%d calls of %s in the report instead of %d" % (found, collective, calls))


def ahead(flavour, ranks):
    """Trials of the MPI library's own reduce, whose sums may differ, do not make ranks wait for a late root."""
    env = {"MORTAR_START": "first", "MORTAR_TUNE": "watch"}
    result = run.mpi(flavour, ranks, ["ahead-" + flavour, "1000"], seconds=100, env=env).ok("%s ranks, 0 errors" % ranks)
    waited = int(result.out.split("calls")[1].split()[1])
    result.check(waited <= 20, "%d of 500 calls waited for their root" % waited)


def all_in_report(flavour, ranks, program, kinds):
    """The program repeats calls of these kinds, prints how many, and writes the report."""
    with tempfile.TemporaryDirectory() as folder:
        report = os.path.join(folder, "report.json")
        run.need(flavour)
        for tune in ("watch", "off"):
            words = run.command(flavour, ranks, [run.target("%s-%s" % (program, flavour)), report])
            result = run.run(words, 60, {"MORTAR_START": "first", "MORTAR_TUNE": tune}, report).ok("%s ranks, 0 errors" % ranks)
            for kind, calls in zip(kinds, map(int, result.out.split("calls")[1].split())):
                found = result.calls(True, collective=kind) + result.calls(False, collective=kind)
                result.check(found == calls, "%d calls of %s in the report instead of %d" % (found, kind, calls))


def alike(flavour, ranks):
    """As shortcuts, of calls that mortar runs; each of them is in the report."""
    all_in_report(flavour, ranks, "alike",
                  ("bcast", "gather", "scatter", "reduce", "allreduce", "alltoall", "allgather", "scan", "reduce_scatter_block"))


def lists(flavour, ranks):
    """As alike, of calls with counts for each block."""
    all_in_report(flavour, ranks, "lists",
                  ("alltoallv", "alltoallw", "allgatherv", "gatherv", "scatterv", "neighbor_alltoallv", "neighbor_alltoallw",
                   "neighbor_allgatherv"))


def counted(flavour, ranks):
    """Calls that come again with types that constructors with large counts have made."""
    run.need(flavour)
    for start in ("paid", "first"):
        words = run.command(flavour, ranks, [run.target("counted-" + flavour), "80"])
        run.run(words, 60, {"MORTAR_START": start}).ok("%s ranks, 0 errors" % ranks).silent()


def steady(flavour, ranks):
    """Calls that come again are not examined: but two, or three with lists, on each communicator. A hundred find places, too."""
    run.need(flavour)
    for plan in ("", "native", "cico", "pull(rows)", "mailbox", "slices", "arrival"):
        options = ["--option", "REDUCE=arrival"] if plan == "arrival" else []
        words = [run.target("steady-" + flavour)] + ([plan] if plan else [])
        result = run.run(run.command(flavour, ranks, words, options), 60).ok("each of 500 calls; 0 wrong")
        found = re.findall(r"(\w+, \d+ ints): (\d+)", result.out)
        beside, hundred = map(int, re.findall(r", of \d+: (-?\d+)", result.out))
        result.check(len(found) == 64 and 0 <= beside <= 10, "%d lines; %d, beside communicators that end" % (len(found), beside))
        result.check(200 <= hundred < 5000, "of a hundred calls in a loop %d were examined" % hundred)
        for what, examined in found:
            own = re.match("bcast_(pairs|gaps)|alltoall_pairs|.*_own", what)  # types or operations of its own
            old = re.match("dozen|barrier", what)  # the same calls have come before
            least, most = 0 if old else 2, 200 if what.startswith("dozen") else 150 if own else 6
            result.check(least <= int(examined) <= most, "%s: %s calls were examined with plan %r" % (what, examined, plan))


def fresh(flavour, ranks):
    """Types made for a call, by each rank its own: right, and such a call is known the third time. One used on gets a layout."""
    run.need(flavour)
    # Intel's own allgather fails, also where a communicator has not yet paid.
    own = () if flavour.startswith("impi") else ("--plan native", "--option VERIFY=7", "--option START=paid --option TUNE=online")
    for options in ("", "--plan pull(rows)", "--option NODES=2", *own):
        words = [run.target("fresh-" + flavour), "1"]
        result = run.run(run.command(flavour, ranks, words, options.split()), 60).ok("0 errors").silent()
        made, again = map(int, re.search(r"(\d+) with new types, (\d+) with one", result.out).groups())
        result.check(options or (made < 10 and 60 < again < 150), "examined: %d with new types, %d with one" % (made, again))


def blocks(flavour, ranks):
    """Blocks made before and after MPI_Init: where they lie, and that calls on them are right, first as users run them."""
    run.need(flavour)
    as_users = "--option START=paid --option TUNE=online"
    for options, own in ((as_users, True), ("", True), ("--option NODES=2", True), ("--option HEAP=off", False)):
        words = run.command(flavour, ranks, [run.target("blocks-" + flavour)], options.split())
        result = run.run(words, 90).ok("%s ranks, 0 errors" % ranks).silent()
        print(result.out.strip())
        before, _, after, all_after = map(int, re.findall(r"\d+", result.out.splitlines()[0]))
        result.check(before == 0, "%d short blocks made before MPI_Init in the region" % before)
        result.check(after == (all_after if own else 0) and all_after > 0, "%d of %d made after it" % (after, all_after))


def early(flavour, ranks):
    """A communicator's first sums: one that comes again is not examined, and ranks that do not remember alike stay together."""
    run.need(flavour)
    words = run.command(flavour, ranks, [run.target("early-" + flavour)])
    for start, tune in (("paid", "watch"), ("early", "off"), ("first", "off")):
        result = run.run(words, 60, {"MORTAR_START": start, "MORTAR_TUNE": tune}).ok("%s ranks, 0 errors" % ranks).silent()
        examined = int(result.out.split("errors,")[1].split()[0])
        result.check(0 < examined < 5, "%d of 300 sums were examined" % examined)


def crowded(flavour, ranks):
    """Where many ranks share a processor, as all of them know, mortar begins with sums after 256, else after 1024 of them; as users
    run it, and then with sums of several lengths among other traffic."""
    as_users = {"MORTAR_START": "paid", "MORTAR_TUNE": "watch"}
    for most, last, left in ((1 << 20, 1 << 20, 256), (1 << 20, 1, None), (1, 1, None)):
        local = "n=%d; test ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} = %d && n=%d; " % (most, int(ranks) - 1, last)
        shell = ["/bin/sh", "-c", local + 'OMPI_COMM_WORLD_LOCAL_SIZE=$n MPI_LOCALNRANKS=$n exec "$@"', "sh"]
        result = run.mpi(flavour, ranks, [*shell, run.target("crowded-" + flavour)], env=as_users)
        result.ok("%s ranks, 0 errors" % ranks).silent()
        for many in range(max(3, int(ranks) - 1), int(ranks) + 1):  # two ranks have one sum
            result.took(400 - left if left else 0, collective="allreduce", ranks=many)
        if left:
            result = run.mpi(flavour, ranks, [*shell, run.target("early-" + flavour)], env=as_users)
            result.ok("%s ranks, 0 errors" % ranks).silent()


def seen(flavour, ranks):
    """Young communicators: a call like an earlier one is not examined, on a new communicator either; ranks that do not remember
    alike stay together; a call that the library refuses for its buffers is refused again, one that Open MPI lets pass is not."""
    run.need(flavour)
    words = run.command(flavour, ranks, [run.target("seen-" + flavour)])
    for start, tune in (("paid", "watch"), ("paid", "off"), ("early", "off"), ("first", "off")):
        result = run.run(words, 60, {"MORTAR_START": start, "MORTAR_TUNE": tune}).ok("%s ranks, 0 errors" % ranks).silent()
        turns, _, many, _ = map(int, result.out.split("examined")[1].replace("of", " ").replace("and", " ").split())
        if start != "first":
            result.check(0 < turns < 20 and 0 < many < 20, "%d and %d calls were examined" % (turns, many))


def full(flavour, ranks):
    """The region is full: copies of vectors that cannot move lie in the program's own memory, and what peers read is right."""
    run.need(flavour)
    words = run.command(flavour, ranks, [run.target("full-" + flavour)], ["--option", "HEAP_BYTES=64M"])
    for start, tune in (("first", "off"), ("paid", "watch")):
        result = run.run(words, 60, {"MORTAR_START": start, "MORTAR_TUNE": tune}).ok("%s ranks, 0 errors" % ranks).silent()
        freed = int(result.out.split("errors,")[1].split()[0])
        result.check(freed >= 20 * int(ranks), "only %d blocks were freed in the region" % freed)


def digits(flavour, ranks):
    """The digits of long sums do not show where the vectors lie, nor whether they have moved yet; as users run it, in each run."""
    run.need(flavour)
    as_users = "--option START=paid --option TUNE=watch".split()
    words = run.command(flavour, ranks, [run.target("digits-" + flavour), "row"], as_users)
    rows = [run.run(words, 60).ok() for _ in range(4)]
    once = re.fullmatch("a+b+\n", rows[0].out) and len(rows[0].out) == 41  # the MPI library's own are the first ones
    rows[0].check(once and len({row.out for row in rows}) == 1, "".join(row.out for row in rows))
    for options in ("", "--option HEAP=off", "--plan slices", "--option NODES=2"):
        words = run.command(flavour, ranks, [run.target("digits-" + flavour)], options.split())
        run.run(words, 90).ok("%s ranks, 0 errors" % ranks)


def chessboard(flavour, ranks):
    """Neighbours that send other lengths than they receive: by default, by other plans, over nodes."""
    run.need(flavour)
    as_users = "--option START=paid --option TUNE=watch"
    over_nodes = "--option NODES=2"
    for options in ("", as_users, "--option TUNE=online", "--plan pull(columns)", over_nodes, over_nodes + " " + as_users):
        words = run.command(flavour, ranks, [run.target("chessboard-" + flavour)], options.split())
        run.run(words, 60).ok("%s ranks, 0 errors" % ranks).silent()


run.main_of(shortcuts, ahead, alike, lists, steady, counted, fresh, blocks, early, crowded, seen, full, digits, chessboard)
