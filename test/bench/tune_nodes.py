# SPDX-License-Identifier: BSD-3-Clause
"""tune_nodes - does `mortar tune` over several nodes, which MORTAR_NODES pretends, compare the plans that are made of plans,
is what it writes used there, and does it refuse a library that gives wrong bytes or no list of plans? No time is judged.

usage: tune_nodes.py FLAVOUR MORTAR WRONG, where WRONG is a library that does all this"""
import json
import os
import sys
import tempfile

import testing
from testing import check, load

mortar, wrong = sys.argv[2:]
MOST = 24  # plans that are compared
os.environ["OMPI_MCA_mpi_yield_when_idle"] = "1"  # else a call beside other work costs Open MPI time slices


def run(nodes, *words, code=0):
    return testing.run("env", "MORTAR_NODES=" + nodes, *words, code=code, ranks=4)


def tunes(folder, nodes, fullest, name, schemes):
    """Tunes, and looks at what was forced to run on the way."""
    path, report = os.path.join(folder, "tuning.json"), os.path.join(folder, "report.json")
    out, said = run(nodes, "MORTAR_REPORT=" + report, mortar, "tune", name, "--bytes", "64", "--seconds", "1", "--buffers", "both",
                    "--output", path)
    rows = [row for row in load(report)["collectives"] if row["source"] == "forced"]
    tried = {row["plan"] for row in rows if row["collective"] == name}
    check("%s on nodes %s: each scheme is tried" % (name, nodes), schemes <= {plan.split("(")[0] for plan in tried}, (tried, said))
    check("and not more than can be told apart", len(tried) < MOST, tried)
    (entry,) = [e for e in load(path)["sets"][0]["entries"] if e["collective"] == name]
    check("the file says where", (entry["ranks"], entry["nodes"], entry["fullest"], entry["buffers"], entry["from"], entry["to"]) ==
          (4, 2, fullest, "heap", 64, 127), entry)
    check("one of them is written", entry["plan"] in tried | {"native"}, entry)
    check("kinds of buffers are one", said.count("does not tell kinds of buffers apart") == 1 and len(out.splitlines()) == 2, said)
    return path


def used(folder, name, path):
    """A plan that mortar would not choose, so that it must have been the file."""
    plan = "aggregate(bruck(8))"
    data, changed, report = load(path), os.path.join(folder, "changed.json"), os.path.join(folder, "used.json")
    for e in data["sets"][0]["entries"]:
        e["plan"] = plan
    with open(changed, "w", encoding="utf-8") as file:
        json.dump(data, file)
    for nodes in ("2", "3,1"):
        run(nodes, "MORTAR_TUNE=off", "MORTAR_TUNING=" + changed, "MORTAR_REPORT=" + report, mortar, "bench", name, "--bytes", "64",
            "--repetitions", "3")
        rows = [row for row in load(report)["collectives"] if row["source"] == "file"]
        fine = rows and all((row["collective"], row["plan"], row["nodes"]) == (name, plan, 2) for row in rows)
        check("on even nodes its plan runs, on uneven ones there is none: %s" % nodes, fine if nodes == "2" else not rows,
              load(report))


def refused(folder):
    path = os.path.join(folder, "none.json")
    words = ["LD_PRELOAD=" + wrong, mortar, "tune", "alltoall", "--bytes", "8", "--seconds", "1", "--output", path]
    _, said = run("2", "WRONG_RANK=1", *words, code=1)
    check("a wrong byte is seen", said.count("WRONG RESULT of ") == 1 and "WRONG RESULT of native" not in said, said)
    for plans in ("native\nnonsense(1)\n", "native\nleader(1, %s)\n" % ("direct" * 20)):
        _, said = run("2", "WRONG_PLANS=" + plans, *words, code=1)
        check("so is what is no list of plans", said.count("no list of plans") == 1, said)
    check("nothing is written", not os.path.exists(path))


with tempfile.TemporaryDirectory() as temporary:
    for exchange in ("alltoall", "alltoallv"):  # in the second one no rank knows the others' counts
        schemes = {"leader", "aggregate", "distribute", "exchange", "direct", "pairwise", "bruck"}
        used(temporary, exchange, tunes(temporary, "2", 2, exchange, schemes))
    tunes(temporary, "3,1", 3, "allreduce", {"universal", "recursive"})
    refused(temporary)
