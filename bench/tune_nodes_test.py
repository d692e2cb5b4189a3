# SPDX-License-Identifier: BSD-3-Clause
"""tune_nodes_test - does `mortar tune` over several nodes, which MORTAR_NODES pretends, compare the plans that are made of plans, is
what it writes used there, and does it refuse a library that gives wrong bytes or no list of plans? No time is judged.

usage: tune_nodes_test.py FLAVOUR MORTAR PROGRAM WRONG, where WRONG is a library that does all this"""
import json
import os
import sys
import tempfile

import testing
from testing import check, load

mortar, program, wrong = sys.argv[2:]
MOST = 24  # plans that are compared


def run(nodes, *words, code=0):
    return testing.run("env", "MORTAR_NODES=" + nodes, *words, code=code, ranks=4)


def tunes(folder, nodes, collectives, schemes, *options):
    """Tunes, and says what each collective was forced to run on the way."""
    path, report = os.path.join(folder, "tuning.json"), os.path.join(folder, "report.json")
    out, said = run(nodes, "MORTAR_REPORT=" + report, mortar, "tune", *collectives, "--bytes", "64", "--seconds",
                    str(len(collectives)), *options, "--output", path)
    rows = [row for row in load(report)["collectives"] if row["source"] == "forced"]
    for name in collectives:
        tried = {row["plan"] for row in rows if row["collective"] == name}
        algorithms = {plan.split("(")[0] for plan in tried}
        check("%s on nodes %s: each scheme is tried" % (name, nodes), schemes[name] <= algorithms, (tried, said))
        check("with plans in plans", any(plan.count("(") > 1 or "(binomial" in plan or "(recursive" in plan for plan in tried), tried)
        check("and not more than can be told apart", len(tried) < MOST, tried)
        (entry,) = [e for e in load(path)["sets"][0]["entries"] if e["collective"] == name]
        check("the file says where", (entry["ranks"], entry["nodes"], entry["buffers"], entry["from"], entry["to"]) ==
              (4, len(nodes.split(",")) if "," in nodes else int(nodes), "heap", 64, 127), entry)
        check("one of them is written", entry["plan"] in tried | {"native"}, entry)
    check("a row of the table for each", [line.split()[0] for line in out.splitlines()[1:]] == list(collectives), out)
    return path, said


def used(folder, path):
    """Plans that mortar would not choose, so that it must have been the file."""
    plans = {"alltoall": "leader(2, bruck(4))", "alltoallv": "aggregate(bruck(8))"}
    data, changed, report = load(path), os.path.join(folder, "changed.json"), os.path.join(folder, "used.json")
    for e in data["sets"][0]["entries"]:
        e["plan"] = plans.get(e["collective"], e["plan"])
    with open(changed, "w", encoding="utf-8") as file:
        json.dump(data, file)
    for nodes, there in (("2", True), ("4", False)):
        for name, plan in plans.items():
            run(nodes, "MORTAR_TUNE=off", "MORTAR_TUNING=" + changed, "MORTAR_REPORT=" + report, mortar, "bench", name, "--bytes", "64",
                "--seconds", "0.05")
            rows = [row for row in load(report)["collectives"] if row["source"] == "file"]
            fine = rows and all((row["collective"], row["plan"], row["nodes"]) == (name, plan, 2) for row in rows)
            check("%s on %s nodes: %s" % (name, nodes, "its plan runs" if there else "no entry"), fine if there else not rows,
                  load(report))


def refused(folder):
    path, folder_of_libraries = os.path.join(folder, "none.json"), os.path.dirname(program)
    libraries = [wrong] + [os.path.join(folder_of_libraries, name) for name in ("libmortar-heap.so", "libmortar.so")]
    words = ["LD_PRELOAD=" + ":".join(libraries), program, "tune", "alltoall", "--bytes", "8", "--seconds", "1", "--output", path]
    _, said = run("2", "WRONG_RANK=1", *words, code=1)
    check("a wrong byte is seen", said.count("WRONG RESULT of ") == 1 and "WRONG RESULT of native" not in said, said)
    for plans in ("native\nnonsense(1)\n", "native\nleader(1, %s)\n" % ("direct" * 20)):
        _, said = run("2", "WRONG_PLANS=" + plans, *words, code=1)
        check("so is what is no list of plans", said.count("no list of plans") == 1, said)
    check("nothing is written", not os.path.exists(path))


EXCHANGES = {"leader", "aggregate", "distribute", "direct", "pairwise", "bruck"}
with tempfile.TemporaryDirectory() as temporary:
    tuned, complaint = tunes(temporary, "2", ["alltoall", "alltoallv"], {"alltoall": EXCHANGES, "alltoallv": EXCHANGES},
                             "--buffers", "both")
    check("kinds of buffers are one", complaint.count("does not tell kinds of buffers apart") == 1, complaint)
    used(temporary, tuned)
    tunes(temporary, "3,1", ["allreduce"], {"allreduce": {"universal"}})
    refused(temporary)
