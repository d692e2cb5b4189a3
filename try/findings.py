# SPDX-License-Identifier: BSD-3-Clause
"""findings - what runs in turns say: an interval for the ratio of the times, what mortar's report knows of the collectives, memory,
whether the outputs differ, and what is not certain."""
import bisect
import collections
import itertools
import math
import operator
import statistics

LEVEL = 0.05  # an interval misses the truth in at most so many cases
MOST_SPREAD = 0.2  # of the native runs; more is said
FEWEST_LOOKS = 10  # at the memory; fewer are said
FEWEST_PAIRS = 6  # of runs, and of trials of a collective: fewer have no interval


def significant(pairs):
    """How many of the least values of Wilcoxon's signed-rank statistic of so many pairs, 0 and up, are together at most half of
    LEVEL, if both sides are alike."""
    ways = [1.0]  # of signs for each value; for the most pairs there are 2^1000, which a float holds
    for rank in range(1, pairs + 1):
        others = [0.0] * rank
        ways = list(map(operator.add, ways + others, others + ways))
    return bisect.bisect_right(list(itertools.accumulate(ways)), LEVEL / 2 * 2 ** pairs)


def ratio(natives, mortars):
    """Native time / mortar's time: (estimate, low, high) from pairs of runs, by Hodges and Lehmann with the interval of Wilcoxon's
    signed ranks, which one disturbed run does not spoil. With too few pairs for one: the least and the greatest."""
    logs = [math.log(native / mortar) for native, mortar in zip(natives, mortars)]
    means = sorted((a + b) / 2 for i, a in enumerate(logs) for b in logs[i:])
    outer = max(1, significant(len(logs)))
    return tuple(math.exp(value) for value in (statistics.median(means), means[outer - 1], means[-outer]))


def seconds(value):
    return "%.*f s" % (3 if value < 1 else 2 if value < 10 else 1, value)


def quotients(*values):
    """As texts, with one more digit where all are near 1."""
    digits = 3 if all(abs(value - 1) < 0.1 for value in values) else 2
    return ["%.*f" % (digits, value) for value in values]


def whole(natives, mortars, unsure):
    """The sentence on the wall time."""
    middle, low, high = ratio(natives, mortars)
    times = "%s natively, %s under mortar, medians of %d pair%s of runs" % (
        seconds(statistics.median(natives)), seconds(statistics.median(mortars)), len(natives), "s" * (len(natives) > 1))
    if len(natives) < FEWEST_PAIRS:
        unsure.append("the whole program's time: an interval needs at least %d pairs of runs (-n %d); the pairs have %s to %s" % (
            FEWEST_PAIRS, FEWEST_PAIRS, *quotients(low, high)))
        # Pair by pair, so that it may lie on the other side of 1 than the medians of the times.
        return "whole program: native time / mortar's time is about %s pair by pair, and not certain: %s." % (
            *quotients(middle), times)
    spread = (max(natives) - min(natives)) / statistics.median(natives)
    if spread > MOST_SPREAD:
        unsure.append("the whole program's time: native runs alone differ by %.0f %%; is the machine busy with something else?" %
                      (100 * spread))
    if low > 1:
        return "whole program: mortar is %s times as fast (%s to %s): %s." % (*quotients(middle, low, high), times)
    if high < 1:
        return "whole program: mortar takes %s times as long (%s to %s): %s." % (
            *quotients(1 / middle, 1 / high, 1 / low), times)
    unsure.append("whether the whole program gains or loses: the interval holds 1; more runs narrow it (-n)")
    return "whole program: no difference that is certain, native time / mortar's time is %s (%s to %s): %s." % (
        *quotients(middle, low, high), times)


def collectives(report, wall, unsure):
    """The sentence on the collectives, from the report of a run of so many seconds; None: there is no report."""
    if report is None:
        unsure.append("whether mortar was at work: it wrote no report. Does the program call MPI_Finalize? Does the launcher hand"
                      " LD_PRELOAD on to its ranks? Otherwise write `mortar run` in front of the program: mortar try -- mpirun -n 8"
                      " mortar run ./app")
        return "collectives: not known."
    rows = report["collectives"]
    total = sum(row["seconds"] for row in rows)
    if total <= 0:
        return "collectives: no blocking collective of MPI was called."
    # A row has the seconds of the rank that spent most in its calls, so a sum of rows may be of several ranks.
    text = "collectives: at most %s of %s of any rank in a run under mortar (%.0f %%)" % (
        seconds(total), seconds(wall), 100 * total / wall)
    if total > wall:
        most = max(row["seconds"] for row in rows)
        text = "collectives: at least %s of %s of the busiest rank in a run under mortar (%.0f %%), those of several ranks %s" % (
            seconds(most), seconds(wall), 100 * most / wall, seconds(total))
    mine = [row for row in rows if row["plan"] != "native"]
    if not mine:
        return text + ", all of them by the MPI library itself."
    tried = [row for row in mine if row.get("pairs", 0) >= FEWEST_PAIRS]
    known = total - sum(row["seconds"] for row in mine) + sum(row["seconds"] for row in tried)
    if len(tried) < len(mine):
        unsure.append("how long the MPI library's own collectives take: mortar has not tried them often enough for %.0f %% of the"
                      " time in collectives" % (100 * (1 - known / total)))
    if sum(row["seconds"] for row in tried) < sum(row["seconds"] for row in mine) / 2:
        return text + "."
    middle, low, high = (1 + sum(row["seconds"] * (gain(row) - 1) for row in tried) / known for gain in (
        lambda row: row["gain"], lambda row: row["gain_interval"][0], lambda row: row["gain_interval"][1]))
    if low <= 1 <= high:
        unsure.append("whether the collectives gain or lose: the interval of mortar's trials holds 1")
    return text + "; the MPI library's own would take %s times as long (%s to %s), by mortar's trials in that run." % (
        *quotients(middle, low, high),)


def memory(native, mortar, unsure):
    """The sentence on memory, from a run of each side."""
    if min(native.looks, mortar.looks) < FEWEST_LOOKS:
        unsure.append("memory: the program is short, and was looked at %d times natively, %d times under mortar" % (
            native.looks, mortar.looks))
    if native.pss <= 0 or mortar.pss <= 0:
        return "memory: not known."
    return ("memory: %.0f MiB natively, %.0f MiB under mortar at the peak (%+.0f %%), PSS of all processes on this node, one run"
            " each; RSS, which counts shared pages once for each rank, %.0f and %.0f MiB." % (
                native.pss, mortar.pss, 100 * (mortar.pss / native.pss - 1), native.rss, mortar.rss))


def outputs(natives, mortars, unsure):
    """Compares what the runs printed, word by word in any order: ranks do not print in order. Words that differ between the native
    runs, such as times, say nothing. Returns the sentence, and whether something is wrong."""
    counts = [[collections.Counter(run.words()) for run in runs] for runs in (natives, mortars)]
    common = counts[0][0].copy()
    for count in counts[0][1:]:
        common &= count
    steady = all(count == common for count in counts[0])
    for run, count in zip(mortars, counts[1]):
        lacking, extra = common - count, count - common
        if lacking or (steady and extra):
            what, words = ("lacks", lacking) if lacking else ("has", extra)
            unsure.append("whether the results are the same: the outputs differ. A run under mortar %s %r; see %s and %s" % (
                what, next(iter(words))[:100], natives[0].out, run.out))
            return "output: differs.", True
    if steady:
        return "output: the same in all runs (words: %d)." % sum(common.values()), False
    unsure.append("whether the results are the same: words of the output differ from run to run natively, too (%d)" %
                  max(sum((count - common).values()) for count in counts[0]))
    if not common:
        return "output: not compared, all words differ between native runs.", False
    return "output: all runs under mortar have what all native runs have (words: %d)." % sum(common.values()), False
