# SPDX-License-Identifier: BSD-3-Clause
"""every - sends every length from 0 to 4200 bytes and both ends of the size classes above, in three orders (every.c): by mortar's
own choice, or by each algorithm that there is, in the first of its plans for each collective.
usage: every.py FLAVOUR RANKS auto|algorithms --most BYTES [NAME=VALUE...]   NAME=VALUE: options of mortar
The seed of the random order comes from the clock, or from $MORTAR_TEST_SEED."""
import os
import re
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from run import ROOT, main, mpi, plans  # noqa: E402


def collectives():
    with open(os.path.join(ROOT, "src", "coll", "collectives.h"), encoding="utf-8") as table:
        return re.findall(r"^COLLECTIVE\((\w+),", table.read(), re.MULTILINE)


def by_algorithm(nodes):
    """{plan: collectives}: for each collective the first plan of every algorithm, and of every one inside another."""
    found = {}
    for collective in collectives():
        seen = set()
        for plan in plans(collective, nodes):
            names = tuple(re.findall(r"[a-z]\w*(?=[(,)]|$)", plan)[:2 if nodes else 1])
            if plan == "native" or names in seen:
                continue
            seen.add(names)
            found.setdefault(plan, []).append(collective)
    return found


def test(flavour, ranks, what, most, size, *words):
    seed = os.environ.get("MORTAR_TEST_SEED", str(time.time_ns() % 10**9))
    print("seed", seed)
    common = ["every-" + flavour, "--seed", seed, most, size]
    options = [word for option in words for word in ("--option", option)]
    nodes = any(word.startswith("NODES=") for word in words)
    runs = {None: collectives()} if what == "auto" else by_algorithm(nodes)
    for plan, names in runs.items():
        # The default choice with its trials, as users run it.
        result = mpi(flavour, ranks, common + (["--plan", plan] if plan else []) + names, options, 300, {"MORTAR_TUNE": "watch"})
        result.ok("%d collectives" % len(names), " 0 wrong").silent()
        if plan:
            ran = {row["collective"] for row in result.report["collectives"] if row["plan"].startswith(plan.rstrip(")"))}
            result.check(ran, "%s never ran" % plan)
    print("%d runs" % len(runs))


main(test)
