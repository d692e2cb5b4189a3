#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""programs - what mortar costs or gains whole programs: those of bench/programs and the applications of examples/, by themselves
and under `mortar run`, in turns.

    measure/programs.py --csv FILE                     runs what is missing in FILE, adds it, prints a table
    measure/programs.py --csv FILE --seconds 200       for at most that long; go on by the same command
    measure/programs.py --page FILE... > docs/results-programs.md    only the page, of what FILE... hold

A turn is one run of either side, one directly after the other; the next turn begins with the other side. All rows take turns, too,
so that what disturbs the machine disturbs all alike. A difference is mortar - native within a turn: its median over the turns, and
its quartiles. A row is within the budget if the median costs at most 2 % of the native median and 20 ms, from 64 ranks on 5 % and
200 ms; a question mark says that the budget lies between the quartiles, so that more turns may say otherwise.

Applications have a table with their memory; those of the distribution (`scripts/setup applications`) have one, too. Programs that
call no collective, which only use memory, have one rank and a table of their own: there both the wall time and the processors'
time, of the launcher and all that it starts, may be at most 3 % longer."""
import argparse
import csv
import os
import platform
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time

from program_rows import ALONE, APPLICATIONS, CROWD, FIELDS, INSTALLED, MPIS, NUMBERS, NUMPY, RESULTS, ROWS, SIDES
from program_tables import page, tables

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# One thread for each rank, where Debian's CP2K has its data, and where it has ScaLAPACK's tests.
TESTS = "/usr/lib/%s-linux-gnu/scalapack/openmpi-tests" % os.uname().machine
ENVIRONMENT = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1", "CP2K_DATA_DIR": "/usr/share/cp2k", **os.environ,
               "PATH": os.environ["PATH"] + ":" + TESTS}


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
    if words[0] in RESULTS:
        return words
    if words[0] in of_examples():
        return [os.path.join(options.build, "examples", "%s-%s" % (words[0], options.mpi)), *words[1:]]
    return [os.path.join(options.build, "bench", "programs", "programs-" + options.mpi), *words]


def is_installed(program):
    return shutil.which(program, path=ENVIRONMENT["PATH"]) is not None


def of_examples():
    return {words[0] for words in APPLICATIONS.values()}


def result_of(program, output):
    """The last numbers of an installed application's result; its lines, if no number has decimals."""
    lines = re.findall(RESULTS[program], output, re.M)
    return " ".join(re.findall(r"-?\d+\.\d+(?:[eE][-+]?\d+)?", " ".join(lines))[-12:] or lines)


def said_by(program, output):
    """{name: text} of what a program printed. An application does not know all that the others tell; that is 0."""
    if program in RESULTS:
        return dict(dict.fromkeys(NUMBERS, "0"), answer=result_of(program, output) or "none")
    said = dict(re.findall(r"(\w+)=(\S+)", output))
    if "seconds" in said:
        said = {**dict.fromkeys(NUMBERS, "0"), **said, "inside": said["seconds"],
                "answer": said.get("hash") or said.get("verification", "none")}
    return said


def processors():
    """Seconds that the processes used whose end was waited for, with theirs."""
    usage = resource.getrusage(resource.RUSAGE_CHILDREN)
    return usage.ru_utime + usage.ru_stime


def launch(options, ranks, side):
    """The words before the program's own."""
    words = [os.path.join(ROOT, "scripts", "mpi"), options.mpi, str(ranks)]
    if side == "mortar":
        words += [os.path.join(options.build, "bin", "mortar"), "run", *(word for o in options.option for word in ("--option", o))]
    return words


def copy_inputs(folder):
    """Where installed applications run: they write files beside their inputs."""
    return shutil.copytree(os.path.join(ROOT, "bench", "installed"), os.path.join(folder, "inputs"))


def run(options, name, ranks, side):
    """One run; {part: number, answer: text}. A program that fails, or has wrong results, ends the measurement."""
    words = launch(options, ranks, side)
    program = {**ROWS, **APPLICATIONS, **INSTALLED, **ALONE}[name]
    words += program_of(options, program + options.words.split())
    with tempfile.TemporaryDirectory() as folder:
        inputs = copy_inputs(folder)
        start, used = time.perf_counter(), processors()
        done = subprocess.run(["timeout", "-k", "5", str(options.patience), *words], stdin=subprocess.DEVNULL, env=ENVIRONMENT,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, encoding="utf-8", errors="replace", check=False,
                              cwd=inputs if program[0] in RESULTS else None)
        wall, cpu = time.perf_counter() - start, processors() - used
    said = dict(said_by(program[0], done.stdout), wall=wall, cpu=cpu)
    if done.returncode != 0 or not set(NUMBERS) <= set(said) or (program[0] in RESULTS and said["answer"] == "none"):
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
        lines = file.readlines()
        if not lines[-1].endswith("\n"):  # after a full disk, or a kill
            sys.exit("programs: %s: line %d is not a whole row; remove it" % (path, len(lines)))
        reader = csv.DictReader(lines)
        if reader.fieldnames != FIELDS:
            sys.exit("programs: %s: not a file of this program (its first line differs)" % path)
        try:
            return [dict(row, ranks=int(row["ranks"]), turn=int(row["turn"]), load=float(row["load"]),
                         **{part: float(row[part] or 0) for part in NUMBERS}) for row in reader]
        except (TypeError, ValueError):
            sys.exit("programs: %s: line %d is not a whole row; remove it" % (path, reader.line_num))


def cells_wanted(options):
    """(name, ranks) of a turn."""
    for ranks in options.ranks:
        for name, words in {**ROWS, **APPLICATIONS, **INSTALLED}.items():
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


def numbers(text):
    found = [int(word) for word in text.split(",") if word.isdigit() and int(word) > 0]
    if len(found) != len(text.split(",")):
        raise argparse.ArgumentTypeError("expected numbers of ranks, e.g. 2,4,8, not %s" % text)
    return found


def main():
    names = list(dict.fromkeys(words[0] for table in (ROWS, APPLICATIONS, INSTALLED, ALONE) for words in table.values()))
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
        for path in options.page:
            if not os.path.exists(path):
                parser.error("--page: there is no %s" % path)
        print("\n".join(page([row for path in options.page for row in read(path)])))
        return
    if not options.csv or options.turns < 1:
        parser.error("--csv is needed, and at least one turn")
    if not os.path.isdir(os.path.dirname(options.csv) or "."):
        parser.error("--csv %s: there is no such folder" % options.csv)
    options.named, options.programs = options.programs is not None, options.programs or names
    options.python, numpy = python_of(options.programs)
    if not numpy and NUMPY & set(options.programs):
        print("programs: no Python here has numpy: without %s" % ", ".join(sorted(NUMPY)), file=sys.stderr)
        options.programs = [name for name in options.programs if name not in NUMPY]
    for name in sorted(of_examples() & set(options.programs)):
        if not os.path.exists(program_of(options, [name])[0]):
            print("programs: %s is not built for %s: without it" % (name, options.mpi), file=sys.stderr)
            options.programs.remove(name)
    absent = [name for name in RESULTS if name in options.programs and (options.mpi != "ompi4" or not is_installed(name))]
    if absent:
        print("programs: without %s (scripts/setup applications installs them, for ompi4)" % ", ".join(absent), file=sys.stderr)
        options.programs = [name for name in options.programs if name not in absent]
    print("\n".join(tables(measure(options), options.mpi)))


if __name__ == "__main__":
    main()
