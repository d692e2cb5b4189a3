# SPDX-License-Identifier: BSD-3-Clause
"""tune - does `mortar tune` write a file that then decides what runs, keep what it had, save at an interruption and refuse bad
words? Does MORTAR_TUNE_SAVE? No time is judged.

usage: tune.py FLAVOUR MORTAR"""
import functools
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

from testing import MPI, check, flavour, load, refuses, run

(mortar,) = sys.argv[2:]


def ranges(entries, collective, buffers):
    mine = [(e["from"], e["to"]) for e in entries if e["collective"] == collective and e["buffers"] == buffers]
    return sorted(mine)


def covered(found, first, last):
    """One range after the other, without a gap, from first to last."""
    ends = [first - 1] + [to for _, to in found]
    return bool(found) and all(start == end + 1 for (start, _), end in zip(found, ends)) and ends[-1] == last


def tunes(folder):
    path = os.path.join(folder, "tuning.json")
    out, said = run(mortar, "tune", "alltoall", "--bytes", "512,8,64", "--buffers", "both", "--seconds", "2", "--output", path)
    check("a line for each size and kind of buffers", said.count("] alltoall ") == 6 and "[6/6]" in said, out + said)
    check("of plans only", "is no plan" not in said, said)
    data = load(path)
    entries = data["sets"][0]["entries"]
    check("one set, of this MPI", len(data["sets"]) == 1 and data["sets"][0]["mpi"], data)
    for buffers in ("heap", "outside"):
        check("sizes without gaps: " + buffers, covered(ranges(entries, "alltoall", buffers), 8, 1023), entries)
    for e in entries:
        same = [f for f in entries if (f["from"], f["plan"], f["buffers"]) == (e["to"] + 1, e["plan"], e["buffers"])]
        check("joined where the plan is the same", not same, entries)
    out, said = run("env", "MORTAR_OFF=all", mortar, "tune", "allgather", "--bytes", "100,8,12", "--seconds", "1", "--output", path)
    rows = [line.split() for line in out.splitlines()[1:]]
    first, second = ["allgather", "heap", "8"], ["allgather", "heap", "100"]
    check("the table has a row for each class of sizes", [row[:3] for row in rows] == [first, second], out)
    dropped = all(int(row[7]) > 3 and 0 <= int(row[8]) <= int(row[7]) for row in rows)
    check("of several plans, whatever was switched off", dropped, out)
    both = load(path)["sets"][0]["entries"]
    check("what was there stays", [e for e in both if e["collective"] == "alltoall"] == entries and
          covered(ranges(both, "allgather", "heap"), 8, 127), both)
    out, said = run(mortar, "info", "--tuning", path, ranks=1)
    check("mortar info explains it", "fits this machine" in out and out.count("\nalltoall ") == len(entries), out + said)
    return path, both


def at_once(folder):
    """Two runs with the same --output: neither undoes what the other one has written since it began."""
    path, names = os.path.join(folder, "at-once.json"), ("alltoall", "allgather")
    jobs = [subprocess.Popen([MPI, flavour, "2", mortar, "tune", name, "--bytes", "8,64", "--seconds", "1", "--output", path],
                             stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True) for name in names]
    said = [job.communicate(timeout=120)[0] for job in jobs]
    entries = load(path)["sets"][0]["entries"]
    for name in names:
        check("at the same time: " + name, covered(ranges(entries, name, "heap"), 8, 127), said)


def used(folder, path, entries):
    """Plans that mortar would not choose for 8 bytes, so that it must have been the file."""
    for e in entries:
        if e["collective"] == "alltoall" and e["from"] <= 8 <= e["to"] and e["buffers"] == "heap":
            e["plan"] = "pull(columns, plain)"
    data, changed, report = load(path), os.path.join(folder, "changed.json"), os.path.join(folder, "report.json")
    data["sets"][0]["entries"] = entries
    with open(changed, "w", encoding="utf-8") as file:
        json.dump(data, file)
    words = ["env", "MORTAR_TUNE=off", "MORTAR_TUNING=" + changed, "MORTAR_REPORT=" + report]
    run(*words, mortar, "bench", "alltoall", "--bytes", "8", "--seconds", "0.05")
    rows = [row for row in load(report)["collectives"] if row["source"] == "file"]
    check("its plan runs", rows and all(row["plan"] == "pull(columns, plain)" for row in rows), load(report))


def saved(folder):
    path = os.path.join(folder, "saved.json")
    for seconds in ("1", "5", "25"):  # on a busy machine it takes a while until enough is known to be saved
        run("env", "MORTAR_REGRET=50", "MORTAR_TUNE_SAVE=" + path, mortar, "bench", "alltoall", "--bytes", "16384", "--seconds",
            seconds)
        if os.path.exists(path):
            break
    entries = load(path)["sets"][0]["entries"]
    check("MORTAR_TUNE_SAVE: the class that was measured", ranges(entries, "alltoall", "heap") == [(16384, 32767)], entries)
    _, said = run("env", "MORTAR_TUNE=off", "MORTAR_TUNING=" + path, mortar, "bench", "alltoall", "--bytes", "16384",
                  "--seconds", "0.05")
    check("and the file is taken", "is not used" not in said, said)
    other = os.path.join(folder, "other.txt")
    with open(other, "w", encoding="utf-8") as file:
        file.write("mine\n")
    _, said = run("env", "MORTAR_TUNE_SAVE=" + other, mortar, "bench", "alltoall", "--bytes", "16384", "--seconds", "0.1")
    with open(other, encoding="utf-8") as file:
        check("another file is left alone, and that is said", file.read() == "mine\n" and "is no tuning file" in said, said)
    barrier = [mortar, "bench", "barrier", "--repetitions", "3"]
    _, said = run("env", "MORTAR_TUNE_SAVE=" + other + ".not", "MORTAR_OFF=alltoal", *barrier)
    check("nothing to save: what to do", said.count("too few trials; run longer, or with MORTAR_TUNE=online") == 1, said)
    wrong = "MORTAR_OFF: alltoal is ignored: it is no collective; did you mean alltoall?"
    check("a wrong name in MORTAR_OFF", said.count(wrong) == 1, said)
    last = 'case ${OMPI_COMM_WORLD_RANK:-$PMI_RANK} in 0) ;; *) export MORTAR_REPORT=- MORTAR_TUNE_SAVE=- ;; esac; exec "$@"'
    _, said = run("sh", "-c", last, "sh", *barrier)
    check("what only other ranks want: how to give it", "mortar run --report FILE" in said and
          "mortar run --option TUNE_SAVE=FILE" in said, said)


def interrupt(path):
    """What mortar tune says when somebody presses Ctrl-C after the first size."""
    words = [MPI, flavour, "2", mortar, "tune", "alltoall", "--bytes", "8:1M:x2", "--seconds", "60", "--output", path]
    with subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, start_new_session=True) as job:
        end = time.monotonic() + 40
        while not os.path.exists(path) and time.monotonic() < end:
            time.sleep(0.1)
        os.killpg(job.pid, signal.SIGINT)
        try:
            return job.communicate(timeout=20)[0]
        except subprocess.TimeoutExpired:
            os.killpg(job.pid, signal.SIGKILL)
            sys.exit("it does not end when interrupted\n" + job.communicate()[0])


def interrupted(folder):
    for turn in range(4):  # a launcher that is itself interrupted may lose the last words
        path = os.path.join(folder, "interrupted-%d.json" % turn)
        said = interrupt(path)
        # what becomes of the exit code is the launcher's affair: MPICH's makes 0 of it
        found = ranges(load(path)["sets"][0]["entries"], "alltoall", "heap")
        check("what was settled is in the file", covered(found, 8, found[-1][1]), said)
        check("nothing half written is left", [name for name in os.listdir(folder) if name.startswith(os.path.basename(path))] ==
              [os.path.basename(path)], os.listdir(folder))
        if "saved in" in said or flavour == "ompi5":  # its launcher has stopped listening by then
            return
    check("it says so", False, said)


def refused(folder):
    other = os.path.join(folder, "notes.txt")
    with open(other, "w", encoding="utf-8") as file:
        file.write("no tuning file\n")
    refuses(functools.partial(run, mortar, "tune"), [
        (["alltoal"], 'no collective "alltoal": did you mean alltoall?'),
        (["--bytes", "8:4K"], "--bytes 8:4K: expected FROM:TO:xN"),
        (["--buffers", "stack"], "--buffers stack: expected heap, outside or both"),
        (["--seconds", "0"], "--seconds 0: expected 0.001 to 1000000"),
        (["--seconds"], "--seconds needs a value: expected 0.001"),
        (["--output"], "--output needs a file"),
        (["--output", other], "is there and is no tuning file"),
        (["--output", os.path.join(folder, "none", "x")], "cannot be written: No such file"),
    ])
    with open(other, encoding="utf-8") as file:
        check("and the other file is as it was", file.read() == "no tuning file\n")
    out, said = run("env", "MORTAR_HEAP=off", mortar, "tune", "--bytes", "8", "--output", os.path.join(folder, "x"), code=1)
    check("without the heap there are no heap buffers to tune", said.count("nothing to tune") == 1, out + said)


with tempfile.TemporaryDirectory() as temporary:
    used(temporary, *tunes(temporary))
    at_once(temporary)
    saved(temporary)
    interrupted(temporary)
    refused(temporary)
