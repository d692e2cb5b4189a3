# SPDX-License-Identifier: BSD-3-Clause
"""network - does `mortar bench network` measure between two nodes, which MORTAR_NODES pretends, see wrong bytes, write its CSV
file and the network of a tuning file, and refuse bad options? No time is judged.

usage: network.py FLAVOUR MORTAR WRONG, where WRONG is a library whose messages are wrong"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile

import testing
from testing import check, load, refuses, rows_of, table

ROUNDS = 3
QUICK = ["--bytes", "8,64K", "--seconds", "0.01", "--rounds", str(ROUNDS)]
SECONDS = ["latency_seconds", "send_seconds", "receive_seconds", "message_seconds", "node_message_seconds", "byte_seconds",
           "node_byte_seconds"]
WRONG_RANK = []
mortar, wrong = sys.argv[2:]


def run(*words, code=0, ranks=4, nodes="2", preload=None, command=("bench", "network")):
    variables = ["MORTAR_NODES=" + nodes] + (["LD_PRELOAD=" + preload] if preload else [])
    return testing.run("env", *variables, *WRONG_RANK, mortar, *command, *words, code=code, ranks=ranks, seconds=100)


def measures(folder):
    path, tuning = os.path.join(folder, "network.csv"), os.path.join(folder, "tuning.json")
    out, _ = run("--csv", path, "--save", tuning, *QUICK)
    for said in ("node 0 and node 1 of 2, up to 2 pairs;", "nodes are pretended: all figures are those of shared memory",
                 "\nlatency ", "overhead of a send ", "short messages (bytes: 8): ", "long messages (bytes: 64K): "):
        check("it says: " + said.strip(), out.count(said) == 1, out)
    sizes = ["8", "64K"]
    check("two tables with a row for each size", [row[0] for row in table(out)] == 2 * sizes, out)
    check("with a positive figure for each number of pairs", all(float(f) >= 0 for row in table(out) for f in row[1:]) and
          [len(row) for row in table(out)] == [5] * 2 + [4] * 2, out)
    rows = rows_of(path)
    expected = {("latency", "1", str(n), str(r)) for n in (8, 65536) for r in range(ROUNDS)}
    expected |= {("stream", k, str(n), str(r)) for k in "12" for n in (8, 65536) for r in range(ROUNDS)}
    expected |= {(test, "1", "8", str(r)) for test in ("send", "receive") for r in range(ROUNDS)}
    found = [(row["test"], row["pairs"], row["bytes"], row["round"]) for row in rows]
    check("every round of every test, once", len(found) == len(expected) and set(found) == expected, found)
    check("their facts", all(float(row["seconds"]) > 0 and row["mpi"] and row["machine"] and row["commit"] and row["date"] and
                             "pretended" in row["between"] for row in rows), rows[0])
    (only,) = load(tuning)["sets"]
    check("the tuning file has the network", only["network"]["pairs"] == 2 and "pretended" in only["network"]["between"] and
          all(only["network"][name] > 0 for name in SECONDS), only)
    check("two nodes have no ratios", not any("ratio" in name for name in only["network"]), only)
    longest = [float(row["seconds"]) for row in rows if (row["test"], row["pairs"], row["bytes"]) == ("stream", "2", "65536")]
    median = sorted(longest)[1]
    check("as it was measured", abs(only["network"]["node_byte_seconds"] * 65536 / median - 1) < 1e-6, (only, median))
    return path, tuning


def saved_again(tuning):
    data = load(tuning)
    entry = {"collective": "alltoall", "ranks": 4, "nodes": 2, "domains": 1, "buffers": "heap", "from": 8, "to": 63,
             "plan": "native", "seconds": 1e-6, "interval": [1e-6, 1e-6], "native_seconds": 1e-6, "gain": 1,
             "gain_interval": [1, 1], "repetitions": 1}
    data["sets"][0]["entries"] = [entry]
    data["sets"][0]["network"]["latency_seconds"] = 77
    with open(tuning, "w", encoding="utf-8") as file:
        json.dump(data, file)
    out, _ = run("--tuning", tuning, ranks=1, command=("info",))
    check("mortar info explains it", out.count("network, measured ") == 1 and "7.7e+07 us" in out, out)
    _, said = run("--bytes", "8", "--seconds", "0.01", "--repetitions", "3", command=(
        "run", "--option", "TUNING=" + tuning, "--option", "VERBOSE=2", mortar, "bench", "alltoall"))
    check("the cost model takes it", said.count("the network is that of the tuning file, measured between ") == 1 and
          "is not used" not in said, said)
    run("--save", tuning, "--pairs", "1", *QUICK)
    (again,) = load(tuning)["sets"]
    check("a newer network takes the older one's place", again["network"]["pairs"] == 1 and
          again["network"]["latency_seconds"] < 77, again)
    check("and the plans stay", again["entries"] == [entry], again)


def other_nodes(path):
    before = len(rows_of(path))
    out, _ = run("--nodes", "1,0", "--pairs", "1", "--csv", path, *QUICK)
    check("from the second node to the first", "node 1 and node 0 of 2, up to 1 pair;" in out and "at least 1 leader" in out, out)
    more = rows_of(path)[before:]
    check("and rows are added", more and {row["pairs"] for row in more} == {"1"}, more)
    out, _ = run("--nodes", "2,0", *QUICK, nodes="2,1,1")
    check("two ranks and one make one pair", "node 2 and node 0 of 3, up to 1 pair;" in out, out)
    out, _ = run(*QUICK, nodes="cyclic:2")
    check("ranks dealt round robin", "node 0 and node 1 of 2, up to 2 pairs;" in out, out)
    out, _ = run(*QUICK, ranks=2)
    check("one rank on each node", out.count("nothing to choose") == 2 and "only one pair was measured" in out, out)


def all_nodes(folder):
    path, tuning = os.path.join(folder, "all.csv"), os.path.join(folder, "all.json")
    out, _ = run("--csv", path, "--save", tuning, *QUICK, nodes="2,1,1")
    for said in ("all 3 nodes at once, one rank of each sends 64K-byte messages", "\n        1 at a time ",
                 "\n        8 at a time ", "\nvery many at a time ", "\nall nodes: "):
        check("of all nodes it says: " + said.strip(), out.count(said) == 1, out)
    rows = [row for row in rows_of(path) if row["test"] in ("alone", "all")]
    found = {(row["test"], row["pairs"], row["bytes"], row["window"], row["round"]) for row in rows}
    check("every round of a pair alone and of all nodes, once", len(rows) == len(found) and found == {
        (test, pairs, "65536", window, str(r)) for test, pairs in (("alone", "1"), ("all", "3")) for window in "18"
        for r in range(ROUNDS)}, found)
    (only,) = load(tuning)["sets"]
    seconds = {(row["test"], row["window"], row["round"]): float(row["seconds"]) for row in rows}
    one, window = (sorted(seconds["all", w, str(r)] / seconds["alone", w, str(r)] for r in range(ROUNDS))[ROUNDS // 2]
                   for w in "18")
    for name, ratio in ("one_partner_ratio", one), ("many_partners_ratio", (8 * window - one) / 7):
        said = only["network"][name]
        check("saved as it was measured: " + name, abs(said / (ratio if ratio > 1.1 else 1) - 1) < 1e-6, (said, rows))
    only["network"].update(one_partner_ratio=3, many_partners_ratio=1.25)
    for ratio, code in (3, 0), (0.5, 1):
        only["network"]["one_partner_ratio"] = ratio
        with open(tuning, "w", encoding="utf-8") as file:
            json.dump({"format": "mortar tuning", "version": 1, "sets": [only]}, file)
        out, errors = run("--tuning", tuning, ranks=1, command=("info",), code=code)
        check("mortar info takes a ratio of 3 and refuses 0.5",
              ("bytes take 3 times as long to one node" in out) == (code == 0) and
              ("not a ratio of at least 1: one_partner_ratio" in errors) == (code == 1), out + errors)
    out, _ = run(*QUICK, nodes="2")
    check("of two nodes there are no others", out.count("all nodes at once: there are only these two") == 1, out)
    out, _ = run("--bytes", "8,1K", *QUICK[2:], nodes="3")
    check("short messages tell nothing", out.count("not measured, for that takes messages of 64K or more (--bytes)") == 1, out)
    WRONG_RANK[:] = ["WRONG_RANK=3"]
    _, errors = run(*QUICK, nodes="2,1,1", code=1, preload=wrong)
    check("a wrong byte between all nodes is seen",
          errors.count("WRONG RESULT: all nodes at once, node 2: byte 0 of message ") == 1, errors)
    WRONG_RANK[:] = []


def wrong_bytes():
    for rank, place, byte in (0, (0, 0), None), (3, (1, 1), "5"):
        WRONG_RANK[:] = ["WRONG_RANK=%d" % rank] + (["WRONG_BYTE=" + byte] if byte else [])
        out, errors = run(*QUICK, code=1, preload=wrong)
        said = "WRONG RESULT: pair %d, node %d: byte %s of a message of 8 bytes is 0x" % (*place, byte or "0")
        check("a wrong byte is seen: rank %d" % rank, errors.count(said) == 1 and table(out) == [], out + errors)
    WRONG_RANK[:] = []


def draws(folder, path):
    picture = os.path.join(folder, "network.png")
    pythons = [name for name in ("python3", "/usr/bin/python3")
               if subprocess.run([name, "-c", "import matplotlib"], stderr=subprocess.DEVNULL, check=False).returncode == 0]
    if not pythons:
        _, errors = run("--draw", picture, *QUICK, code=1)
        check("without matplotlib it says so", errors.count("--draw needs matplotlib") == 1, errors)
        return
    for words in [], ["--csv", path]:
        run("--draw", picture, *words, *QUICK)
        with open(picture, "rb") as file:
            check("a picture", file.read(8) == b"\x89PNG\r\n\x1a\n")
        os.remove(picture)
    _, errors = run("--draw", os.path.join(folder, "network.txt"), *QUICK, code=1)
    check("no picture of that kind", "not supported" in errors, errors)
    kept = re.search(r"what was measured is in (\S+), as", errors)
    check("what was measured is kept", kept and {row["test"] for row in rows_of(kept.group(1))} >= {"latency", "stream"}, errors)
    os.remove(kept.group(1))


def interrupted(folder):
    apart = os.path.join(folder, "apart")
    os.mkdir(apart)
    words = ["bench", "network", "--draw", os.path.join(folder, "never.png"), "--seconds", "1"]
    with subprocess.Popen([testing.MPI, testing.flavour, "2", mortar, *words], start_new_session=True, stderr=subprocess.PIPE,
                          stdout=subprocess.DEVNULL, text=True, env={**os.environ, "TMPDIR": apart, "MORTAR_NODES": "2"}) as job:
        said = next((line for line in job.stderr if " sizes, up to " in line), None)
        os.killpg(job.pid, signal.SIGINT)
        job.communicate(timeout=30)
    left = [name for name in os.listdir(apart) if name.startswith("tmp.")]  # launchers have folders of theirs there
    check("Ctrl-C leaves no table behind", said and not left, (said, left))


def refused(folder):
    other = os.path.join(folder, "notes.txt")
    with open(other, "w", encoding="utf-8") as file:
        file.write("not ours\n")
    out, errors = run(*QUICK, nodes="1", code=2)
    check("one node has no network", errors.count("all ranks sit on one node") == 1 and "MORTAR_NODES=2" in errors and not out,
          out + errors)
    _, errors = run(*QUICK, nodes="2,x", code=2)
    check("nodes that cannot be read", errors.count("MORTAR_NODES=2,x: expected a number of nodes, or like 5,3,1") == 1, errors)
    refuses(run, [
        (["alltoall"], '"alltoall": expected an option'),
        (["--bytes", "8:4K"], "--bytes 8:4K: expected FROM:TO:xN"),
        (["--bytes", "17M"], "--bytes 17M: expected FROM:TO:xN or a list of sizes from 1 to 16M"),
        (["--pairs", "1,none"], "--pairs 1,none: expected a list of numbers"),
        (["--pairs", "3"], "--pairs 3: node 0 has 2 ranks and node 1 has 2, which makes 2 pairs"),
        (["--nodes", "1"], "--nodes 1: expected two nodes"),
        (["--nodes", "1,1"], "--nodes 1,1: expected two nodes"),
        (["--nodes", "0,2"], "--nodes 0,2: there are 2 nodes, from 0 to 1"),
        (["--seconds", "0"], "--seconds 0: expected 0.001 to 1000000"),
        (["--rounds", "2"], "--rounds 2: expected a whole number from 3 to 100"),
        (["--rounds"], "--rounds needs a value: expected a whole number"),
        (["--csv"], "--csv needs a file"),
        (["--csv", other], "the file exists and is none of ours"),
        (["--save", other], "it is there and is no tuning file: line 1"),
        (["--save", os.path.join(folder, "none", "x")], "none/x: No such file"),
        (["--save", other, "--bytes", "8,1K"], "--save needs --bytes from at most 64 to at least 64K"),
        (["--repetitions", "3"], "unknown option --repetitions"),
    ])
    with open(other, encoding="utf-8") as file:
        check("other files are left alone", file.read() == "not ours\n")
    out, _ = run("--help", ranks=2)
    check("help, once", out.count("usage: mpirun -n P mortar bench network") == 1, out)


with tempfile.TemporaryDirectory() as temporary:
    written, tuned = measures(temporary)
    saved_again(tuned)
    other_nodes(written)
    all_nodes(temporary)
    wrong_bytes()
    draws(temporary, written)
    interrupted(temporary)
    refused(temporary)
