# SPDX-License-Identifier: BSD-3-Clause
"""preload - unmodified programs under `mortar run`: right results, and the report proves that mortar took the calls.
usage: preload.py TEST [FLAVOUR]"""
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import run  # noqa: E402
from run import Failure, Skip, mpi  # noqa: E402

RANKS = {"mpich4": 2}  # it spins: more ranks than processors take for ever
FOLDER = os.path.dirname(os.path.abspath(__file__))
LIBRARIES = {"ompi4": "libmpi.so.40", "ompi5": "libmpi.so.40", "mpich4": "libmpich.so.12", "mpich5": "libmpi.so.12",
             "mpich5abi": "libmpi_abi.so.1", "impi": "libmpi.so.12", "impiabi": "libmpi_abi.so.1"}


def ranks(flavour, most=4):
    return min(RANKS.get(flavour, most), most)


def exchanged(flavour, program, options=(), **more):
    """Runs a program that makes three alltoalls and two allgathers."""
    p = ranks(flavour)
    result = mpi(flavour, p, program, options, **more).ok("%d ranks, 0 errors" % p).silent()
    return result.took(3, collective="alltoall", ranks=p).took(2, collective="allgather", ranks=p)


def exchange(flavour):
    result = exchanged(flavour, ["exchange-" + flavour])
    result.check(result.report["heap"] == "on", "the heap is not on")
    result.check(result.report["ranks"] == ranks(flavour), "wrong number of ranks")


def alloc_mem(flavour):
    exchanged(flavour, ["exchange-" + flavour, "alloc"])
    exchanged(flavour, ["exchange-" + flavour, "alloc"], ["--heap", "off"])


def private(flavour):
    result = exchanged(flavour, ["exchange-" + flavour], ["--heap", "off"])
    result.check(result.report["heap"] != "on", "the heap is on")


def large(flavour):
    p = ranks(flavour)
    result = mpi(flavour, p, ["large-" + flavour]).ok("%d ranks, 0 errors" % p).silent()
    result.took(1, collective="alltoall").took(1, collective="allgather")


def narrow(flavour):
    over_nodes, as_users = ["--option", "NODES=2"], ["--option", "START=paid", "--option", "TUNE=watch"]
    for options, word in (([], []), (over_nodes, []), (as_users, []), (["--plan", "native"], ["refused"])):
        mpi(flavour, ranks(flavour), ["narrow-" + flavour] + word, options).ok("ranks, 0 errors").silent()


def fortran(flavour):
    p, missing = ranks(flavour), []
    for program in ("mpif", "usempi", "f08"):
        try:
            run.target(program + "-" + flavour)
        except Skip:
            missing.append(program)
            continue
        result = mpi(flavour, p, [program + "-" + flavour]).ok("%d ranks, 0 errors" % p).silent()
        result.took(2, collective="alltoall").took(2, collective="allgather")
    if len(missing) == 3:
        raise Skip("no Fortran for %s" % flavour)
    if missing:
        print("without " + ", ".join(missing))


def python(flavour):
    """The distribution's mpi4py knows one MPI; the others' are used where somebody installed one beside them."""
    interpreter = "/usr/bin/python3"
    if flavour not in ("ompi4", "mpich4"):
        interpreter = os.path.join(os.environ.get("MORTAR_MPIS", ""), flavour, "bin", "python3")
    ask = [interpreter, "-c", "import numpy, mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI; "
           "print(MPI.Get_library_version())"]
    try:
        said = subprocess.run(ask, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8", check=True).stdout
    except (OSError, subprocess.CalledProcessError):
        raise Skip("no python3 with mpi4py and numpy for %s" % flavour) from None
    if ("Open MPI" in said) != flavour.startswith("ompi"):
        raise Skip("mpi4py of %s was built for another MPI than %s" % (interpreter, flavour))
    p = ranks(flavour)
    result = mpi(flavour, p, [interpreter, os.path.join(FOLDER, "exchange.py")]).ok("%d ranks, 0 errors" % p).silent()
    result.check(result.calls(collective="alltoall") >= 2, "alltoalls were not taken")
    result.check(result.calls(collective="allgather") >= 1, "allgathers were not taken")
    result.check(result.report["heap"] == "on", "the heap is not on")


def by_pull(flavour, program, option):
    """The report's rows of the five calls. On a machine so busy that a barrier takes longer than copying 8 MiB, mortar chooses
    algorithms with fewer barriers, which prove nothing: again, then."""
    for _ in range(8):
        result = mpi(flavour, 2, [program], ["--option", option]).ok("2 ranks, 0 errors").silent()
        if not any(row["plan"].startswith("cico") for row in result.report["collectives"]):
            return result
    raise Failure("the machine is too busy to choose pull")


def statics(flavour):
    """Static arrays, COMMON and SAVE are in reach like malloc's memory; without the heap such blocks are copied by the kernel, or
    left to the MPI library."""
    missing = []
    for program in ("statics", "common"):
        try:
            run.target(program + "-" + flavour)
        except Skip:
            missing.append(program)
            continue
        result = by_pull(flavour, program + "-" + flavour, "HEAP=on").native(0)
        taken = sum(row["calls"] for row in result.report["collectives"] if row["plan"].startswith("pull("))
        result.check(taken == 5, "%d calls by pull instead of 5" % taken)
        result.check(not any("cma" in row["plan"] for row in result.report["collectives"]), "the kernel copied")
        result = by_pull(flavour, program + "-" + flavour, "HEAP=off")
        if not result.calls(plan="pull(rows, plain, cma)") == 5:  # where that is not permitted, the MPI library
            result.native(5, "outside the shared heap")
    if missing:
        print("without " + ", ".join(missing))


def library_of(flavour):
    """For dlopen."""
    folder = os.path.join(os.environ.get("MORTAR_MPIS", ""), flavour.removesuffix("abi"), "lib")
    return LIBRARIES[flavour] if flavour in ("ompi4", "mpich4") else os.path.join(folder, LIBRARIES[flavour])


def handle(flavour):
    """A program that asks the MPI library itself for its functions: said once. Asked through a library that names mortar first, it
    gets mortar's."""
    name = library_of(flavour)
    result = mpi(flavour, 2, ["handle", name]).ok()
    said = result.lines()
    result.check(len(said) == 1 and "by dlsym from" in said[0] and LIBRARIES[flavour] in said[0], "not one line that says it")
    result.check(not result.report, "a report was written")
    mpi(flavour, 2, ["handle", name], ["--verbose", "0"]).ok().silent()
    result = mpi(flavour, 2, ["handle", run.target("libwith-mortar-%s.so" % flavour)]).ok().silent()
    result.check(result.report is not None, "no report")


def late(flavour):
    p = ranks(flavour)
    library = library_of(flavour)
    result = mpi(flavour, p, ["late", library, run.target("plugin-%s.so" % flavour)])
    result.ok("%d ranks, 0 errors" % p).silent().took(1, collective="alltoall")


def threads(flavour):
    p = ranks(flavour, 3)
    result = mpi(flavour, p, ["threads-" + flavour])
    if result.code == 77 or "no MPI_THREAD_MULTIPLE" in result.out:
        raise Skip("%s has no MPI_THREAD_MULTIPLE" % flavour)
    result.ok("0 errors").silent().took(2 * 20 * 20, collective="alltoall")
    early = mpi(flavour, p, ["threads-" + flavour], env={"MORTAR_START": "early"}).ok("0 errors").silent()
    early.check(0 < early.calls(collective="alltoall") < 2 * 20 * 20, "the first calls are not the MPI library's")


def device(flavour):
    """One rank's buffer, of either side, is on a device: all ranks leave the call to the MPI library."""
    for driver in ("libcuda.so.1", "libhsa-runtime64.so.1"):
        words = ["device-" + flavour, run.target(driver)]
        result = mpi(flavour, ranks(flavour, 3), words, ["--option", "DEVICES=ask"]).ok().silent()
        result.took(1 + 4, collective="alltoall").native(10, "device")


def turns(flavour, p, program):
    """Two ranks are late, one after the other: the report says when, and its slices hold all that its rows say."""
    result = mpi(flavour, p, [program, "alltoall", "turns"], ["--plan", "cico"]).ok("%d ranks, 0 errors" % p).silent()
    found = result.report["late_over_time"]
    rows = {row["rank"]: row["seconds"] for row in found["by_rank"]}
    first, second = (p - 1, 2) if p > 2 else (0, 1)
    result.check({first, second} <= set(rows), "ranks %d and %d were late, not %s" % (first, second, sorted(rows)))
    result.check(len({len(row) for row in [*rows.values(), found["rest"]]}) == 1, "slices of several lengths")
    result.check(max(map(max, rows.values())) <= found["slice_seconds"] * 1.01, "longer than a slice")
    both = [at for at, pair in enumerate(zip(rows[first], rows[second])) if min(pair) > 0.1 * found["slice_seconds"]]
    middle = {rank: sum(at * seconds for at, seconds in enumerate(row)) / sum(row) for rank, row in rows.items()}
    result.check(middle[first] < middle[second] and len(both) < len(rows[first]) / 2, "not one after the other")
    for rank in first, second:
        named = sum(late["seconds"] for row in result.report["collectives"] for late in row["late"] if late["rank"] == rank)
        result.check(sum(rows[rank]) >= 0.98 * named, "rank %d: %r s in slices, %g in rows" % (rank, rows[rank], named))


def imbalance(flavour):
    """The report names the rank that was late and tells waiting for it from moving data. What native calls waited is not known."""
    p, program = ranks(flavour, 5), "imbalance-" + flavour
    late, slept = min(2, p - 1), 20 * 0.020
    for plan, words in (("cico", ["alltoall"]), ("pull(rows)", ["alltoall"]), ("cico", ["alltoall", "keep"]),
                        ("mailbox", ["bcast"])):
        result = mpi(flavour, p, [program, *words], ["--plan", plan]).ok("%d ranks, 0 errors" % p).silent()
        result.took(21, collective=words[0]).took(1, collective="allgather")
        for row in result.report["collectives"]:
            waiting, moving = row["waiting_seconds"], row["moving_seconds"]
            result.check(abs(waiting + moving - row["seconds"]) < 1e-4 * row["seconds"], "moving is not what waiting leaves")
            result.check(0 <= waiting and 0 <= row["inside_seconds"] <= moving * 1.0001, "not parts of the time")
        row = result.collectives(collective=words[0])[0]
        named = row["late"][0] if row["late"] else {}
        result.check(named.get("rank") == late, "%s: rank %d was late, not %r" % (plan, late, row["late"]))
        result.check(18 <= named["times"] <= 21, "%s: late %d times" % (plan, named["times"]))
        result.check(row["waiting_seconds"] >= 0.9 * slept <= named["seconds"], "%s: waited %g s" % (plan, row["waiting_seconds"]))
        result.check(0.5 < named["share"] <= 1, "%s: a share of %g" % (plan, named["share"]))
    turns(flavour, p, program)
    if p == 5:  # over nodes a rank of the team, not of the node's, is named
        options = ["--plan", "exchange(direct(32), pull(rows, plain))", "--option", "NODES=cyclic:2"]
        row = mpi(flavour, p, [program], options).ok("%d ranks, 0 errors" % p).silent().collectives(collective="alltoall")[0]
        run.Result([], 0, "", "", row).check([row["nodes"], *(named["rank"] for named in row["late"])] == [2, late], "not 2 nodes")
    result = mpi(flavour, p, [program], ["--plan", "native"]).ok("%d ranks, 0 errors" % p).silent().native(22)
    result.check(not result.report["late_over_time"]["by_rank"], "claims to know who was late in native calls")
    result.check(all(row["waiting_seconds"] is None and row["moving_seconds"] is None and row["late"] == []
                     for row in result.report["collectives"]), "claims to know what native calls waited")
    result = run.run(run.command(flavour, p, [run.target(program)], ["--report", "-"])).ok("%d ranks, 0 errors" % p)
    result.check("waited for rank %d: " % late in result.err, "the table names nobody")


def nothing(flavour):
    """A program that calls no blocking collective: the table says so, in two short lines."""
    run.need(flavour)
    program = [os.path.join(run.BUILD, "bench", "programs", "programs-" + flavour), "zeroed", "--iterations", "2"]
    result = run.run(run.command(flavour, 1, program, ["--report", "-"])).ok("answer=none")
    one, two = filter(str.strip, result.err.splitlines())
    result.check(one[:7] == "mortar " and len(one) < 90 and "1 rank;" in one and "No blocking collective was called" in two, two)


def inter(flavour):
    p = ranks(flavour, 3)
    result = mpi(flavour, p, ["inter-" + flavour]).ok("%d ranks, 0 errors" % p).silent()
    result.took(0)
    for collective in ("alltoall", "allgather"):
        result.check(result.collectives(collective=collective, reason="an intercommunicator"), "no reason in the report")


def errors(flavour):
    p = ranks(flavour, 2)
    plain = mpi(flavour, p, ["errors-" + flavour], None).ok("nothing wrong")
    ours = mpi(flavour, p, ["errors-" + flavour], seconds=20).ok("nothing wrong").silent()
    ours.check(ours.calls() >= 8, "the right calls were not taken")
    for a, b in zip(plain.out.splitlines(), ours.out.splitlines()):
        ours.check(a == b, "errors look different with mortar\nnative: %s\nmortar: %s" % (a, b))
    ours.check(len(plain.out) == len(ours.out), "errors look different with mortar")


def off(flavour):
    p = ranks(flavour)
    for word, taken in (("alltoall", (0, 2)), ("allgather", (3, 0)), ("allgather,alltoall", (0, 0)), ("all", (0, 0))):
        result = mpi(flavour, p, ["exchange-" + flavour], ["--off", word]).ok("%d ranks, 0 errors" % p).silent()
        result.took(taken[0], collective="alltoall").took(taken[1], collective="allgather")
        result.native(5 - sum(taken), "MORTAR_OFF")


def launcher(flavour):
    """A program of one MPI started by another MPI's launcher: every process is alone; one of them says so."""
    other = "mpich4" if flavour == "ompi4" else "ompi4"
    run.need(flavour)
    result = mpi(other, 2, ["exchange-" + flavour]).ok("1 ranks, 0 errors")
    lines = result.lines()
    result.check(len(lines) == 1 and "launcher" in lines[0], "not one line that says why")
    result.check(result.out.count("1 ranks, 0 errors") == 2, "not two processes of one rank")


def plans(flavour):
    """MORTAR_PLAN: forced, and wrong texts."""
    p = ranks(flavour)
    exchanged(flavour, ["exchange-" + flavour], ["--plan", "pull(morton)"]).took(5, plan="pull(morton, plain)")
    exchanged(flavour, ["exchange-" + flavour], ["--plan", " cico( 64 ) "]).took(5, plan="cico(64)")
    result = mpi(flavour, p, ["exchange-" + flavour], ["--plan", "native"]).ok("%d ranks, 0 errors" % p).silent()
    result.native(5, "MORTAR_PLAN")
    for text, word in (("cicco", "cicco"), ("pull(mortn)", "mortn"), ("pull(morton", "parenthesis"), ("cico(0)", '"0"'),
                       ("cico x", '"x"'), ("pull(,)", "pull"), ("native(3)", "native")):
        result = mpi(flavour, p, ["exchange-" + flavour], ["--plan", text]).ok("%d ranks, 0 errors" % p)
        lines = result.took(5).lines()
        result.check(len(lines) == 1 and word in lines[0], "not one line that says what is wrong with %s" % text)
    for option, word in (("WAIT=sometimes", "MORTAR_WAIT"), ("SLOT=big", "MORTAR_SLOT"), ("HANDOVER=pigeon", "MORTAR_HANDOVER")):
        env = {"MORTAR_" + option.split("=")[0]: option.split("=")[1]}  # the command itself refuses it
        result = mpi(flavour, p, ["exchange-" + flavour], env=env).ok("%d ranks, 0 errors" % p)
        result.took(5).check([word in line for line in result.lines()] == [True], "not one line about %s" % option)
    result = mpi(flavour, p, ["exchange-" + flavour], ["--option", "NODES=two"]).ok("%d ranks, 0 errors" % p)
    result.native(5, "MORTAR_NODES").check([line.count("MORTAR_NODES=two") for line in result.lines()] == [1], "not one line")
    result = mpi(flavour, p, ["exchange-" + flavour], ["--verbose", "0"], env={"MORTAR_WAIT": "sometimes"})
    result.silent().took(5)


def rows(flavour):
    """The table has each row once, though its plan was chosen in several ways. One short line names the MPI."""
    p = ranks(flavour, 3)
    program = ["rows-" + flavour, "cico"]
    result = mpi(flavour, p, program, env={"MORTAR_TUNE": "off"}).ok("%d ranks, 0 errors" % p)
    plan = [row["plan"] for row in result.collectives(source="model", collective="alltoall")]
    result.check(len(plan) == 1, "not one plan by the model")
    program[1] = plan[0]
    result = mpi(flavour, p, program).ok().took(10)
    sources = sorted(row["source"] for row in result.collectives(collective="alltoall"))
    result.check(sources == ["forced", "model"], "sources in JSON")
    result = run.run(run.command(flavour, p, [run.target(program[0]), plan[0]], ["--report", "-"])).ok()
    lines = [line.split() for line in result.err.splitlines() if line.startswith("alltoall ")]
    result.check([line[3] for line in lines] == ["10"], "one plan is not one row")
    head = [line for line in result.err.splitlines() if line.startswith("mortar ")]
    result.check(len(head) == 1 and len(head[0]) < 100 and "\t" not in head[0] and "  " not in head[0] and
                 "%d ranks; shared heap: on" % p in head[0], "the first line: %r" % head)


def tuning(flavour):
    """A tuning file decides what runs; one from elsewhere, or a broken one, is refused in one line, and nothing of it is used."""
    p = ranks(flavour)
    with tempfile.TemporaryDirectory() as folder:
        path, mine = os.path.join(folder, "tuning.json"), mpi_name(flavour)

        def runs(plan, count, name=None, entry_ranks=p):
            run.run([run.target("tuningfile"), name or mine, str(entry_ranks), plan, path]).ok()
            result = mpi(flavour, p, ["exchange-" + flavour], ["--option", "TUNING=" + path]).ok("%d ranks, 0 errors" % p)
            lines = result.lines()
            filed = sum(row["calls"] for row in result.collectives(collective="alltoall", source="file"))
            result.check(filed == count, "%d alltoalls ran what the file says instead of %d" % (filed, count))
            return result, lines

        for plan, full in (("pull(columns)", "pull(columns, plain)"), ("cico(64)", "cico(64)")):
            result, lines = runs(plan, 3)
            result.check(result.collectives(plan=full, source="file") and not lines, "not the file's plan, silently")
        result, lines = runs("pull(rows)", 0, entry_ranks=p + 1)
        result.check(not lines, "no entry for these ranks is no reason to speak")
        for plan, name, word in (("cico", "Another MPI v1", "Another MPI v1"), ("push(rows)", mine, "push(rows)")):
            result, lines = runs(plan, 0, name)
            result.check(len(lines) == 1 and word in lines[0] and path in lines[0], "not one line that says why")
        for nodes, count in ((2, 3), (3, 0)):  # over nodes, where nobody reaches all buffers
            run.run([run.target("tuningfile"), mine, str(p), "pairwise", path, str(nodes)]).ok()
            result = mpi(flavour, p, ["exchange-" + flavour], ["--option", "TUNING=" + path, "--option", "NODES=2"]).ok("0 errors")
            filed = sum(row["calls"] for row in result.collectives(collective="alltoall", plan="pairwise", source="file"))
            result.check(filed == count, "over 2 nodes %d alltoalls ran what the file says of %d" % (filed, nodes))
        with open(path, "w", encoding="utf-8") as file:
            file.write('{"format": "mortar tuning",')
        result = mpi(flavour, p, ["exchange-" + flavour], ["--option", "TUNING=" + path]).ok("%d ranks, 0 errors" % p)
        result.check(len(result.lines()) == 1 and "too early" in result.lines()[0], "not one line that says why")


def mpi_name(flavour):
    """What the MPI library is called in a tuning file."""
    return mpi(flavour, 1, ["exchange-" + flavour]).ok().report["mpi"]


def plain():
    """No MPI call: nothing is printed and no report is written."""
    report = os.path.join(run.BUILD, "no-report.json")
    result = run.run([run.MORTAR, "run", "--report", report, run.target("plain")], report=report).ok("no MPI here").silent()
    result.check(not result.err and result.out == "no MPI here\n", "something else was printed")
    result.check(result.report is None, "a report was written")
    result = run.run([run.MORTAR, "run", "/bin/sh", "-c", 'echo "$0 $1"; exit 5', "a b", "c"], report=report)
    result.check(result.code == 5 and result.out == "a b c\n" and not result.err, "words or exit code got lost")


def reductions(flavour):
    """The collectives that combine: by each algorithm, with buffers in and out of reach, and as mortar chooses."""
    p, many = ranks(flavour), 12 if flavour.startswith("ompi") else 5  # so many for two processors that not all combine
    names = ("reduce", "allreduce", "reduce_scatter", "reduce_scatter_block", "scan", "exscan")
    for plan in ("combine", "slices", "arrival", "either"):
        for heap in ("on", "off"):
            result = mpi(flavour, p, ["reductions-" + flavour, "1", "7", "3000"], ["--plan", plan, "--heap", heap])
            result.ok("%d ranks, 0 errors" % p).silent()
            for name in names[:1 if plan in ("arrival", "either") else 6]:
                result.check(result.calls(collective=name, plan=plan) > 50, "%s did not run %s" % (plan, name))
    for n, counts, option in ((p, "2 100 20000", "SLOT=1K"), (many, "7 3000", "PLAN=slices"), (many, "9 4000 9000", "TUNE=off")):
        mpi(flavour, n, ["reductions-" + flavour, *counts.split()], ["--option", option]).ok("%d ranks, 0 errors" % n).silent()


def rooted(flavour):
    """Roots and neighbours: through boxes, in and out of reach, and while plans are tried."""
    p = ranks(flavour)
    for seed, options in enumerate((["--plan", "mailbox"], ["--plan", "mailbox", "--heap", "off"], ["--option", "TUNE=online"],
                                    ["--option", "SLOT=8K", "--heap", "off"]), 1):
        result = mpi(flavour, p, ["rooted-" + flavour, str(seed), "300"], options).ok("%d ranks, 0 errors" % p).silent()
        for name in ("bcast", "gather", "scatter", "neighbor_alltoall") if "--plan" in options else ():
            result.check(result.calls(collective=name, plan="mailbox") > 10, "%s did not run through mailbox" % name)


def lengths(flavour):
    """Over nodes, where no rank knows the others' counts: calls with short and with long blocks are told apart, once the ranks
    have told each other, which they do after so many calls, of what came since; soon again when that is something else."""
    p, calls, short, long, sure, soon = ranks(flavour), 600, 12, 20000, 251, 7
    names = ("alltoallv", "gatherv", "scatterv", "neighbor_alltoallv")
    for options in ((), ("--option", "TUNE=off"), ("--plan", "aggregate(bruck)")):
        result = mpi(flavour, p, ["lengths-" + flavour, str(calls), str(short), str(long)], options, env={"MORTAR_NODES": "2"})
        result.ok("%d ranks, 0 errors" % p).silent()
        for name in names:
            rows = result.collectives(collective=name)
            near = {size: sum(row["calls"] for row in rows if row["from"] <= size <= row["to"]) for size in (short, long)}
            fine = calls <= near[short] < calls + sure and calls - sure - soon < near[long] <= 2 * calls - near[short]
            result.check(fine, "%s: calls for these sizes: %r" % (name, near))
            result.check(result.calls(collective=name) + sum(row["calls"] for row in rows if row["plan"] == "native") == 2 * calls,
                         "%s: calls got lost" % name)


def unknown():
    result = run.run([run.MORTAR, "run", run.target("fakeuser")]).ok("received 17")
    result.check(len(result.lines()) == 1 and "libmpi.so.99" in result.lines()[0], "not one line that says why")
    result = run.run([run.MORTAR, "run", "--verbose", "0", run.target("fakeuser")]).ok("received 17").silent()


run.main_of(exchange, alloc_mem, private, statics, large, narrow, fortran, python, late, handle, threads, inter, device, errors,
            nothing, off, imbalance, launcher, plans, reductions, rooted, lengths, tuning, plain, unknown, rows)
