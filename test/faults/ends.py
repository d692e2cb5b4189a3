# SPDX-License-Identifier: BSD-3-Clause
"""ends - rows of the campaign in which a rank ends, in each phase of a program and in each way. Nobody may wait for ever: the
launcher ends the others as soon as it does natively, or the MPI library tells them of it."""
import re
from typing import NamedTuple

from rows import ROWS, Row, row
from side import Skip, Wrong

SLACK = 8  # seconds that the end may take longer than natively
PHASES = {"init": "before MPI_Init", "begin": "before the first call", "first": "in the first call", "between": "between calls",
          "calls": "in a call", "comms": "while communicators come and go", "free": "before a communicator is freed",
          "finalize": "before MPI_Finalize", "late": "in MPI_Finalize"}
TIMED = {"first": (100, 1000, 3000, 8000), "calls": (300, 1700, 20000), "comms": (500, 4000, 9000), "late": (100,),
         "yield": (1, 2, 3, 5)}
# MPICH's launcher ends with the code of the rank that ended, or with the 9 of those that it kills then. (MPICH 5 natively with 7 in
# 5 of 8 runs.)
BY_CHANCE = {("mpich4", "exit7"): {7, 9}, ("mpich5", "exit7"): {7, 9}}


class Ended(NamedTuple):
    seconds: float  # the longest of the jobs
    codes: list

    def __str__(self):
        return "%.1f s, exit code %s" % (self.seconds, " ".join(map(str, dict.fromkeys(self.codes))))


def ending(phase, how, limit=40):
    def play(side):
        longest, codes = 0, []
        for delay in TIMED.get(phase, (0,)):
            done = side.job(4, side.program("faults-ends", phase, how, str(delay)), limit=limit)
            done.over(limit if side.natively is None else side.natively.seconds + SLACK)
            longest, codes = max(longest, done.seconds), codes + [done.code]
        by_chance = set(codes) <= BY_CHANCE.get((side.flavour, how), set())
        known = how in ("exit7", "_exit9", "mpi42") and not by_chance
        if side.natively and known and codes != side.natively.codes:
            raise Wrong("exit codes %r, natively %r" % (codes, side.natively.codes))
        return Ended(longest, codes)
    return play


for name, about in PHASES.items():
    ROWS.append(Row("dies-" + name, "kill -9 " + about, ending(name, "kill"), notices=("leave",)))
for name in ("segv", "abort", "term", "exit0", "exit7", "_exit9", "mpi42"):
    ROWS.append(Row("ends-" + name, "a rank ends by %s between calls" % name, ending("between", name), notices=("leave",)))


@row("stops", "a rank is stopped for two seconds, then goes on", notices=("leave", "code", "hang"))
def stops(side):
    done = side.job(4, side.program("faults-ends", "between", "stop"), limit=60).right()
    went_on = len(re.findall(r"rank \d of 4 went on", done.out))
    if went_on != 4:
        raise Wrong("%d of 4 went on" % went_on)
    return "%.1f s" % done.seconds


def ulfm(phase):
    def play(side):
        """All survivors hear of the death, as natively."""
        env, heard = {"MPI_ARGS": "--with-ft ulfm"}, []
        at = "calls" if phase == "yield" and not side.under_mortar else phase  # natively nobody waits in mortar
        for delay in TIMED.get(at, (0,)):
            done = side.job(4, side.program("faults-ends", at, "kill", str(delay)), limit=30, env=env).over(30)
            heard.append(len(re.findall(r"^rank \d of 4 heard: ", done.out, re.M)))
        if not side.under_mortar and min(heard) < 3:
            raise Skip("the library itself does not tell all survivors (%r of 3)" % heard)
        if min(heard) < 3:
            raise Wrong("%r of 3 survivors heard of it" % heard)
        return "all heard"
    return play


PHASES["yield"] = "where it waits in a set-up of mortar's"
for name in ("begin", "first", "yield", "between", "calls", "comms"):
    ROWS.append(Row("ulfm-" + name, "ULFM: a rank dies %s, the others go on" % PHASES[name], ulfm(name), flavours=("ompi5",),
                    notices=("leave",)))
