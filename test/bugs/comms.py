# SPDX-License-Identifier: BSD-3-Clause
"""comms - life and death of communicators: attribute callbacks, messages under way, processes of other jobs, sessions, settings
that are not the same on all ranks.
usage: comms.py TEST FLAVOUR RANKS"""
import json
import os
import re
import shutil
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import run  # noqa: E402
from run import Failure, mpi  # noqa: E402

# Open MPI reaches processes of another job over TCP only.
BETWEEN_JOBS = {"ompi4": {"OMPI_MCA_btl": "self,vader,tcp"}, "ompi5": {"OMPI_MCA_btl": "self,sm,tcp"}}
CALLS = 5  # of each collective on each communicator


def callbacks(flavour, ranks):
    for words, start in (([], "first"), (["one"], "first"), ([], "early"), ([], "paid")):
        result = mpi(flavour, ranks, ["callbacks-" + flavour, *words], seconds=40, env={"MORTAR_START": start})
        result.ok("%s ranks, 0 errors" % ranks).silent()


def pending(flavour, ranks):
    for nodes, words in (("", ["threads"]), ("2", []), ("2", ["threads"])):
        result = mpi(flavour, ranks, ["pending-" + flavour, *words], seconds=40, env={"MORTAR_NODES": nodes})
        result.ok("%s ranks, 0 errors" % ranks).silent()


def remote(flavour, ranks):
    """Without a report, for which mortar would remember no calls."""
    for start in ("paid", "first"):
        command = run.command(flavour, ranks, [run.target("remote-" + flavour)], [])
        run.run(command, 30, {"MORTAR_START": start}).ok("%s ranks, 0 errors" % ranks).silent()


def strangers(flavour, ranks):
    """What a communicator with strangers is left alone, on both sides; what has none is mortar's as ever."""
    result = mpi(flavour, ranks, ["strangers-" + flavour, "spawn"], seconds=40, env=BETWEEN_JOBS.get(flavour))
    result.ok("parents: %s ranks, 0 errors" % ranks).silent()
    if "cannot spawn" in result.out:
        print("no spawn")
    else:
        result.check("children: %s ranks, 0 errors" % ranks in result.out, "nothing of the children")
        result.took(2 * CALLS, collective="alltoall")  # the world, and the parents' side of what was merged
        result.native(3 * CALLS, "processes of another job", collective="alltoall")
    result = mpi(flavour, ranks, ["strangers-" + flavour, "connect"], seconds=40, env=BETWEEN_JOBS.get(flavour))
    result.ok("parents: %s ranks, 0 errors" % ranks).silent()
    if "cannot connect" in result.out:
        print("no connections")
    else:
        result.native(0, "processes of another job")


def sessions(flavour, ranks):
    """Without MPI_COMM_WORLD there is no mortar. Other MPIs fail natively when sessions come and go."""
    for words in [[], ["many"]] if flavour.startswith("mpich5") else [[]]:
        result = mpi(flavour, ranks, ["sessions-" + flavour, *words], seconds=40).silent()
        result.ok(*("rank %d of %s: 0 errors" % (r, ranks) for r in range(int(ranks))))


def threadcomm(flavour, ranks):
    """Communicators whose ranks are threads, and their duplicates, are left to MPICH."""
    for start in ("first", "early", "paid"):
        result = mpi(flavour, ranks, ["threadcomm-" + flavour, "200"], seconds=40, env={"MORTAR_START": start}).silent()
        result.ok(*("rank %d of %s: 0 errors" % (r, ranks) for r in range(int(ranks))))


# Of each option a value that is not the default.
OTHER = {"PLAN": "cico", "TUNE": "online", "START": "early", "TUNE_SAVE": None, "TUNE_RUNS": "5", "REGRET": "50",
         "REDUCE": "arrival", "VERIFY": "3", "VERIFY_OPS": "on", "OFF": "alltoall", "TUNING": "missing", "REPORT": None,
         "VERBOSE": "0", "HEAP": "off", "HEAP_BYTES": "1G", "HUGE": "off", "SLOT": "4M", "WAIT": "futex", "FAN": "3",
         "SLICE": "0", "NT": "sse2", "DEVICES": "ask", "NODES": "2", "HANDOVER": "socket", "DOMAINS": "none",
         "TOPOLOGY": "numa:2 core:2 pu:1", "XPMEM": "off"}


def topologies(flavour, ranks):
    """Open MPI 5 has mistaken what the second topology is, and then reports errors, crashes or hangs by itself: mortar must not
    crash before that, by asking."""
    for first, second in ("ca", "ga"):
        result = run.run(run.command(flavour, ranks, [run.target("topologies-" + flavour), first, second]), 5)
        for question in ("Cartdim_get", "Graph_neighbors_count"):
            result.check("MPI_" + question not in result.err, "it crashed in MPI_" + question)
    for first, second in ("ac", "cd"):
        program = [run.target("topologies-" + flavour), first, second]
        plain = run.run(run.command(flavour, ranks, program, None), 40).ok()
        result = run.run(run.command(flavour, ranks, program), 40).ok()
        result.check(sorted(result.out.split("\n")) == sorted(plain.out.split("\n")), "natively:\n" + plain.out)


def options():
    with open(os.path.join(run.ROOT, "src", "base", "options.h"), encoding="utf-8") as file:
        return dict(re.findall(r"^OPTION\((\w+), (\w+),", file.read(), re.M))


def differ(flavour, program, first, second, tune="watch"):
    """Two programs in one job: on rank 0, and on rank 1 (and 2)."""
    run.need(flavour)
    env = {"MORTAR_TUNE": tune, "OMPI_MCA_mpi_yield_when_idle": "1"}  # scripts/mpi counts the first one's ranks
    ranks = 3 if "parts" in program else 2
    words = [run.LAUNCH, flavour, "1", *first, *program, ":", "-n", str(ranks - 1), *second, *program]
    result = run.run(words, 40, env)
    for _ in range(3):  # Intel MPI fails in MPI_Init now and then, without mortar too
        if "MPIDU_bc_table_create" in result.err:
            result = run.run(words, 40, env)
    return result.ok("%d ranks, 0 errors" % ranks)


def settings(flavour, ranks):
    """No option may hang or break a job whose ranks have different values; the ranks say so once where it matters."""
    program, plain, own = [run.target("settings-" + flavour)], [run.MORTAR, "run"], []
    for name, whose in options().items():
        if name not in OTHER:
            raise Failure("MORTAR_%s has no value here that is not its default" % name)
        if whose == "OWN":
            own += ["--option", "%s=%s" % (name, OTHER[name])]
            continue
        with tempfile.TemporaryDirectory() as folder:
            for place in range(2):
                path = os.path.join(folder, "file%d.json" % place)
                changed = [*plain, "--option", "%s=%s" % (name, OTHER[name] or path)]
                pair = (plain, changed) if place else (changed, plain)
                result = differ(flavour, program, *pair)
                said = [line for line in result.lines() if "MORTAR_%s=" % name in line and "counts for all" in line]
                result.check(len(said) == (whose == "ALIKE"), "MORTAR_%s: %d lines about it" % (name, len(said)))
                if name == "REPORT":
                    result.check(os.path.exists(path) == (place == 0), "a report, or none, of one rank's wish")
    for pair in ((plain + own, plain), (plain, plain + own)):
        result = differ(flavour, program, *pair)
        result.check("counts for all" not in result.err, "something was said of options that each rank has for itself")


def tunings(flavour, ranks):
    """Ranks that have different tuning files, or none, all run what rank 0's says."""
    mpi_name = mpi(flavour, 1, ["exchange-" + flavour]).ok().report["mpi"]
    with tempfile.TemporaryDirectory() as folder:
        files, report = [os.path.join(folder, "file%d.json" % place) for place in range(2)], os.path.join(folder, "report.json")
        for path, plan in zip(files, ("pull(columns)", "cico(64)")):
            run.run([run.target("tuningfile"), mpi_name, ranks, plan, path]).ok()
        for first, second in (files, (files[0], None), (None, files[1])):
            mortars = [[run.MORTAR, "run"] + (["--option", "TUNING=" + path] if path else []) for path in (first, second)]
            mortars[0] += ["--report", report]
            result = differ(flavour, [run.target("exchange-" + flavour)], *mortars, tune="off")
            with open(report, encoding="utf-8") as file:
                result.report = json.load(file)
            os.unlink(report)
            plans = [row["plan"] for row in result.collectives(collective="alltoall", source="file")]
            result.check(plans == (["pull(columns, plain)"] if first else []), "alltoalls ran %r by a file" % plans)


def parts(flavour, ranks):
    """Ranks that do not all belong to a communicator cannot take over settings: it stays native, until all have met."""
    program, plain = [run.target("settings-" + flavour), "parts"], [run.MORTAR, "run"]
    changed = [run.MORTAR, "run", "--option", "OFF=alltoall", "--option", "SLOT=4M"]
    for pair in ((changed, plain), (plain, changed)):
        result = differ(flavour, program, *pair)
        result.check(any("left to the MPI library" in line for line in result.lines()), "nothing was said of the part")
        result.check(any("counts for all" in line for line in result.lines()), "nothing was said of the whole")


def versions(flavour, ranks):
    """Two mortars in one job: all is left to the MPI library, and one line says so."""
    program = [run.target("settings-" + flavour)]
    version = run.run([run.MORTAR, "--version"]).ok().out.split()[-1].encode()
    other = version[:-1] + (b"8" if version[-1:] != b"8" else b"9")
    with tempfile.TemporaryDirectory() as folder:
        for part in ("bin", "lib"):
            shutil.copytree(os.path.join(run.BUILD, part), os.path.join(folder, part), symlinks=True)
        for name in os.listdir(os.path.join(folder, "lib")):
            path = os.path.join(folder, "lib", name)
            if name.startswith("libmortar-") and not os.path.islink(path):
                with open(path, "rb+") as file:
                    data = file.read()
                    file.seek(0)
                    file.write(data.replace(version + b"\0", other + b"\0"))
        mortars = [[run.MORTAR, "run"], [os.path.join(folder, "bin", "mortar"), "run"]]
        for pair in (mortars, mortars[::-1]):
            result = differ(flavour, program, *pair)
            said = [line for line in result.lines() if version.decode() in line and other.decode() in line]
            result.check(len(said) == 1, "%d lines about the versions" % len(said))


def spaces(flavour, ranks):
    """All communicators over nodes together take at most half of a process's addresses: later ones get less, the last ones none. No
    call fails because its blocks do not fit. The report says why a communicator is native. What is freed is given back."""
    words, nodes = ["spaces-" + flavour, "82", "12288"], {"MORTAR_NODES": "2"}
    for plan in ("", "aggregate(pairwise)", "universal(direct(32))"):
        result = mpi(flavour, ranks, words, ["--option", "PLAN=" + plan] if plan else [], env=nodes)
        result.ok("%s ranks, 0 errors" % ranks).silent()
        grown = int(result.out.split()[-2])
        result.check(grown < 65 << 10, "%d GiB of addresses" % grown)
        check_teams(result, "too few addresses left")
        result.check(sum(team["count"] for team in result.report["teams"] if not team["native"]) > 64, "too few have memory")
        if not plan:
            result.took(1, collective="barrier")  # on the one that comes after all the others
    result = mpi(flavour, ranks, ["spaces-" + flavour, "limited"], env=nodes).ok("%s ranks, 0 errors" % ranks).silent()
    check_teams(result, "cannot map the memory")


def check_teams(result, reason):
    """All are over two nodes, and some native for this reason, no other."""
    teams = result.report["teams"]
    result.check(all(team["nodes"] == 2 for team in teams), "a communicator is not over two nodes")
    reasons = {team["native"] for team in teams} - {None}
    result.check(len(reasons) == 1 and reason in reasons.pop(), "native for another reason than: " + reason)


run.main_of(callbacks, pending, remote, strangers, sessions, threadcomm, topologies, settings, tunings, parts, versions, spaces)
