# SPDX-License-Identifier: BSD-3-Clause
"""card - `mortar site-card`: every cell is in the card, measured or with the reason; results are verified; nothing names the
machine or a person; an interruption leaves a valid card or none; pictures are drawn, also later.
usage: card.py FLAVOUR MORTAR WRONG, where WRONG is a library whose collectives are wrong"""
import getpass
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time

import testing
from testing import check, flavour, load, refuses, run

mortar, wrong = sys.argv[2:]
RANKS = 2 if flavour == "mpich4" else 3  # it spins: more ranks than processors take for ever
COLLECTIVES = {"alltoall", "allgather", "allreduce", "bcast"}
SHORT = ["--minutes", "0.03", "--bytes", "8,4K"]


def card(folder, *words, code=0, before=(), picture=True):
    path = os.path.join(folder, "card")
    out, errors = run(*before, mortar, "site-card", "-o", path, *words, code=code, ranks=RANKS)
    said = path + ".json" in errors and ("and %s.png" % path in errors) == picture
    check("it says where the card is", said and not out, out + errors)
    return load(path + ".json"), errors


def accounted(found, ranks, sizes):
    cells = {(cell["collective"], cell["ranks"], cell["bytes"]) for cell in found["cells"]}
    check("every cell is there once", cells == {(c, r, b) for c in COLLECTIVES for r in ranks for b in sizes} and
          len(found["cells"]) == len(cells), found)
    done = [cell for cell in found["cells"] if "not_measured" not in cell]
    check("each is measured or says why not", found["cells_measured"] == len(done) and
          all(cell.get("not_measured", "why") for cell in found["cells"]), found)
    return done


def whole(folder):
    for minutes in ("0.1", "0.5"):  # on a busy machine the first cells may take the time of all
        found, errors = card(folder, "--minutes", minutes, "--bytes", "8,4K")
        done, every = accounted(found, {2, RANKS}, {8, 4096}), len(found["cells"])
        check("it came to the last one", found["finished"] and "[%d/%d, " % (every, every) in errors, errors)
        if len(done) > every / 2 or "s were left" not in errors:
            break
    check("most are measured", len(done) > every / 2, errors)
    for cell in done:
        times = [cell[name]["seconds"] for name in ("native", "mortar", "limit")]
        check("times of %(collective)s, %(ranks)d ranks, %(bytes)d bytes" % cell, min(times) > 0 and cell["repetitions"] >= 5 and
              all(cell[name]["spread"] >= 0 for name in ("native", "mortar", "limit")) and cell["gain"] > 0 and cell["plan"], cell)
    own = {cell["collective"] for cell in done if not cell["plan"].startswith("native")}
    check("the plans are those of each collective", own == {cell["collective"] for cell in done}, found["cells"])
    machine = found["machine"]
    check("the machine", machine["processors"] > 0 and machine["memory_bytes"] > 1 << 20 and found["ranks"] == RANKS and
          machine["kernel"] and os.uname().release.startswith(machine["kernel"]) and found["heap"] and found["mpi"] and
          found["mortar_at_work"] is True, found)
    names = {one["name"] for one in found["health"]["findings"]}
    check("what the doctor finds", {"memfd", "huge pages", "CMA", "processors"} <= names, names)
    text = json.dumps(found)
    persons = {socket.gethostname(), getpass.getuser(), os.path.expanduser("~"), os.getcwd(), folder} - {"", "/"}
    check("no names", not [name for name in persons if name in text and len(name) > 3] and "/" not in found["mpi"], (persons, text))


def little_time(folder):
    found, _ = card(folder, "--minutes", "0.0011", "--bytes", "8,1M", picture=True)
    done = accounted(found, {2, RANKS}, {8, 1 << 20})
    check("short calls come first", done and min(cell["bytes"] for cell in done) == 8, found)
    left = [cell["not_measured"] for cell in found["cells"] if cell not in done]
    check("what there was no time for says so", left and all("no time: it takes about" in why for why in left), found)


def wrong_results(folder):
    words = ("--ranks", "2", *SHORT)
    found, errors = card(folder, *words, code=1, before=("env", "WRONG_RANK=1", "LD_PRELOAD=" + wrong), picture=False)
    bad = [cell for cell in found["cells"] if "WRONG RESULT" in cell.get("not_measured", "")]
    check("wrong results are seen and said", bad and "WRONG RESULT of" in errors, (found, errors))


def interrupted(folder):
    """By SIGTERM, at several moments."""
    path = os.path.join(folder, "torn.json")
    for seconds in (0.3, 1.5, 3):
        if os.path.exists(path):
            os.remove(path)
        process = subprocess.Popen([testing.MPI, flavour, str(RANKS), mortar, "site-card", "-o", path, "--bytes", "8,64,512,4K"],
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**testing.QUICK_END, **os.environ},
                                   start_new_session=True)
        time.sleep(seconds)
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(timeout=20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        if os.path.exists(path):
            found = load(path)
            accounted(found, {2, RANKS}, {8, 64, 512, 4096})
            check("it says that it is not finished", found["finished"] is False, found)


def refused(folder):
    refuses(lambda *words, code: run(mortar, "site-card", *words, code=code), [
        (["--minutes", "-1"], "--minutes -1: expected 0.001 to 10000"),
        (["--ranks", "1"], "--ranks 1: expected"),
        (["--ranks", "2,64"], "--ranks 64: only 2 were started"),
        (["--bytes", "12"], "--bytes 12: allreduce takes multiples of 8"),
        (["--nonsense"], "unknown option --nonsense"),
        (["-o"], "-o needs a file"),
        (["card"], "\"card\": expected an option"),
        (["-o", os.path.join(folder, "no", "card")], "cannot be written: No such file or directory")])
    _, errors = run(mortar, "site-card", ranks=1, code=2)
    check("refused: one rank", errors.count("one rank has nothing to exchange") == 1, errors)


def made():
    """A card of a machine that nobody has."""
    ranks, sizes = [2, 4, 8, 16, 32, 64, 128, 192], [8, 512, 4096, 32768, 262144]

    def cell(collective, count, size):
        head = {"collective": collective, "ranks": count, "nodes": 1, "bytes": size}
        if count > 64 and size > 100000 and collective.startswith("all") and collective != "allreduce":
            return {**head, "not_measured": "no time: it takes about 80 s, and 12 s were left"}
        native = 1e-6 * (1 + size * count / 4e3)
        gain = 0.7 + sizes.index(size) * ranks.index(count) ** 0.5
        return {**head, "repetitions": 9, "native": {"seconds": native, "spread": 0.05}, "gain": gain, "gain_spread": 0.05,
                "mortar": {"seconds": native / gain, "spread": 0.04}, "limit": {"seconds": native / gain / 1.2, "spread": 0.02},
                "plan": "pull(rows)"}

    machine = {"processors": 192, "sockets": 2, "numa_domains": 8, "l3_caches": 24, "l3_bytes": 32 << 20, "virtual": False,
               "model": "A processor with ninety-six cores", "kernel": "6.1.0"}
    return {"site_card": 1, "mortar": "0.1.0", "mpi": "An MPI v1", "date": "2026-11-01", "heap": "on", "ranks": 192, "nodes": 1,
            "machine": machine, "crowded": False, "finished": True,
            "cells": [cell(c, p, n) for c in ("alltoall", "allgather", "allreduce", "bcast") for p in ranks for n in sizes]}


def draw(*words):
    return subprocess.run([mortar, "site-card", "--draw", *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                          timeout=60, check=False)


def drawn(folder):
    path, picture = os.path.join(folder, "made.json"), os.path.join(folder, "made.svg")
    with open(path, "w", encoding="utf-8") as file:
        json.dump(made(), file)
    done = draw(path, "-o", picture)
    if "matplotlib" in done.stderr:
        print("no matplotlib: pictures are not tested")
        return
    with open(picture, encoding="utf-8") as file:
        text = file.read()
    squares = text.count("stroke: #ffffff; stroke-width: 1.5; stroke-linejoin: miter")
    check("a square for each cell", done.returncode == 0 and squares == 160, (done, squares))
    near = made()  # times of 27 to 76 us: on each axis one has its number, and none is 3 x 10^1
    for cell in near["cells"]:
        for name in ("native", "mortar", "limit") if "not_measured" not in cell else ():
            cell[name]["seconds"] = 2.1e-5 * (1 + 2 * (cell["bytes"] > 8) + 0.3 * (cell["ranks"] > 2) + 0.3 * (name == "native"))
    with open(path, "w", encoding="utf-8") as file:
        json.dump(near, file)
    done = draw(path, "-o", picture)
    with open(picture, encoding="utf-8") as file:
        text = file.read()
    check("times have numbers", done.returncode == 0 and text.count("<!-- 70 -->") == 8 and "times" not in text, done)
    few = {**made(), "cells": [cell if cell["collective"] != "alltoall" else {**cell, "not_measured": "why"} for cell in
                               made()["cells"]]}
    with open(path, "w", encoding="utf-8") as file:
        json.dump(few, file)
    done = draw(path, "-o", picture)
    with open(picture, encoding="utf-8") as file:
        check("a legend, though alltoall has no times", "the MPI library -->" in file.read() and not done.stderr, done)
    missing = {**made(), "cells": [{**cell, "not_measured": "why"} for cell in made()["cells"]]}
    for name, content in (("text", "no card\n"), ("other.json", '{"a": 1}'), ("none.json", json.dumps(missing))):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(content)
    for words, said in ((["nowhere.json"], "nowhere.json: No such file"), (["text"], "no JSON"), (["other.json"], "is no card"),
                        (["none.json"], "nothing was measured"), (["made.json", "-o", "made.json"], "that is the card"),
                        (["made.json", "-o", "no/a.png"], "-o "), (["made.json", "-o", "a.word"], "-o "), ([], "CARD.json")):
        done = draw(*[os.path.join(folder, word) if word[0] != "-" else word for word in words])
        fine = done.returncode == 2 and said in done.stderr and "Traceback" not in done.stderr and not done.stdout
        check("refused: --draw " + " ".join(words), fine, done.stderr)


def no_python(folder):
    found, errors = card(folder, *SHORT, "--ranks", "2", before=("env", "PATH=/nonexistent"), picture=False)
    check("without Python there is a card and a line", len(found["cells"]) == 8 and "without a picture" in errors and
          "mortar site-card --draw" in errors, errors)


def main():
    with tempfile.TemporaryDirectory() as folder:
        for test in (whole, little_time, refused, no_python, interrupted, drawn):
            test(folder)
        if flavour == "ompi4":
            wrong_results(folder)


main()
