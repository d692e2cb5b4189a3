# SPDX-License-Identifier: BSD-3-Clause
"""program_tables - the tables and the page that measure/programs.py makes of its runs, and what it says of a row. `rows` are dicts
with program_rows.FIELDS, numbers as numbers."""
import math
import statistics

from program_rows import ALONE, APPLICATIONS, CROWD, INSTALLED, MEMORY, MPIS, ROWS, SHARE, SIDES


def budget(ranks, native):
    """Seconds that mortar may cost a program of so many seconds."""
    return 0.05 * native + 0.2 if ranks >= CROWD else 0.02 * native + 0.02


def cells_of(rows, mpi, programs):
    """{(program, ranks): [{side: row}, one for each turn]}, in the order of programs, one of the tables of program_rows."""
    pairs = {}
    for row in rows:
        if row["mpi"] == mpi and row["program"] in programs:
            pairs.setdefault((row["program"], row["ranks"]), {}).setdefault(row["turn"], {})[row["side"]] = row
    names = list(programs)
    order = sorted(pairs, key=lambda cell: (names.index(cell[0]), cell[1]))
    turns = {cell: [turn for turn in pairs[cell].values() if len(turn) == len(SIDES)] for cell in order}
    return {cell: found for cell, found in turns.items() if found}


def seconds(turns, side, *parts):
    return [sum(turn[side][part] for part in parts) for turn in turns]


def quartiles(values):
    return statistics.quantiles(values, n=4, method="inclusive") if len(values) > 1 else values * 3


def differences(turns, *parts):
    """Seconds: mortar - native, quartiles over the turns."""
    return quartiles([b - a for a, b in zip(*(seconds(turns, side, *parts) for side in SIDES))])


def milliseconds(value, sign=""):
    return ("%" + sign + ".*f") % (1 if abs(value) < 0.01 else 0, 1e3 * value)


def change(quarters):
    low, middle, high = (milliseconds(value, "+") for value in quarters)
    return "%s (%s to %s)" % (middle, low, high)


def judged(low, middle, high, most):
    return ("yes" if middle <= most else "**no**") + ("?" if low <= most < high else "")


def same(one, other):
    """Are two answers the same? Numbers may differ in digits that the association of a sum decides."""
    words = one.split(), other.split()
    return one == other or len(words[0]) == len(words[1]) and all(
        a == b or "." in a and "." in b and math.isclose(float(a), float(b), rel_tol=1e-5, abs_tol=1e-6) for a, b in zip(*words))


def other_answer(turns):
    return any(not same(turn["native"]["answer"], turn["mortar"]["answer"]) for turn in turns)


def verdict(turns, ranks):
    if other_answer(turns):
        return "**no**, another answer"
    return judged(*differences(turns, "wall"), budget(ranks, statistics.median(seconds(turns, "native", "wall"))))


def verdict_alone(turns):
    """The worse one of both times; where they have the same answer at all."""
    if other_answer(turns):
        return "**no**, another answer"
    both = [judged(*differences(turns, part), SHARE * statistics.median(seconds(turns, "native", part)))
            for part in ("cpu", "wall")]
    return min(both, key=("**no**", "**no**?", "yes?", "yes").index)


HEAD = "| program | ranks | turns | native ms | mortar ms | difference ms | % | within | least ms: native, mortar |"


def head(more):
    yield HEAD + more
    yield "|" + "---|" * ((HEAD + more).count("|") - 1)


def median(turns, part):
    return milliseconds(statistics.median(seconds(turns, "native", part)))


def walls(name, ranks, turns):
    """The columns of HEAD."""
    native, mortar = (statistics.median(seconds(turns, side, "wall")) for side in SIDES)
    wall = differences(turns, "wall")
    return [name, str(ranks), str(len(turns)), milliseconds(native), milliseconds(mortar), change(wall),
            "%+.1f" % (100 * wall[1] / native), verdict(turns, ranks),
            ", ".join(milliseconds(min(seconds(turns, side, "wall"))) for side in SIDES)]


def table(rows, mpi):
    yield from head(" inside: native ms | difference ms | Init and Finalize: difference ms |")
    for (name, ranks), turns in cells_of(rows, mpi, ROWS).items():
        yield "| %s |" % " | ".join(walls(name, ranks, turns) + [
            median(turns, "inside"), change(differences(turns, "inside")), change(differences(turns, "init", "finalize"))])


def percents(turns, part):
    native = statistics.median(seconds(turns, "native", part))
    low, middle, high = (100 * value / native for value in differences(turns, part))
    return "%+.1f (%+.1f to %+.1f)" % (middle, low, high)


def table_applications(rows, mpi):
    yield from head(" inside: native ms | difference % | CPU: native ms | difference % | RSS | PSS |")
    for (name, ranks), turns in cells_of(rows, mpi, APPLICATIONS).items():
        columns = walls(name, ranks, turns)
        for part in ("inside", "cpu"):
            columns += [median(turns, part), percents(turns, part)]
        yield "| %s |" % " | ".join(columns + [pair(turns, part) for part in ("rss", "pss")])


def table_installed(rows, mpi):
    yield from head(" CPU: native ms | difference % |")
    for (name, ranks), turns in cells_of(rows, mpi, INSTALLED).items():
        yield "| %s |" % " | ".join(walls(name, ranks, turns) + [median(turns, "cpu"), percents(turns, "cpu")])


def pair(turns, part):
    return ", ".join("%.0f" % statistics.median(seconds(turns, side, part)) for side in SIDES)


def table_alone(rows, mpi):
    yield "| program | turns | CPU: native ms | mortar ms | difference % | wall: native ms | mortar ms | difference % | within |" \
          " CPU inside: % | page faults | RSS | PSS | private | huge pages |"
    yield "|" + "---|" * 15
    for (name, _), turns in cells_of(rows, mpi, ALONE).items():
        columns = [name, str(len(turns))]
        for part in ("cpu", "wall"):
            columns += [milliseconds(statistics.median(seconds(turns, side, part))) for side in SIDES] + [percents(turns, part)]
        columns += [verdict_alone(turns), percents(turns, "busy")]
        columns += [pair(turns, part) for part in ("faults", *MEMORY)]
        yield "| %s |" % " | ".join(columns)


def tables(rows, mpi):
    """The tables of an MPI, each if there are rows for it, and how many rows are within their budget."""
    for title, programs, made, judge in (
            ("", ROWS, table, verdict),
            ("\n### Applications\n", APPLICATIONS, table_applications, verdict),
            ("\n### Installed applications\n", INSTALLED, table_installed, verdict),
            ("\n### No collective, one rank\n", ALONE, table_alone, lambda turns, ranks: verdict_alone(turns))):
        cells = cells_of(rows, mpi, programs)
        if cells:
            yield from [title] * bool(title)
            yield from made(rows, mpi)
            yield "\n" + summary([judge(turns, ranks) for (_, ranks), turns in cells.items()])


def summary(verdicts):
    return "Within the budget: %d of %d rows%s." % (
        sum(text.startswith("yes") for text in verdicts), len(verdicts),
        ", %d of all rows with a question mark" % sum("?" in text for text in verdicts))


PAGE = """# Whole programs

A loop shows what a call costs. It does not show what mortar costs a program that is over before its calls pay, that makes many
communicators, or that hardly calls collectives. `bench/programs` has such programs, in the proportions of applications, and
`measure/programs.py` ran them by themselves and under `mortar run` with its defaults, in turns, and made this page.

How to read it: *native ms* and *mortar ms* are the wall time of the whole `mpirun`, medians over the turns. A difference is
mortar - native within a turn, its median and its quartiles; below 0 mortar is faster. *Inside* is the time from the end of MPI_Init
to the beginning of MPI_Finalize on rank 0, the last column what these two calls took more. *Within* says whether the wall time is
at most 2 % and 20 ms longer, from 64 ranks on 5 % and 200 ms; with a question mark the budget lies between the quartiles. *Least*
is the shortest wall time of either side: on a machine that others use, too, it says more than a median.
[bench.md](bench.md#programs-as-a-whole) says what the programs do.
"""

PAGE_APPLICATIONS = """The applications of [examples.md](examples.md) have a table with their memory. *Inside* is the time that they
print themselves, of the slowest rank: all iterations, or the benchmark FT as it is defined. RSS and PSS are MiB of all ranks: the
most that was resident in each, where pages that several ranks map count in each of them, and what the ranks take at the end, where
such pages count once. Each pair is native, mortar. Those under mortar must have the same result.
"""

PAGE_INSTALLED = """The applications that the distribution has, unchanged, have a table of their own; `bench/installed` has their
inputs. They must have the same result, but for digits that the association of a sum decides. *CPU* is the processors' time of the
launcher and of all that it starts.
"""

PAGE_ALONE = """Programs that only use memory, and call no collective, have a table of their own. *CPU* is the processors' time of
the launcher and of all that it starts; it and the wall time may each be 3 % longer. *CPU inside* is that of rank 0 between MPI_Init
and MPI_Finalize. Page faults are counted in the same time; RSS, PSS, private memory and huge pages are MiB at a moment that the
program chooses. Each pair is native, mortar.
"""


def page(rows):
    yield PAGE
    if any(row["program"] in APPLICATIONS for row in rows):
        yield PAGE_APPLICATIONS
    if any(row["program"] in INSTALLED for row in rows):
        yield PAGE_INSTALLED
    if any(row["program"] in ALONE for row in rows):
        yield PAGE_ALONE
    facts = [sorted({row[name] for row in rows}) for name in ("machine", "commit")]
    yield "Measured on %s; commit %s." % tuple(", ".join(names) for names in facts)
    for mpi in MPIS:
        if any(row["mpi"] == mpi for row in rows):
            yield "\n## %s\n" % MPIS[mpi]
            yield from tables(rows, mpi)
