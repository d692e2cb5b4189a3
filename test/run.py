# SPDX-License-Identifier: BSD-3-Clause
"""run - what the tests that start MPI programs share: starting them through scripts/mpi and `mortar run`, and reading the report.

A test is a script whose last act is main(test): `test` is called with the words behind `flavour ranks`, says why it fails by
raising Failure, or why it is skipped by raising Skip (exit code 77). $MORTAR_BUILD is the build folder, $MORTAR_MPIS the MPIs
that scripts/get-mpis fetched."""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BUILD = os.path.abspath(os.environ.get("MORTAR_BUILD", os.path.join(ROOT, "build", "release")))
MORTAR = os.path.join(BUILD, "bin", "mortar")
LAUNCH = os.path.join(ROOT, "scripts", "mpi")
MPIS = os.environ.get("MORTAR_MPIS") or os.path.join(ROOT, "build", "mpis")
HOSTS = os.path.join(ROOT, "test", "hosts", "run")  # what starts them when instead of a number of ranks there is a map, "4x4"
WRONG = os.path.join(BUILD, "test", "bench", "mortar-bench-wrong.so")  # preloaded, it damages results (test/bench/wrong.c)
# For programs that fail on purpose: else Open MPI waits two seconds before it ends their other ranks.
QUICK_END = {name + "_MCA_odls_base_sigkill_timeout": "0" for name in ("OMPI", "PRTE")}


class Failure(Exception):
    pass


class Skip(Exception):
    pass


class Result:
    def __init__(self, command, code, out, err, report):
        self.command, self.code, self.out, self.err, self.report = command, code, out, err, report

    def check(self, fine, why):
        if not fine:
            raise Failure("%s\ncommand: %s\nexit code %s\n--- stdout\n%s--- stderr\n%s--- report\n%s" % (
                why, " ".join(self.command), self.code, tail(self.out), tail(self.err), json.dumps(self.report, indent=1)))
        return self

    def ok(self, *words):
        """The program ended well and printed these words."""
        self.check(self.code == 0, "the program failed")
        for word in words:
            self.check(word in self.out, "it did not print %r" % word)
        return self

    def lines(self, start="mortar:"):
        """What mortar said."""
        return [line for line in self.err.splitlines() if line.startswith(start)]

    def silent(self):
        return self.check(not self.lines(), "mortar said something")

    def collectives(self, **keys):
        """The report's rows that fit. Programs add up their errors with an allreduce: it counts only for those who name it."""
        if "collective" not in keys:
            return [row for row in self.collectives(collective=None, **keys) if row["collective"] != "allreduce"]
        keys = {key: value for key, value in keys.items() if value is not None}
        return [row for row in (self.report or {}).get("collectives", []) if all(row[key] == keys[key] for key in keys)]

    def calls(self, taken=True, **keys):
        """Calls per rank that mortar took (or that went native) and that fit the keys."""
        return sum(row["most_calls"] for row in self.collectives(**keys) if (row["plan"] != "native") == taken)

    def took(self, calls, **keys):
        self.check(self.calls(True, **keys) == calls, "mortar took %d calls of %r instead of %d" %
                   (self.calls(True, **keys), keys, calls))
        return self

    def native(self, calls, reason=None, **keys):
        found = [row for row in self.collectives(plan="native", **keys) if reason is None or reason in (row["reason"] or "")]
        count = sum(row["most_calls"] for row in found)
        return self.check(count == calls, "%d native calls (%s) instead of %d" % (count, reason, calls))


def tail(text, most=12000):
    return text if len(text) <= most else "[...]\n" + text[-most:]


def target(name):
    """A program that the build made."""
    for folder in ("test/coll", "test/field", "test/preload", "test/bugs", "test/faults", "test/hosts",
                   "examples"):
        path = os.path.join(BUILD, folder, name)
        if os.path.exists(path):
            return path
    raise Skip("%s is not built: this flavour or its compiler is missing" % name)


def command(flavour, ranks, program, options=()):
    """The words that start a program through mortar. options=None: without mortar."""
    through = [] if options is None else [MORTAR, "run", *options]
    return [LAUNCH if str(ranks).isdigit() else HOSTS, flavour, str(ranks), *through, *program]


def run(words, seconds=60, env=None, report=None):
    """Runs it, politely stopped after some seconds; the code is 124 then, also if it must be killed, as `timeout` is with it."""
    # What runs has to be counted: so nothing is tried and nothing left to the MPI library, unless a test says otherwise.
    values = dict({"MORTAR_TUNE": "off", "MORTAR_START": "first"}, **os.environ)
    values.update(env or {})
    # On pretended nodes the job shall have its messenger, as on real ones: the launcher must not say that there is one node.
    if values.get("MORTAR_NODES") or any(re.match("NODES=.", word) for word in words):
        values.setdefault("MPI_SILENT", "1")
    done = subprocess.run(["timeout", "-k", "5", str(seconds), *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=values, encoding="utf-8", errors="replace", check=False)
    facts = None
    if report and os.path.exists(report):
        with open(report, encoding="utf-8") as file:
            facts = json.load(file)
    code = 124 if done.returncode == -signal.SIGKILL else done.returncode
    return Result(words, code, done.stdout, done.stderr, facts)


def mpi(flavour, ranks, program, options=(), seconds=60, env=None):
    """Runs a program of the build (its name, then its words) under `mortar run` with a JSON report."""
    need(flavour)
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:  # not in /tmp: on several hosts each has its own
        report = os.path.join(folder, "report.json")
        options = None if options is None else ["--report", report, *options]
        program = list(program)
        if not os.path.isabs(program[0]):
            program[0] = target(program[0])
        words = command(flavour, ranks, program, options)
        if words[0] == HOSTS:
            words[1:1] = ["--seconds", str(seconds)]
        result = run(words, seconds + 10, env, report)
        if words[0] == HOSTS and result.code == 77:
            raise Skip(result.err.strip())
        return result


def need(flavour):
    known = subprocess.run([LAUNCH, "--list"], stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout.split()
    if flavour not in known:
        raise Skip("%s is not installed" % flavour)


def need_memory(gib):
    with open("/proc/meminfo", encoding="utf-8") as file:
        free = [int(line.split()[1]) for line in file if line.startswith("MemAvailable")][0]
    if free < gib << 20:
        raise Skip("less than %d GiB of memory free" % gib)


def plans(collective, nodes=False):
    """Those for ranks on one node, or for several nodes."""
    return run([MORTAR, "info", "--plans", collective] + ["nodes"] * nodes).ok().out.split("\n")[:-1]


def wait_until(fine, seconds, why):
    end = time.monotonic() + seconds
    while not fine():
        if time.monotonic() > end:
            raise Failure(why)
        time.sleep(0.05)


def main(test):
    try:
        test(*sys.argv[1:])
    except Skip as why:
        print("skipped: %s" % why)
        sys.exit(77)
    except Failure as why:
        print("FAILED: %s" % why)
        sys.exit(1)
    print("fine")


def main_of(*tests):
    """The first word names one of them, and the others are for it."""
    known = {test.__name__: test for test in tests}

    def named(name, *words):
        if name not in known:
            raise Failure("no test %s" % name)
        known[name](*words)
    main(named)
