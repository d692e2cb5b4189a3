# SPDX-License-Identifier: BSD-3-Clause
"""rows - the rows of the campaign: how a row is made, and those that take a program to the utmost. A row's play(side) runs its job
on one side, raises Wrong if it is not right, and returns what it saw."""
import collections
import os
import re
import shutil
import subprocess
import tempfile
from typing import Callable, NamedTuple

from side import DEFAULT, FIRST, MISTAKES, Skip, Wrong

ALL = ("ompi4", "mpich4", "ompi5", "mpich5", "impi")
ROWS = []


class Row(NamedTuple):
    name: str
    about: str
    play: Callable
    flavours: tuple = ALL
    sides: tuple = (DEFAULT, FIRST)  # besides natively
    notices: tuple = tuple(MISTAKES)  # which planted mistakes it can notice
    system: bool = False  # it changes the whole machine for a while


def row(name, about, **more):
    """Makes a row of the function below."""
    def add(play):
        ROWS.append(Row(name, about, play, **more))
        return play
    return add


def right(side, ranks, name, *words, **more):
    """The program says that all is right."""
    done = side.job(ranks, side.program(name, *words), **more).right(r"\b%d ranks, 0 errors" % ranks)
    return "%.1f s" % done.seconds


def simple(name, about, ranks, program, *words, limit=60, env=None, **more):
    ROWS.append(Row(name, about, lambda side: right(side, ranks, program, *words, limit=limit, env=env), **more))


# ---- many ranks on one node ----

# In MPI_Finalize a rank of Open MPI 4 tells the launcher that it ends, and waits two seconds for an answer (PMIx). If the launcher
# has not heard of it when the rank is over, it takes the rank for one that never called MPI_Finalize, and ends with 1
# (open-mpi/ompi#7833, #9389). With 96 ranks on 2 processors it may be that late. docs/proof.md has how it was made to happen.
UNANSWERED = "exiting improperly"


def many(ranks, rounds, most, limit):
    def play(side):
        """Each rank's own exit code is kept: a launcher may end with another one."""
        with tempfile.TemporaryDirectory() as folder:
            keep = ["/bin/sh", "-c", '"$@"; code=$?; echo $code >%s/$$; exit $code' % folder, "sh"]
            done = side.job(ranks, side.program("faults-calls", str(rounds), str(most)), limit=limit, inside=keep)
            codes = collections.Counter()
            for name in os.listdir(folder):
                with open(os.path.join(folder, name), encoding="ascii") as file:
                    codes[file.read().strip()] += 1
        right = re.search(r"\b%d ranks, 0 errors" % ranks, done.out)
        if right and codes == {"0": ranks} and done.code == 1 and UNANSWERED in done.err:
            return "%.1f s, the launcher answered late" % done.seconds
        if done.code != 0 and not done.stopped:
            ended = ", ".join("%d ranks with %s" % (number, code) for code, number in sorted(codes.items()))
            raise Wrong("the launcher ended with %d, %s; it said: %r" % (done.code, ended or "no rank", done.err[-600:]))
        return "%.1f s" % done.right(r"\b%d ranks, 0 errors" % ranks).seconds
    return play


row("ranks-96", "96 ranks on one node", sides=(DEFAULT,))(many(96, 2, 300, 120))
row("ranks-128", "128 ranks", flavours=("mpich5", "impi"))(many(128, 2, 300, 120))
row("ranks-256", "256 ranks", flavours=("mpich5", "impi"), sides=(FIRST,))(many(256, 1, 100, 150))
row("ranks-512", "512 ranks", flavours=("impi",), sides=(FIRST,))(many(512, 1, 20, 240))

# ---- many communicators, many calls ----


def alive(number, limit):
    def play(side):
        """As many as the MPI library grants: mortar takes none of them away."""
        done = side.job(4, side.program("faults-alive", str(number)), limit=limit).right(r"\b4 ranks, 0 errors")
        made = int(re.search(r"(\d+) communicators", done.out).group(1))
        if side.natively and made < int(side.natively.split()[0]):
            raise Wrong("only %d communicators, natively %s" % (made, side.natively))
        return "%d in %.1f s" % (made, done.seconds)
    return play


row("alive-10000", "10,000 communicators alive, or as many as the library grants")(alive(10000, 200))
simple("growth-100000", "100,000 communicators come and go", 2, "growth", "100000", limit=200)
simple("calls-1000000", "1,000,000 calls back to back", 2, "many", "1000000", limit=200, sides=(DEFAULT,))

# ---- long counts ----


def wide(word):
    def play(side):
        done = side.job(2, side.program("faults-wide", word), limit=120)
        if done.code == 77 or "not in this MPI" in done.out:
            raise Skip("this MPI has no such function")
        return "%.1f s" % done.right(r"\b2 ranks, 0 errors").seconds
    return play


row("wide-bcast", "2^28 elements of 8 bytes, memory of a few MiB")(wide("bcast"))
row("wide-elements", "a count above 2^31")(wide("elements"))
row("wide-block", "one block of more than 2^31 bytes")(wide("block"))
row("wide-far", "displacements above 2^31 bytes")(wide("far"))

# ---- mixed use ----


def threads(side):
    done = side.job(2, side.program("threads", "6", "4", "60"), limit=100)
    if done.code == 77 or "no MPI_THREAD_MULTIPLE" in done.out:
        raise Skip("no MPI_THREAD_MULTIPLE")
    return "%.1f s" % done.right(r"\b0 errors").seconds


row("threads", "6 threads with communicators each, more than processors")(threads)
for word, about in (("lock", "a passive target waits in a barrier"), ("fence", "collectives between fences"),
                    ("post", "collectives between post and wait"), ("probe", "a rank in MPI_Probe while others wait"),
                    ("send", "MPI_Ssend to a rank that waits in a barrier")):
    simple("progress-" + word, about, 4, "faults-progress", word, limit=20, notices=("leave", "code", "hang"))


@row("progress-file", "collective files, and one rank's alone", notices=("leave", "code", "hang"))
def file(side):
    # The job's own folder is its $TMPDIR.
    words = ["/bin/sh", "-c", 'exec "$0" file "$TMPDIR"', *side.program("faults-progress")]
    return "%.1f s" % side.job(4, words).right(r"\b4 ranks, 0 errors").seconds


# ---- tools ----

CALLS = ("faults-calls", "20", "20000")
simple("sampled", "a signal each millisecond walks the stack", 4, *CALLS, "sample")


def able(*words):
    if not shutil.which(words[0]) or subprocess.run(words, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                                    check=False).returncode:
        raise Skip("%s does not work here" % words[0])


@row("perf", "perf record with call graphs", flavours=("ompi4", "mpich4", "impi"))
def perf(side):
    able("perf", "record", "-o", "/dev/null", "true")
    words = ["perf", "record", "-q", "-g", "-F", "999", "-o", "/dev/null", "--", *side.program(*CALLS)]
    return "%.1f s" % side.job(2, words).right(r"\b2 ranks, 0 errors").seconds


@row("valgrind", "memcheck: mortar makes no invalid access", flavours=("ompi4", "mpich4", "ompi5", "mpich5"))
def valgrind(side):
    able("valgrind", "true")
    words = ["valgrind", "--num-callers=30", *side.program("faults-calls", "8", "20000", "hold", "4")]
    done = side.job(2, words, limit=200).right(r"\b2 ranks, 0 errors")
    blocks = re.split(r"\n==\d+== \n", done.err)
    ours = [block for block in blocks if "libmortar" in block and re.search(r"Invalid (read|write|free)|Jump to", block)]
    if ours:
        raise Wrong("%d invalid accesses of mortar's: %s" % (len(ours), ours[0][:600]))
    return "%.1f s" % done.seconds


simple("asan", "a program with the address sanitizer", 3, "faults-address", *CALLS[1:], env={"ASAN_OPTIONS": "detect_leaks=0"})
# UCX watches madvise, also where a thread that ends gives its stack back. There GCC 12's thread sanitizer crashes, in a program
# that only calls MPI_Init and MPI_Finalize (MPICH 4). So UCX does not watch here. And PMIx (Open MPI 5) wants memory at an address
# that the sanitizer has taken; it says how to do without.
simple("tsan", "a program with the thread sanitizer", 3, "faults-thread", "20", "20000",
       env={"TSAN_OPTIONS": "ignore_noninstrumented_modules=1", "UCX_MEM_EVENTS": "no", "PMIX_MCA_gds": "hash"})
