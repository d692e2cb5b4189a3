# SPDX-License-Identifier: BSD-3-Clause
"""bugs - what broke other libraries of this kind: missing progress, leaks, lifetimes, long counts, fork, killed ranks.
usage: bugs.py TEST FLAVOUR RANKS"""
import glob
import os
import re
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import run  # noqa: E402
from run import Failure, Skip, mpi, wait_until  # noqa: E402

NO_CMA = {"ompi4": "--mca btl_vader_single_copy_mechanism none", "ompi5": "--mca smsc ^cma,xpmem,knem"}


def ran(flavour, ranks, program, options=(), **more):
    count = ranks if ranks.isdigit() else ""  # a map of hosts
    return mpi(flavour, ranks, program, options, **more).ok("%s ranks, 0 errors" % count).silent()


def rendezvous(flavour, ranks):
    """Without single copy by the kernel the sender has to feed the message piece by piece."""
    env = {"MPI_ARGS": NO_CMA[flavour]} if flavour in NO_CMA else {}
    for plan, words in (("cico", ["8"]), ("cico", ["50000"]), ("cico", ["8", "late"]), ("pull(rows)", ["50000"]),
                        ("pull(columns)", ["8", "late"])):
        ran(flavour, ranks, ["rendezvous-" + flavour, *words], ["--plan", plan], seconds=20, env=env).took(3)
    for wait, words in (("spin", ["8"]), ("yield", ["8", "late"]), ("futex", ["8"])):
        ran(flavour, ranks, ["rendezvous-" + flavour, *words], ["--option", "WAIT=" + wait], seconds=20, env=env).took(3)


def many(flavour, ranks):
    ran(flavour, ranks, ["many-" + flavour, "100000"], seconds=100).took(100000)


def learn(flavour, ranks):
    """In each mode all calls run, right and to the end, and the report has what was measured."""
    calls = 20000
    for mode in ("watch", "online", "paper"):
        rows = []
        for _ in range(1 if mode == "paper" else 3):  # on a busy machine native's turn may not come in one run
            if not any("gain" in row for row in rows):
                result = ran(flavour, ranks, ["many-" + flavour, str(calls)], seconds=100, env={"MORTAR_TUNE": mode})
                rows = result.collectives()
        result.check(sum(row["calls"] for row in rows) == calls, "%s: not all calls are in the report" % mode)
        tried = [row for row in rows if row["source"] in ("on trial", "measured")]
        result.check(tried, "%s: nothing was tried" % mode)
        known = [row for row in rows if "gain" in row]
        result.check(known or mode == "paper", "%s: nothing is known of native" % mode)
        for row in known:
            low, high = row.get("gain_interval", (row["gain"], row["gain"]))
            result.check(low <= row["gain"] <= high and row["native_call_seconds"] > 0, "%s: strange evidence" % mode)
            print("%s: %d calls, %s, gain %s" % (mode, row["calls"], row["plan"], row["gain"]))


def slow_readers(flavour, ranks):
    """What mortar says between the program's calls does not get among the bytes of a broadcast that others still read."""
    for start in ("paid", "early"):
        ran(flavour, ranks, ["slow_readers-" + flavour], env={"MORTAR_START": start})


def nearby(flavour, ranks):
    """Where ranks outnumber processors they map side by side what they often read of their peers, and read the right bytes."""
    for start in ("first", "paid"):
        result = ran(flavour, ranks, ["nearby-" + flavour], ["--plan", "pull(rows, plain)"], env={"MORTAR_START": start})
        count, peers = map(int, re.search(r"(\d+) mappings of (\d+) peers", result.out).groups())
        print("%s: %d mappings of %d peers" % (start, count, peers))
        crowded = len(os.sched_getaffinity(0)) < int(ranks)
        result.check((count >= 2 * peers) == crowded, "%d mappings of %d peers" % (count, peers))
    ran(flavour, ranks, ["nearby-" + flavour])


def moving(flavour, ranks):
    """Buffers move on all ranks at the same time, at once and when it pays, and beside what a program does with its memory."""
    for start, options in (("first", ["--plan", "pull(rows)"]), ("first", []), ("paid", [])):
        result = ran(flavour, ranks, ["moving-" + flavour], options, env={"MORTAR_START": start})
        moved = result.report["moved"]
        # By itself mortar may choose to stage blocks of this length.
        result.check(moved["buffers"] >= int(ranks) or not options, "no buffer has moved")
        slowest = moved["seconds"] * 8e9 / max(moved["bytes"], 1)  # as if the other ranks had needed no time
        result.check(0.99 * slowest <= moved["repaid_after_calls"] <= 1.01 * int(ranks) * slowest, "repaid: %r" % moved)
        print("%s: %d buffers, %d MiB" % (start, moved["buffers"], moved["bytes"] >> 20))


def splits(flavour, ranks):
    """Ranks that meet in many groups remember which are alike, until there are too many, and all of a group the same."""
    for start in ("paid", "first"):
        ran(flavour, ranks, ["splits-" + flavour, "900"], env={"MORTAR_START": start})


def punctual(flavour, ranks):
    """Long sums by mortar's own choice, to which ranks come together or late. A report makes mortar examine each call, so also
    without one; and as programs begin, where sums that round change over once."""
    words, first = ["punctual-" + flavour, "300"], {"MORTAR_START": "first", "MORTAR_TUNE": "watch"}
    result = ran(flavour, ranks, words, env=first, seconds=100)
    took = result.calls(collective="reduce", plan="either")
    result.check(took > 100, "only %d of 300 calls by either" % took)
    for more, env in (([], first), (["exact"], {"MORTAR_START": "paid", "MORTAR_TUNE": "watch"})):
        command = run.command(flavour, ranks, [run.target(words[0])] + words[1:] + more)
        run.run(command, 100, env).ok("%s ranks, 0 errors" % ranks).silent()


def young(flavour, ranks):
    """A communicator's first calls are the MPI library's; teams of freed communicators are used again, and the bytes are right."""
    count = 12  # communicators, of two kinds; then 8 more
    few = ran(flavour, ranks, ["young-" + flavour, str(count), "3"], env={"MORTAR_START": "paid"}).ok(" 0 errors, 0 teams seen")
    few.took(0).native(count * 4 + 4 * 4 + 1, "has not yet paid")
    off = ran(flavour, ranks, ["young-" + flavour, "4", "40"], ["--off", "all"], env={"MORTAR_START": "early"})
    off.ok(" 0 errors, 0 teams seen").took(0).native(16 * 27 + 1, "switched off")
    ran(flavour, ranks, ["young-" + flavour, "4", "40"], ["--off", "alltoall,bcast"], env={"MORTAR_START": "early"}).ok(" 0 errors")
    early = ran(flavour, ranks, ["young-" + flavour, str(count), "40"], env={"MORTAR_START": "early"}).ok(" 0 errors")
    early.check(early.calls() > count * 40, "mortar took only %d calls" % early.calls())
    seen = int(re.search(r"(\d+) teams seen", early.out).group(1))
    early.check(1 < seen < count, "%d teams for %d communicators of 5 groups of ranks" % (seen, 2 * count + 8))
    paid = {"MORTAR_START": "paid", "MORTAR_TUNE": "watch"}
    ran(flavour, ranks, ["young-" + flavour, str(count), "100"], env=paid).ok(" 0 errors")
    ran(flavour, ranks, ["young-" + flavour, "6", "40"], env={"MORTAR_START": "early", "MORTAR_NODES": "2"}).ok(" 0 errors")
    for calls, start in (("3", "paid"), ("40", "early"), ("10", "first")):
        made = ran(flavour, ranks, ["young-" + flavour, "makers", calls], env={"MORTAR_START": start}).ok(" 0 errors")
        made.check((", 0 teams seen" in made.out) == (start == "paid"), "teams or none of %s" % start)
    # The longest call pays for nothing. On a busy machine another call may be long too, but not always.
    seen = [ran(flavour, ranks, ["young-" + flavour, "late", "0"], env={"MORTAR_START": "paid"}).ok(" 0 errors") for _ in range(3)]
    seen[0].check(any(", 0 teams seen" in late.out for late in seen), "one long call has paid for a team")
    # No time decides who adds floating-point numbers, but of two ranks.
    for _ in range(2):
        sums = ran(flavour, "3", ["young-" + flavour, "0", "0", "3000"], env={"MORTAR_START": "paid"})
        sums.native(1024, collective="allreduce").took(3000 - 1024, collective="allreduce")


def growth(flavour, ranks):
    result = ran(flavour, ranks, ["growth-" + flavour], seconds=100)
    print(result.out.strip())
    result.check(result.calls(collective="alltoall") >= 2000 - 1000 * (int(ranks) < 4), "not all calls were taken")


def lifetime(flavour, ranks):
    ran(flavour, ranks, ["lifetime-" + flavour])


def distgraph(flavour, ranks):
    """Without what src/mpi/graphs.c does a run hangs in a third to a half of the cases. It leaves to Open MPI what that refuses."""
    for _ in range(6):
        ran(flavour, ranks, ["distgraph-" + flavour, "6"], seconds=40)
    if flavour == "ompi4":
        ran(flavour, ranks, ["distgraph-" + flavour, "1", "refused"], seconds=40)


def fromgroup(flavour, ranks):
    ran(flavour, ranks, ["fromgroup-" + flavour])


def orders(flavour, ranks):
    """A collective beside a communicator that is being made: mortar makes none of its own, and no plan runs that needs one."""
    for start in ("paid", "first"):
        for nodes in ("", "2") if ranks.isdigit() else ("",):
            ran(flavour, ranks, ["orders-" + flavour], env={"MORTAR_START": start, "MORTAR_NODES": nodes}, seconds=40)
    for words in ([], ["single"], ["single", "info"]):
        options = ["--option", "NODES=2", "--plan", "universal(native)"]
        ran(flavour, ranks, ["orders-" + flavour, *words], options, seconds=40).took(0, collective="bcast")


def tags(flavour, ranks):
    """Teams over nodes use each other's tags again, and do without where there are too few."""
    for plan, bound in (("", "2000"), ("", "150"), ("tardy", "600"), ("universal(native)", "600")):
        ran(flavour, ranks, ["tags-" + flavour, "60", bound], ["--option", "NODES=2"] + ["--plan", plan] * bool(plan), seconds=40)


def gaps(flavour, ranks):
    """Gaps of types that are not mapped, and such that another thread receives in."""
    for start in ("paid", "first"):
        ran(flavour, ranks, ["gaps-" + flavour, "1500"], env={"MORTAR_START": start}, seconds=40)


def freed(flavour, ranks):
    """A type, or an operation, that another thread frees in the middle of a call; types that are freed after one was left."""
    types = [["freed", *words] for words in (("0", "0"), ("3", "0"), ("0", "2000"), ("3", "2000"), ("20", "2000"), ("left",))]
    for program, *words in types + [["freed_op", "30", "0"], ["freed_op", "30", "1500"], ["freed_op", "30000", "0"]]:
        for start in ("paid", "first"):
            ran(flavour, ranks, [program + "-" + flavour, *words], env={"MORTAR_START": start}, seconds=20)


def handler(flavour, ranks):
    """A communicator that an error handler frees in the middle of a call, which the library runs: young, planned, known."""
    for options, before, start in (("", "0", "paid"), ("", "5", "paid"), ("", "5", "first"), ("--plan native", "0", "first"),
                                   ("--plan native", "5", "first")):
        command = run.command(flavour, ranks, [run.target("handler-" + flavour), before], options.split())
        run.run(command, 60, {"MORTAR_START": start}).ok("%s ranks, 0 errors" % ranks).silent()


def refused(flavour, ranks):
    """A call that the MPI library refuses on one rank only, and calls that it does not refuse although they look so."""
    # MPICH itself receives what was left.
    for mode in "empty", "part", "alone", "left" if flavour.startswith("ompi") else "gap":
        for start in ("paid", "early", "first"):
            command = run.command(flavour, ranks, [run.target("refused-" + flavour), mode], [])
            run.run(command, 30, {"MORTAR_START": start}).ok("%s ranks, 0 errors" % ranks).silent()


def stacks(flavour, ranks):
    """A thread with a small stack. Open MPI itself is content with 16 KiB, MPICH with 160."""
    room = "28" if flavour.startswith("ompi") else "160"
    for start, options in (("paid", []), ("first", []), ("first", ["--option", "TUNE=online"]), ("first", ["--option", "NODES=2"])):
        ran(flavour, ranks, ["stacks-" + flavour, room, "25"], options, env={"MORTAR_START": start})


def apart(flavour, ranks):
    ran(flavour, ranks, ["apart-" + flavour])
    for plan in ("pull(compact)", "cico"):
        ran(flavour, ranks, ["apart-" + flavour], ["--plan", plan])
    for plan in ("native", "overlap(ring)", "distribute(direct(8))"):
        ran(flavour, ranks, ["apart-" + flavour], ["--option", "NODES=2", "--plan", plan])


def leave(flavour, ranks):
    """What an error handler leaves behind that does not return. A report makes mortar examine each call, so also without one."""
    words = ["--off", "bcast,alltoallv"]
    ran(flavour, ranks, ["leave-" + flavour], words).took(23, collective="allreduce")
    command = run.command(flavour, ranks, [run.target("leave-" + flavour)], words)
    run.run(command, 60).ok("%s ranks, 0 errors" % ranks).silent()


def significant(flavour, ranks):
    """What the standard says nobody looks at does not decide anything."""
    words = ["significant-" + flavour] + ["null"] * flavour.startswith("ompi")  # MPICH and its kin refuse that NULL
    ran(flavour, ranks, words)
    for plan in ("chain", "combine", "slices", "native"):
        ran(flavour, ranks, words, ["--plan", plan])
    if ranks == "3":
        ran(flavour, ranks, words, ["--option", "NODES=2"])


def characters(flavour, ranks):
    """What the standard does not name and the MPI library combines."""
    ran(flavour, ranks, ["characters-" + flavour], ["--plan", "combine"]).took(20, collective="reduce")


def scarce(flavour, ranks):
    """Over nodes one rank has no memory to pack what it sends, or receives: an error there, nobody hangs, no wrong byte."""
    for plan in ("", "leader(1, bruck)", "universal(direct)", "mnco(rows)", "overlap(ring)"):
        options = ["--option", "NODES=2"] + ["--plan", plan] * bool(plan)
        result = mpi(flavour, ranks, ["scarce-" + flavour, "30"], options, seconds=60).ok("0 wrong")
        times = int(result.out.split("0 wrong, ")[1].split()[0])
        result.check(times >= 18 * int(ranks), "only %d times without memory" % times)
    for rank, said in ("0", "the report is not written: Cannot allocate memory"), ("1", "the report lacks what this rank did"):
        result = mpi(flavour, ranks, ["scarce-" + flavour, "report", rank], ["--report", "-"]).ok()
        result.check((result.err.count(said), "calls" in result.err) == (1, rank != "0"), "no memory on rank %s" % rank)


def disagree(flavour, ranks):
    """Ranks whose calls differ get an error, a late rank is no such case, and the user gets one line."""
    def case(*words):
        return mpi(flavour, ranks, ["disagree-" + flavour, *words], seconds=40)

    case("bcast", "100", "100", "late").ok("errors: no").silent()
    for words in (("bcast", "5000", "100"), ("bcast", "100", "5000"), ("trains", "5000", "100")):
        result = case(*words).ok("errors: yes, truncation: yes")
        said = "calls MPI_Bcast of 4096 to 8191 bytes" in result.err
        result.check(said and len(result.lines()) == 1, "not one line that says why")
    case("reduce", "40", "4").ok("errors: yes, truncation: yes")
    case("kinds", "1", "100").ok("errors: yes, truncation: no")
    for late, errors in (("late", "no"), ("", "yes")):  # without a report, so that calls are remembered
        words = run.command(flavour, ranks, [run.target("disagree-" + flavour), "again", "0", "0", *late.split()])
        run.run(words, 40).ok("errors: %s, truncation: no" % errors)
    result = case("fatal", "5000", "100")
    result.check(result.code not in (0, 124, 137), "the default error handler did not end the job")


def smaller(flavour, ranks):
    """Natively: it is mortar's function that is called."""
    run.run(run.command(flavour, ranks, [run.target("smaller-" + flavour)], None), 30).ok("%s ranks, 0 errors" % ranks)


def dies(flavour, ranks):
    """A rank dies in a library that goes on without it: the others hear what they hear natively."""
    env = {"MPI_ARGS": "--with-ft ulfm"}
    for collective in ("barrier", "allreduce", "bcast", "alltoall"):
        words = run.command(flavour, ranks, [run.target("dies-" + flavour), collective], None)
        native = run.run(words, 40, env)
        if native.out.count("PROC_FAILED") != int(ranks) - 1:
            raise Skip("the library does not go on: %s" % native.out)
        result = mpi(flavour, ranks, ["dies-" + flavour, collective], seconds=40, env=env)
        result.check(result.out.count("PROC_FAILED") == int(ranks) - 1, "not all heard of it")


def big(flavour, ranks):
    run.need_memory(15)
    for what, collective in (("total", "alltoall"), ("block", "allgather")):
        result = ran(flavour, ranks, ["big-" + flavour, what], seconds=120)
        result.took(1, collective=collective)


def room(flavour, ranks):
    """No room for all peers' heaps in the address space of 47 bits, as with a thousand ranks per node; or, by a limit, in one
    rank's only: all ranks leave plans that would need it, and the others serve."""
    # A rank maps its own twice. That of one peer has room beside these, but not twice.
    heaps = ["--option", "HEAP_BYTES=%dT" % (33 if int(ranks) < 4 else 30)]
    # A rank whose limit has room for its own heap; in a quarter of it for none of the others'.
    limited = ["/bin/sh", "-c", '[ "${OMPI_COMM_WORLD_RANK:-$PMI_RANK}" != 1 ] || ulimit -v 170000000; exec "$@"', "sh"]
    for plan in ("pull(rows)", "pull(columns)")[int(ranks) < 3:]:
        ran(flavour, ranks, ["exchange-" + flavour], ["--plan", plan, *heaps]).native(5)
        if int(ranks) > 3:
            ran(flavour, ranks, limited + [run.target("exchange-" + flavour)], ["--plan", plan]).native(5)
    for words in (["reductions-" + flavour, "3", "50", "20000"], ["rooted-" + flavour, "3", "200"]):
        ran(flavour, ranks, words, heaps)


def forks(flavour, ranks):
    for options in (["--plan", "pull(morton)"], ["--heap", "off"]):
        ran(flavour, ranks, ["forks-" + flavour], options).took(12)


def python_forks(flavour, ranks):
    ask = [*run.command(flavour, 1, ["/usr/bin/python3", "-c", "import numpy; from mpi4py import MPI; "
                                     "print(MPI.Get_library_version())"], None)]
    result = run.run(ask, 30)
    if result.code != 0 or ("Open MPI" in result.out) != flavour.startswith("ompi"):
        raise Skip("no mpi4py for %s" % flavour)
    program = os.path.join(os.path.dirname(os.path.abspath(__file__)), "forks.py")
    result = ran(flavour, ranks, ["/usr/bin/python3", program])
    result.check(result.report["heap"] == "on", "the heap is not on")


def sums(flavour, ranks):
    """With trials in a tenth of the time: the bits of floating-point sums are those of the first call, and of the first run."""
    env = {"MORTAR_TUNE": "watch", "MORTAR_REGRET": "10"}
    runs = [ran(flavour, ranks, ["sums-" + flavour, "1500"], env=env) for _ in range(2)]
    runs.append(ran(flavour, ranks, ["sums-" + flavour, "2"]))  # without trials
    bits = {result.out.split()[1] for result in runs}
    runs[0].check(len(bits) == 1, "the bits differ from run to run: %r" % bits)
    tried = [row for row in runs[0].collectives(collective="allreduce")
             if row.get("native_call_seconds", 0) > 0 and row["from"] > 1]
    runs[0].check(tried, "nothing was tried beside")
    # Two numbers have one sum, so there trials decide.
    two = [ran(flavour, "2", ["sums-" + flavour, "1500"], options.split(), env=env)
           for options in ("", "--off all", "--plan combine", "--plan slices")]
    bits = {result.out.split()[1] for result in two}
    two[0].check(len(bits) == 1, "the bits of two ranks' sums differ from plan to plan: %r" % bits)
    beside = [row for row in two[0].collectives() if row.get("better")]
    two[0].check(not beside, "a plan is faster and does not run: %r" % beside)


def shared_kilobytes():
    with open("/proc/meminfo", encoding="utf-8") as file:
        return [int(line.split()[1]) for line in file if line.startswith("Shmem:")][0]


def processes(path):
    """Those that run this program."""
    found = []
    for link in glob.glob("/proc/[0-9]*/exe"):
        try:
            if os.path.realpath(link) == os.path.realpath(path):
                found.append(int(link.split("/")[2]))
        except OSError:
            pass
    return found


def kill(flavour, ranks):
    """kill -9 of one rank: mpirun ends the others, and nothing stays: no process, no shared memory, no file."""
    run.need(flavour)
    program = run.target("loop-" + flavour)
    for plan in ("cico", "pull(columns)"):
        words = ["--plan", plan, "--option", "START=first"]
        files, before = set(os.listdir("/dev/shm")), shared_kilobytes()
        job = subprocess.Popen(["timeout", "-k", "5", "60", *run.command(flavour, ranks, [program], words)],
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL)
        try:
            while job.stdout.readline().strip() != b"running":
                if job.poll() is not None:
                    raise Failure("the program ended by itself")
            held = shared_kilobytes() - before
            if plan != "cico" and held < 50000:  # only what is read in place has moved into shared memory
                raise Failure("only %d kB of shared memory are in use: this test would notice nothing" % held)
            time.sleep(0.2)
            os.kill(processes(program)[-1], signal.SIGKILL)
            wait_until(lambda: job.poll() is not None, 20, "the launcher does not end after a rank was killed")
            wait_until(lambda: not processes(program), 10, "processes stay behind")
            wait_until(lambda: shared_kilobytes() - before < 20000, 10, "shared memory stays behind")
            new = {name for name in os.listdir("/dev/shm") if "mortar" in name} - files
            if new:
                raise Failure("files stay behind in /dev/shm: %r" % new)
        finally:
            if job.poll() is None:
                job.terminate()
                job.wait()


run.main_of(rendezvous, slow_readers, nearby, moving, splits, punctual, young, many, learn, growth, lifetime, sums, apart,
            distgraph, fromgroup, orders, tags, gaps, freed, handler, refused, leave, stacks, significant, characters, scarce,
            disagree, smaller, dies, big, room, forks, python_forks, kill)
