#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""programs - what mortar costs or gains whole programs: those of bench/programs, by themselves and under `mortar run`, in turns.

    measure/programs.py --csv FILE                     runs what is missing in FILE, adds it, prints a table
    measure/programs.py --csv FILE --seconds 200       for at most that long; go on by the same command
    measure/programs.py --page FILE... > docs/results-programs.md    only the page, of what FILE... hold

A turn is one run of either side, one directly after the other; the next turn begins with the other side. All rows take turns, too,
so that what disturbs the machine disturbs all alike. A difference is mortar - native within a turn: its median over the turns, and
its quartiles. A row is within the budget if the median costs at most 2 % of the native median and 20 ms, from 64 ranks on 5 % and
200 ms; a question mark says that the budget lies between the quartiles, so that more turns may say otherwise.

Programs that call no collective, which only use memory, have one rank and a table of their own: there both the wall time and the
processors' time, of the launcher and all that it starts, may be at most 3 % longer."""
import argparse
import csv
import os
import platform
import re
import resource
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
ROWS = {  # name: words; `first` also runs on 64 ranks
    "first, 1 call": ["first", "--iterations", "1"],
    "first, 10 calls": ["first", "--iterations", "10"],
    "first, 100 calls": ["first", "--iterations", "100"],
    "first, 1000 calls": ["first", "--iterations", "1000"],
    "300 duplicates, 1 call each": ["communicators", "--size", "1"],
    "300 duplicates, 2 calls each": ["communicators", "--size", "2"],
    "300 duplicates, 100 calls each": ["communicators", "--size", "100"],
    "300 splits, 2 calls each": ["communicators", "--size", "2", "--split"],
    "planewave": ["planewave"],
    "density": ["density"],
    "solver": ["solver"],
    "chemistry": ["chemistry"],
    "dynamics": ["dynamics"],
    "fresh buffers, 1-64 MiB": ["fresh"],
}
ALONE = {  # no collective: one rank, judged by its processors' time, too
    "gather": ["gather"],
    "gather, huge pages advised": ["gather", "--advise"],
    "triad": ["triad"],
    "triad, huge pages advised": ["triad", "--advise"],
    "first touch": ["touch"],
    "first touch, huge pages advised": ["touch", "--advise"],
    "calloc, touch, free, 64 KiB": ["zeroed", "--size", "64", "--iterations", "1000000"],
    "calloc, touch, free, 1 MiB": ["zeroed"],
    "calloc, touch, free, 16 MiB": ["zeroed", "--size", "16384", "--iterations", "2048"],
    "calloc, touch, free, 64 MiB": ["zeroed", "--size", "65536", "--iterations", "24"],
    "malloc, free, 1 thread": ["small"],
    "malloc, free, 2 threads": ["small", "--size", "2"],
    "realloc to 256 MiB by 1 MiB": ["grow"],
    "malloc_trim": ["trim"],
    "malloc of 1.7 times the memory": ["beyond"],
    "fork": ["fork"],
    "fork and exec": ["exec"],
    "Python, multiprocessing": ["pool.py"],
    "Python, numpy": ["vectors.py"],
}
NUMPY = {"vectors.py"}  # what needs it
MPIS = {"ompi4": "Open MPI 4.1", "mpich4": "MPICH 4.0", "ompi5": "Open MPI 5", "mpich5": "MPICH 5", "impi": "Intel MPI"}
SIDES = ("native", "mortar")
PARTS = ("wall", "init", "inside", "finalize")  # seconds; all but the first are those of rank 0
# Seconds of processors: of the launcher and all that it starts, and of rank 0 inside.
BUSY = ("cpu", "busy")
MEMORY = ("rss", "pss", "private", "huge")  # MiB of rank 0 at a moment of the program's choice; 0: it chose none
NUMBERS = (*PARTS, *BUSY, *MEMORY, "faults")
FIELDS = ["mpi", "program", "ranks", "turn", "side", *PARTS, "load", "machine", "commit", *BUSY, *MEMORY, "faults", "answer"]
CROWD = 64
SHARE = 0.03  # of the native time that mortar may cost a program of ALONE


def budget(ranks, native):
    """Seconds that mortar may cost a program of so many seconds."""
    return 0.05 * native + 0.2 if ranks >= CROWD else 0.02 * native + 0.02


# ---- running ----

def python_of(programs):
    """A Python for those of these programs that are written in it: with numpy if there is one. And whether it has numpy."""
    for python in dict.fromkeys((sys.executable, "/usr/bin/python3")) if NUMPY & set(programs) else ():
        if os.path.exists(python) and subprocess.run([python, "-c", "import numpy"], stderr=subprocess.DEVNULL,
                                                     check=False).returncode == 0:
            return python, True
    return sys.executable, False


def program_of(options, words):
    if words[0].endswith(".py"):
        return [options.python, "-B", os.path.join(ROOT, "bench", "programs", words[0]), *words[1:]]
    return [os.path.join(options.build, "bench", "programs", "programs-" + options.mpi), *words]


def processors():
    """Seconds that the processes used whose end was waited for, with theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def run(options, name, ranks, side):
    """One run; {part: number, answer: text}. A program that fails, or has wrong results, ends the measurement."""
    words = [os.path.join(ROOT, "scripts", "mpi"), options.mpi, str(ranks)]
    if side == "mortar":
        words += [os.path.join(options.build, "bin", "mortar"), "run", *(word for o in options.option for word in ("--option", o))]
    words += program_of(options, {**ROWS, **ALONE}[name] + options.words.split())
    start, used = time.perf_counter(), processors()
    done = subprocess.run(["timeout", "-k", "5", str(options.patience), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding="utf-8", errors="replace", check=False)
    wall, cpu = time.perf_counter() - start, processors() - used
    said = dict(re.findall(r"(\w+)=(\S+)", done.stdout), wall=wall, cpu=cpu)
    if done.returncode != 0 or not set(NUMBERS) <= set(said):
        sys.exit("programs: exit code %d of %s\n%s%s" % (done.returncode, " ".join(words), done.stdout, done.stderr))
    return {**{part: round(float(said[part]), 6) for part in NUMBERS}, "answer": said["answer"]}


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = re.search(r"^model name\s*: (.*)$", file.read(), re.M)
    return "%s (%d processors)" % (model.group(1) if model else platform.machine(), len(os.sched_getaffinity(0)))


def commit():
    done = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"],
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False)
    return done.stdout.strip() or "unknown"


def read(path):
    """The rows of a CSV file, numbers as numbers; none where there is no file."""
    if not os.path.exists(path) or os.path.getsize(path) == 0:
        return []
    with open(path, newline="", encoding="utf-8") as file:
        reader = csv.DictReader(file)
        if reader.fieldnames != FIELDS:
            sys.exit("programs: %s: not a file of this program (its first line differs)" % path)
        return [dict(row, ranks=int(row["ranks"]), turn=int(row["turn"]), load=float(row["load"]),
                     **{part: float(row[part] or 0) for part in NUMBERS}) for row in reader]


def cells_wanted(options):
    """(name, ranks) of a turn."""
    for ranks in options.ranks:
        for name, words in ROWS.items():
            if words[0] in options.programs and (ranks < CROWD or words[0] == "first" or options.named):
                yield name, ranks
    for name, words in ALONE.items():
        if words[0] in options.programs:
            yield name, 1


def missing(options, known):
    """(name, ranks, turn) of what the file lacks, in the order in which it is to run."""
    there = {(row["program"], row["ranks"], row["turn"]) for row in known if row["mpi"] == options.mpi}
    for turn in range(options.turns):
        for name, ranks in cells_wanted(options):
            if (name, ranks, turn) not in there:
                yield name, ranks, turn


def measure(options):
    known = read(options.csv)
    cells, facts, start = list(missing(options, known)), {"machine": machine(), "commit": commit()}, time.monotonic()
    others = sorted({row["commit"] for row in known} - {facts["commit"]})
    if others:
        print("programs: %s also holds runs of commit %s, which count; for a comparison take a new file" % (
            options.csv, ", ".join(others)), file=sys.stderr)
    with open(options.csv, "a", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
        if not known:
            writer.writeheader()
        for number, (name, ranks, turn) in enumerate(cells, 1):
            if options.seconds and time.monotonic() - start > options.seconds:
                print("programs: time is over, %d turns are missing: the same command goes on" % (len(cells) - number + 1),
                      file=sys.stderr)
                break
            load = os.getloadavg()[0]
            found = {side: run(options, name, ranks, side) for side in (SIDES if turn % 2 == 0 else SIDES[::-1])}
            for side in SIDES:
                known.append(dict(facts, mpi=options.mpi, program=name, ranks=ranks, turn=turn, side=side, load=load,
                                  **found[side]))
                writer.writerow(known[-1])
            file.flush()
            print("%d/%d  %d ranks, %s: %s" % (number, len(cells), ranks, name, ", ".join(
                "%s %.3f s" % (side, found[side]["wall"]) for side in SIDES)), file=sys.stderr)
    return known


# ---- tables ----

def cells_of(rows, mpi, alone=False):
    """{(program, ranks): [{side: row}, one for each turn]}, in the order of the table. alone: those of ALONE, else the others."""
    pairs = {}
    for row in rows:
        if row["mpi"] == mpi:
            pairs.setdefault((row["program"], row["ranks"]), {}).setdefault(row["turn"], {})[row["side"]] = row
    names = [*ROWS, *ALONE]
    order = sorted(pairs, key=lambda cell: (names.index(cell[0]), cell[1]))
    turns = {cell: [turn for turn in pairs[cell].values() if len(turn) == len(SIDES)] for cell in order}
    return {cell: found for cell, found in turns.items() if found and (cell[0] in ALONE) == alone}


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


def verdict(turns, ranks):
    return judged(*differences(turns, "wall"), budget(ranks, statistics.median(seconds(turns, "native", "wall"))))


def verdict_alone(turns):
    """The worse one of both times; where they have the same answer at all."""
    if any(turn["native"]["answer"] != turn["mortar"]["answer"] for turn in turns):
        return "**no**, another answer"
    both = [judged(*differences(turns, part), SHARE * statistics.median(seconds(turns, "native", part)))
            for part in ("cpu", "wall")]
    return min(both, key=("**no**", "**no**?", "yes?", "yes").index)


def table(rows, mpi):
    yield "| program | ranks | turns | native ms | mortar ms | difference ms | % | within | least ms: native, mortar |" \
          " inside: native ms | difference ms | Init and Finalize: difference ms |"
    yield "|" + "---|" * 12
    for (name, ranks), turns in cells_of(rows, mpi).items():
        native, mortar = (statistics.median(seconds(turns, side, "wall")) for side in SIDES)
        wall = differences(turns, "wall")
        yield "| %s |" % " | ".join([
            name, str(ranks), str(len(turns)), milliseconds(native), milliseconds(mortar), change(wall),
            "%+.1f" % (100 * wall[1] / native), verdict(turns, ranks),
            ", ".join(milliseconds(min(seconds(turns, side, "wall"))) for side in SIDES),
            milliseconds(statistics.median(seconds(turns, "native", "inside"))), change(differences(turns, "inside")),
            change(differences(turns, "init", "finalize"))])


def percents(turns, part):
    native = statistics.median(seconds(turns, "native", part))
    low, middle, high = (100 * value / native for value in differences(turns, part))
    return "%+.1f (%+.1f to %+.1f)" % (middle, low, high)


def table_alone(rows, mpi):
    yield "| program | turns | CPU: native ms | mortar ms | difference % | wall: native ms | mortar ms | difference % | within |" \
          " CPU inside: % | page faults | RSS | PSS | private | huge pages |"
    yield "|" + "---|" * 15
    for (name, _), turns in cells_of(rows, mpi, alone=True).items():
        columns = [name, str(len(turns))]
        for part in ("cpu", "wall"):
            columns += [milliseconds(statistics.median(seconds(turns, side, part))) for side in SIDES] + [percents(turns, part)]
        columns += [verdict_alone(turns), percents(turns, "busy")]
        columns += [", ".join("%.0f" % statistics.median(seconds(turns, side, part)) for side in SIDES)
                    for part in ("faults", *MEMORY)]
        yield "| %s |" % " | ".join(columns)


def tables(rows, mpi):
    """Both tables of an MPI, each if there are rows for it, and how many rows are within their budget."""
    if cells_of(rows, mpi):
        yield from table(rows, mpi)
        yield "\n" + summary(rows, mpi, [verdict(turns, ranks) for (_, ranks), turns in cells_of(rows, mpi).items()])
    alone = cells_of(rows, mpi, alone=True)
    if alone:
        yield "\n### No collective, one rank\n"
        yield from table_alone(rows, mpi)
        yield "\n" + summary(rows, mpi, [verdict_alone(turns) for turns in alone.values()])


def summary(rows, mpi, verdicts):
    loads = quartiles([row["load"] for row in rows if row["mpi"] == mpi])
    return "Within the budget: %d of %d rows%s. The load of the machine before a turn was %.1f (quartiles %.1f to %.1f)." % (
        sum(text.startswith("yes") for text in verdicts), len(verdicts),
        ", %d of all rows with a question mark" % sum("?" in text for text in verdicts),
        loads[1], loads[0], loads[2])


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

PAGE_ALONE = """Programs that only use memory, and call no collective, have a table of their own. *CPU* is the processors' time of
the launcher and of all that it starts; it and the wall time may each be 3 % longer. *CPU inside* is that of rank 0 between MPI_Init
and MPI_Finalize. Page faults are counted in the same time; RSS, PSS, private memory and huge pages are MiB at a moment that the
program chooses. Each pair is native, mortar.
"""


def page(rows):
    yield PAGE
    if any(row["program"] in ALONE for row in rows):
        yield PAGE_ALONE
    facts = [sorted({row[name] for row in rows}) for name in ("machine", "commit")]
    yield "Measured on %s; commit %s." % tuple(", ".join(names) for names in facts)
    for mpi in MPIS:
        if any(row["mpi"] == mpi for row in rows):
            yield "\n## %s\n" % MPIS[mpi]
            yield from tables(rows, mpi)


def numbers(text):
    found = [int(word) for word in text.split(",") if word.isdigit() and int(word) > 0]
    if len(found) != len(text.split(",")):
        raise argparse.ArgumentTypeError("expected numbers of ranks, e.g. 2,4,8, not %s" % text)
    return found


def main():
    names = list(dict.fromkeys(words[0] for words in (*ROWS.values(), *ALONE.values())))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default=os.path.join(ROOT, "build", "release"), help="the build folder (build/release)")
    parser.add_argument("--mpi", choices=list(MPIS), default="ompi4", help="(ompi4)")
    parser.add_argument("--ranks", type=numbers, default="2,4,8,16,64",
                        help="(2,4,8,16,64; on 64 only `first`); programs that call no collective always have 1")
    parser.add_argument("--programs", nargs="+", choices=names, metavar="PROGRAM",
                        help="only these, on 64 ranks too: " + " ".join(names))
    parser.add_argument("--turns", type=int, default=8, help="of each row (8)")
    parser.add_argument("--seconds", type=float, help="begin no turn after so many seconds")
    parser.add_argument("--patience", type=float, default=120, help="seconds that one run may take (120)")
    parser.add_argument("--option", action="append", default=[], metavar="NAME=VALUE",
                        help="for `mortar run`, e.g. OFF=all; take another --csv then")
    parser.add_argument("--words", default="", help="for every program, e.g. --words='--iterations 2'; take another --csv then")
    parser.add_argument("--csv", metavar="FILE", help="every run; what is there is not run again")
    parser.add_argument("--page", nargs="+", metavar="FILE", help="run nothing, print the page of what these files hold")
    options = parser.parse_args()
    if options.page:
        print("\n".join(page([row for path in options.page for row in read(path)])))
        return
    if not options.csv or options.turns < 1:
        parser.error("--csv is needed, and at least one turn")
    options.named, options.programs = options.programs is not None, options.programs or names
    options.python, numpy = python_of(options.programs)
    if not numpy and NUMPY & set(options.programs):
        print("programs: no Python here has numpy: without %s" % ", ".join(sorted(NUMPY)), file=sys.stderr)
        options.programs = [name for name in options.programs if name not in NUMPY]
    print("\n".join(tables(measure(options), options.mpi)))


if __name__ == "__main__":
    main()
