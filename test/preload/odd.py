# SPDX-License-Identifier: BSD-3-Clause
"""odd - odd machines and odd input: a limit on file size, no memfd, pipes and full disks where a file was meant, wrong options. The
program always runs, and one line says what was wrong, once per job.
usage: odd.py TEST FLAVOUR"""
import json
import os
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import run  # noqa: E402
from run import mpi  # noqa: E402

RANKS = {"mpich4": 2, "mpich5": 2}  # they spin: more ranks than processors take for ever


def ranks(flavour):
    return RANKS.get(flavour, 4)


def exchange(flavour, options=(), through=(), **more):
    """A program that makes three alltoalls and two allgathers."""
    p = ranks(flavour)
    program = [*through, run.target("exchange-" + flavour)]
    return mpi(flavour, p, program, options, **more).ok("%d ranks, 0 errors" % p)


def one_line(result, *words):
    lines = result.lines()
    result.check(len(lines) == 1 and all(word in lines[0] for word in words), "not one line with %s" % ", ".join(words))
    return result


def all_native(result, why):
    """And for the same reason on all ranks."""
    result.silent().native(5, why)
    reasons = {row["reason"] for row in result.report["collectives"]}
    result.check(len(reasons) == 1, "the reasons differ: %s" % reasons)


def file_limit(flavour):
    """The control block is larger than a file may be: SIGXFSZ would end the program."""
    limited = ["/bin/sh", "-c", 'ulimit -f 100000; exec "$0" "$@"']
    all_native(exchange(flavour, ["--option", "SLOT=64M"], limited), "ulimit -f")
    result = exchange(flavour, through=limited).silent().took(5)
    result.check("ulimit -f" in result.report["heap"], "the heap does not say why")


def no_memfd(flavour):
    refuse = run.target("librefuse.so")
    all_native(exchange(flavour, env={"LD_PRELOAD": refuse}), "memfd_create was refused")
    # Refused on one node of two: on the other, too, the report names that reason, not one of its own.
    for rank in (0, ranks(flavour) // 2):
        one = ["/bin/sh", "-c", 'case ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} in %d) export LD_PRELOAD="%s:$LD_PRELOAD" ;; esac; '
               'exec "$0" "$@"' % (rank, refuse)]
        all_native(exchange(flavour, ["--option", "NODES=2"], one), "memfd_create was refused")


def pipes(flavour):
    """Pipes without another end are named, with one they serve; mortar is not stopped by either."""
    with tempfile.TemporaryDirectory() as folder:
        pipe = os.path.join(folder, "pipe")
        os.mkfifo(pipe)
        one_line(exchange(flavour, ["--option", "TUNING=" + pipe]).took(5), pipe, "nobody")
        one_line(exchange(flavour, ["--report", pipe]), pipe, "nobody reads")
        one_line(exchange(flavour, ["--option", "TUNE_SAVE=" + pipe], env={"MORTAR_TUNE": "watch"}), pipe)
        heard = []

        def hear():
            with open(pipe, encoding="utf-8") as file:
                heard.append(json.load(file))
        thread = threading.Thread(target=hear)
        thread.start()
        result = exchange(flavour, ["--report", pipe]).silent()
        thread.join(10)
        result.check(heard and heard[0]["ranks"] == ranks(flavour), "the pipe's reader got no report")


def full(flavour):
    """Nothing of a report is lost silently; and where reports may go they still go."""
    one_line(exchange(flavour, ["--report", "/dev/full"]), "/dev/full", "space")
    for place in "/nonexistent/file", "/dev":  # at the start, when all that will be reported is still to be done, and at the end
        result = exchange(flavour, ["--report", place])
        result.check(len(result.lines()) == 2 and "--report %s: " % place in result.lines()[0] and "there will be no report" in
                     result.lines()[0] and place in result.lines()[1], "--report %s: not two lines" % place)
    exchange(flavour, ["--report", "/dev/null"]).silent()
    for place in ("-", "/dev/stderr"):
        result = exchange(flavour, ["--report", place])
        result.check("alltoall" in result.err, "no report on %s" % place)


def options(flavour):
    """What is wrong with a variable, or with its name, is said by one rank of the job; what is wrong counts as not set."""
    for option, words in (("SLOT=0", ["128-1G"]), ("SLOT=100G", ["128-1G"]), ("DOMAINS=q", ["auto|none"]), ("REGRET=-1", ["0-100"]),
                          ("TUNE=maybe", ["watch"]), ("HEAP_BYTES=lots", ["16M-128T"]), ("HEAP=perhaps", ["on|off|aside"]),
                          ("OFF=alltoal", ["alltoal "]), ("PLANN=cico", ["MORTAR_PLANN", "MORTAR_PLAN?"]),
                          ("FOO=1", ["MORTAR_FOO"]), ("NT=sse9", ["sse2"]), ("VERBOSE=5", ["0|1|2"])):
        result = exchange(flavour, env={"MORTAR_" + option.partition("=")[0]: option.partition("=")[2]}).took(5)
        one_line(result, option.partition("=")[0], *words)
    exchange(flavour, ["--option", "MORTAR_WAIT=futex", "--option", "HEAP_BYTES=1T"]).silent().took(5)
    result = exchange(flavour, ["--option", "NODES=0"]).native(5, "MORTAR_NODES")
    one_line(result, "MORTAR_NODES=0", "5,3,1")


def aligned(flavour):
    """MPI_Alloc_mem from the shared heap, as aligned as the program asks; from the MPI library where the region is full."""
    p = ranks(flavour)
    mpi(flavour, p, ["aligned-" + flavour], env={"MORTAR_HEAP_BYTES": "64M"}).ok("%d ranks, 0 errors" % p)
    result = mpi(flavour, p, ["aligned-" + flavour], ["--plan", "pull(rows)"]).ok("%d ranks, 0 errors" % p)
    result.silent().took(1, plan="pull(rows, plain)")


def prefix(flavour):
    """Installed in a folder whose name has blanks mortar works; where the dynamic linker cannot, nothing is started."""
    run.need(flavour)
    p = ranks(flavour)
    with tempfile.TemporaryDirectory() as folder:
        for name, fine in (("a b  c", True), ("$HOME(1);'", True), ("a:b", False), ("a b;c", False)):
            place = os.path.join(folder, name)
            run.run(["cmake", "--install", run.BUILD, "--prefix", place]).ok()
            report = os.path.join(folder, "report.json")
            program = [run.target("exchange-" + flavour)]
            words = [os.path.join(place, "bin", "mortar"), "run", "--report", report, *program]
            result = run.run([run.LAUNCH, flavour, str(p), *words], report=report)
            if fine:
                result.ok("%d ranks, 0 errors" % p).silent().took(5).check(result.report["heap"] == "on", "the heap is not on")
                os.remove(report)
            else:
                lines = result.lines()
                result.check(result.code != 0 and not result.report and "0 errors" not in result.out, "it ran")
                result.check(lines and all(place in line and "another folder" in line for line in lines), "unclear")
            result.check("ld.so" not in result.err, "the dynamic linker complains")


def children(flavour):
    """A program that a rank starts runs without mortar, with all else that was preloaded; before MPI_Init it may become a rank."""
    other = run.target("libcma.so")
    result = mpi(flavour, 2, ["children-" + flavour], env={"LD_PRELOAD": other}).ok().silent()
    preloaded = {when: [line.partition(": ")[2] for line in result.out.splitlines() if line.startswith(when)]
                 for when in ("before", "after")}
    result.check(preloaded["after"] == [other] * 2, "a child of a rank does not run as without mortar: %s" % preloaded["after"])
    result.check(len(preloaded["before"]) == 2 and all("libmortar.so" in line and other in line for line in preloaded["before"]),
                 "before MPI_Init mortar is lost: %s" % preloaded["before"])


def wanders(flavour):
    """A program that goes to another folder: relative names of files mean those where it began, on each communicator."""
    p, mine = ranks(flavour), mpi(flavour, 1, ["exchange-" + flavour]).ok().report["mpi"]
    for words in ([], ["early"]):
        with tempfile.TemporaryDirectory(dir=run.BUILD) as folder:
            report = os.path.join(folder, "report.json")
            run.run([run.target("tuningfile"), mine, "2", "pull(columns)", os.path.join(folder, "tuning.json")]).ok()
            options = ["--report", "report.json", "--option", "TUNING=tuning.json"]
            command = run.command(flavour, p, [run.target("wanders-" + flavour), *words], options)
            result = run.run(["sh", "-c", 'cd "$0" && exec "$@"', folder, *command], report=report)
            result.ok("%d ranks, 0 errors" % p).silent().check(result.report, "no report where the program began")
            found = {(row["plan"], row["source"]) for row in result.collectives(collective="alltoall")}
            result.check(found == {("pull(columns, plain)", "file")}, "not the file's plan in all pairs: %s" % found)


run.main_of(file_limit, no_memfd, pipes, full, options, aligned, prefix, children, wanders)
