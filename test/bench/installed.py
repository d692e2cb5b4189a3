# SPDX-License-Identifier: BSD-3-Clause
"""installed - the distribution's applications natively, under mortar with default settings, and served by mortar from each
communicator's first call on: do they have the same result, and does mortar run their collectives?
usage: installed.py FLAVOUR RANKS"""
import argparse
import json
import os
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import run  # noqa: E402

sys.path.insert(0, os.path.join(run.ROOT, "measure"))
import program_tables as tables  # noqa: E402
import programs as tool  # noqa: E402


def taken(path):
    """Calls of a rank that mortar ran, by its report."""
    with open(path, encoding="utf-8") as file:
        return sum(row["calls"] for row in json.load(file)["collectives"] if row["plan"] != "native")


def installed(flavour, ranks):
    told = argparse.Namespace(mpi=flavour, build=run.BUILD, option=[], words="", patience=200)
    names = [name for name, words in tool.INSTALLED.items() if tool.is_installed(words[0])]
    if not names:
        raise run.Skip("none of the applications is installed; scripts/setup applications installs them")
    for name in names:
        found = {side: tool.run(told, name, int(ranks), side) for side in tool.SIDES}
        with tempfile.TemporaryDirectory() as folder:
            report = os.path.join(folder, "report.json")
            told.option = ["START=first", "REPORT=" + report]
            first = tool.run(told, name, int(ranks), "mortar")
            calls = taken(report)
        told.option = []
        print("%s: %d calls of a rank by mortar; result %s" % (name, calls, found["native"]["answer"]))
        for one in (found["mortar"], first):
            if not tables.same(found["native"]["answer"], one["answer"]):
                raise run.Failure("%s: another result under mortar: %s" % (name, one["answer"]))
        if calls < 10:
            raise run.Failure("%s: mortar ran %d calls" % (name, calls))


run.main(installed)
