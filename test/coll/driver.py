# SPDX-License-Identifier: BSD-3-Clause
"""driver - runs the generic driver under all plans and compares mortar's report with what the driver says it called: a plan that
did not run under its own name, or a call that went native for another reason, is a failure.
usage: driver.py FLAVOUR RANKS CASES [--auto] [--nodes] [--plain] [--plans TEXT] [--domains COUNT] [--takes TEXT] [--volume BYTES]
    [NAME=VALUE...]
NAME=VALUE: options of mortar. --plans: only those with this text. --takes: a plan with this text must have run, with --auto by
mortar's own choice. Instead of RANKS a map, as 4x4: on several hosts (test/hosts/run)."""
import os
import random
import re
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
from run import BUILD, ROOT, Skip, main, mpi, plans  # noqa: E402

# mortar's own choices when no plan is forced: for large blocks; for some collectives over several nodes
OWN_CHOICE = ("buffers outside the shared heap", "mortar has no algorithm for it")
TRIALS = ("nobody has measured this network", "on trial", "measured")  # where the host MPI begins: --plain
REFUSED = ("the forced plan does not do this here", "a rank could not take part")  # e.g. elements longer than what a plan stages
REASONS = {"one rank": "one rank", "no bytes": "no bytes", "asked for": "asked for by MORTAR_PLAN"}

MOST = 128  # most_plans of driver.c


def collectives():
    with open(os.path.join(ROOT, "src", "coll", "collectives.h"), encoding="utf-8") as table:
        return re.findall(r"^COLLECTIVE\((\w+),", table.read(), re.MULTILINE)


def some(every, seed, text):
    """Those with the text, not more than the driver has room for; the first one is native."""
    every = every[:1] + [plan for plan in every[1:] if text in plan]
    return every if len(every) <= MOST else every[:1] + sorted(random.Random(seed).sample(every[1:], MOST - 1))


def forced(text, plan, every):
    """Is this the full text of a forced plan? Arguments that were left out have been filled in."""
    return text == plan or (text not in every and plan.endswith(")") and text.startswith(plan[:-1] + ","))


def expectations(out):
    for line in out.splitlines():
        if line.startswith("expect\t"):
            collective, ranks, plan, why, calls = line.split("\t")[1:]
            yield collective, int(ranks), plan, why, int(calls)


def at_most(rows):
    """The calls that one rank must have made: communicators of one size over different numbers of nodes are different ranks'."""
    return max([sum(row["most_calls"] for row in rows if row["nodes"] == n) for n in {row["nodes"] for row in rows}] or [0])


def test(flavour, ranks, cases, *words):
    words, options, domains, text, taken = list(words), [], None, "", ""
    seed = os.environ.get("MORTAR_TEST_SEED", "".join(filter(str.isdigit, ranks)))
    drive = ["driver-" + flavour, "--seed", seed, "--cases", cases]
    while words:
        word = words.pop(0)
        if word in ("--nodes", "--auto", "--plain"):
            drive += [word]
        elif word == "--domains":
            domains = int(words.pop(0))
        elif word == "--plans":
            text = words.pop(0)
        elif word == "--takes":
            taken = words.pop(0)
            if len(os.sched_getaffinity(0)) < int(ranks):
                raise Skip("each of %s ranks needs a processor" % ranks)
        elif word == "--volume":
            drive += [word, words.pop(0)]
        else:
            options += ["--option", word]
            if word.startswith("VERIFY=") and "--alike" not in drive:
                drive += ["--alike"]  # hosts hang or end the program where types differ
            if word.startswith("TUNE=") and word != "TUNE=off" and "--plain" not in drive:
                drive += ["--plain"]  # trials: any call may be the host's
    nodes = "--nodes" in drive or not ranks.isdigit() or "MPI_NODES" in os.environ
    if nodes and "--nodes" not in drive:
        drive += ["--nodes"]
    own = OWN_CHOICE + (TRIALS if "--plain" in drive else ())
    lists = {collective: some(plans(collective, nodes), seed, text) for collective in collectives()}
    wanted = ["%s=%s" % (collective, plan) for collective in lists for plan in lists[collective]]
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        if ranks.isdigit():  # Open MPI 4.1 makes no window over hosts
            drive += ["--file", os.path.join(folder, "file")]
        result = mpi(flavour, ranks, drive + wanted, options, seconds=300).ok("0 failures").silent()

    result.check(any(taken in row["plan"] for row in result.report["collectives"]), "no call by %s" % taken)
    if any(word.startswith("VERIFY=") for word in options):
        verified = result.report["verified_calls"]
        calls = sum(row["most_calls"] for row in result.report["collectives"] if row["plan"] != "native")
        result.check(result.report["differences"] == 0 and verified > 0.3 * calls, "%d of %d calls verified" % (verified, calls))
    # ROMIO calls collectives that mortar catches, on the communicator of the file: see beside.c.
    romio = int(ranks) // 2 if "--file" in drive and not flavour.startswith("ompi") else None
    tally = {}  # (collective, ranks, plan or reason): calls
    for collective, size, plan, why, calls in expectations(result.out):
        if size == romio:
            continue
        key = (collective, size, REASONS.get(why, plan))
        tally[key] = tally.get(key, 0) + calls
    world = max(size for _, size, _ in tally)
    rows = [row for row in result.report["collectives"] if row["ranks"] != romio]
    missing = {}  # (collective, ranks): calls that forced plans did not run
    for (collective, size, what), calls in sorted(tally.items()):
        every = lists[collective]
        fits = [row for row in rows if row["collective"] == collective and row["ranks"] == size and
                (row["reason"].startswith(own if what == "auto" else what) if row["reason"]
                 else what == "auto" or forced(row["plan"], what, every))]
        ran = sum(row["most_calls"] for row in fits)
        rows = [row for row in rows if row not in fits]
        if every == ["native"]:  # no algorithm yet: such calls need not be counted
            continue
        if ran < calls and (what in every or what == "auto"):
            missing[collective, size] = missing.get((collective, size), 0) + calls - ran
            continue
        # Each rank alone in its communicator has sizes of its own: of each size class the report has the rank with most calls.
        # What mortar chooses may be another plan for each part of a world that was split: each has timed its own barrier.
        # Parts of another shape (fullest node, memory domains) have rows of their own.
        shapes = {(row["fullest"], row["domains"]) for row in result.report["teams"] if row["ranks"] == size}
        parts = world // size if what == "auto" else max(len(shapes), 1)
        result.check(at_most(fits) <= calls * parts and calls <= ran or (size == 1 and ran > calls),
                     "%s on %d ranks, %s: %d calls instead of %d" % (collective, size, what, ran, calls))
    for (collective, size), calls in missing.items():
        fits = [row for row in rows if row["collective"] == collective and row["ranks"] == size and
                row["reason"] and row["reason"].startswith(REFUSED)]
        refused = sum(row["most_calls"] for row in fits)
        rows = [row for row in rows if row not in fits]
        # Over nodes one part may lie on a single node, where calls are refused that the other part runs.
        split = nodes and size < world
        most = sum(n for (c, s, _), n in tally.items() if (c, s) == (collective, size)) if split else calls
        result.check(at_most(fits) <= most and calls <= refused,
                     "%s on %d ranks: %d calls are missing, %d were refused" % (collective, size, calls, refused))
    if nodes or "--auto" in drive:  # of two communicators of one size one may lie on a single node, or run another plan
        rows = [row for row in rows if not (row["reason"] or "").startswith(REFUSED)]
    result.check(not rows, "calls that nobody made: %r" % rows)
    if domains:
        found = [row["domains"] for row in result.report["teams"] if row["ranks"] == int(ranks)]
        result.check(found and domains in found, "no team of all ranks over %d memory domains: %r" % (domains, found))
    print("%d kinds of calls, all as forced" % len(tally))


main(test)
