# SPDX-License-Identifier: BSD-3-Clause
"""compare FLAVOUR RANKS WHOSE - mpi4py's own tests of collectives, communicators, topologies, types and operations: natively, then
under mortar, first as it is, then trying plans as it goes. What every rank passes natively it must pass under mortar; the rest is
listed. WHOSE mpi4py: `wheel`, which scripts/get-mpis fetched and which runs on any MPI, or `system`, the distribution's, which
knows one."""
import os
import re
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import run  # noqa: E402
from run import Failure, Skip  # noqa: E402

INSIDE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "inside.py")
MODULES = r"test_(cco_.*|comm(_.*)?|op|datatype|attributes|errhandler|exceptions|pack|subclass|util_pkl5)"
BLOCKING = r"test_(cco_(buf|obj|vec|ngh_buf|ngh_obj)(_inter)?|comm_topo)"  # what mortar may take
SECONDS = 600  # of one run
TRIES = 6  # native runs that may die; a run that takes too long counts as five


class Python:
    """An interpreter with mpi4py, what it needs in its environment, and the tests of that version."""

    def __init__(self, flavour, whose, folder):
        self.path = "/usr/bin/python3" if whose == "system" else os.path.join(run.MPIS, "mpi4py", "bin", "python")
        self.env = {"PYTHONDONTWRITEBYTECODE": "1", "OPENBLAS_NUM_THREADS": "1"}
        if whose == "wheel":
            self.env.update(self.library(flavour, folder))
        ask = [self.path, "-c", "import numpy, mpi4py; mpi4py.rc.initialize = False; from mpi4py import MPI; "
               "print(mpi4py.__version__, MPI.Get_library_version())"]
        try:
            said = subprocess.run(ask, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, encoding="utf-8", check=True,
                                  env=dict(os.environ, **self.env)).stdout
        except (OSError, subprocess.CalledProcessError):
            raise Skip("%s has no mpi4py and numpy that run on %s; scripts/get-mpis fetches them" % (self.path, flavour)) from None
        version, library = said.split(" ", 1)
        if ("Open MPI" in library) != flavour.startswith("ompi"):
            raise Skip("the mpi4py of %s was built for another MPI than %s" % (self.path, flavour))
        self.tests = os.path.join(run.MPIS, "mpi4py-tests", version)
        if not os.path.isdir(self.tests):
            raise Skip("the tests of mpi4py %s are not here; scripts/get-mpis fetches them" % version)
        print("mpi4py %s on %s" % (version, library.splitlines()[0]))

    @staticmethod
    def library(flavour, folder):
        """Tells the wheel which MPI library to load: that of a program of the build. The wheel knows MPICH's as libmpi.so.12."""
        words = subprocess.run(["ldd", run.target("exchange-" + flavour)], stdout=subprocess.PIPE, encoding="utf-8", check=True)
        found = re.search(r"libmpi(?:ch)?\.so\.\d+ => (\S+)", words.stdout)
        if not found:
            raise Skip("no MPI library found for %s" % flavour)
        path, env = found.group(1), {}
        if "libmpich" in os.path.basename(path):
            link = os.path.join(folder, "libmpi.so.12")
            if not os.path.lexists(link):
                os.symlink(path, link)
            env["LD_LIBRARY_PATH"] = os.pathsep.join(filter(None, [folder, os.environ.get("LD_LIBRARY_PATH")]))
            path = link
        return dict(env, MPI4PY_LIBMPI=path)


class Outcome:
    """What the ranks have said of each test: `good` where all did; and what they were in when they ended too early."""

    def __init__(self, out, ranks):
        said, self.why, self.unfinished, self.complete = [], {}, set(), True
        for rank in range(ranks):
            mine, at, ended = {}, None, False
            if os.path.exists("%s.%d" % (out, rank)):
                with open("%s.%d" % (out, rank), encoding="utf-8") as file:
                    for line in file:
                        what, test, why = (line.rstrip("\n").split(" ", 2) + [""])[:3]
                        at = test if what == "begin" else None
                        ended = what == "end"
                        if what in ("good", "skip", "bad"):
                            mine[test] = what
                        if what == "bad":
                            self.why.setdefault(test, "rank %d: %s" % (rank, why))
            self.unfinished |= {at} - {None}
            self.complete &= ended
            said.append(mine)
        self.tests = sorted(set().union(*said))
        self.good = {test for test in self.tests if all(mine.get(test) == "good" for mine in said)}
        self.bad = {test for test in self.tests if any(mine.get(test) == "bad" for mine in said)}


class Case:
    def __init__(self, flavour, ranks, python, folder):
        self.flavour, self.ranks, self.python, self.folder, self.runs = flavour, ranks, python, folder, 0

    def go(self, modules, without, options, env):
        """One run of the tests: (Result, Outcome)."""
        self.runs += 1
        out, unwanted = os.path.join(self.folder, "run%d" % self.runs), os.path.join(self.folder, "without")
        report = out + ".json"
        with open(unwanted, "w", encoding="utf-8") as file:
            file.write("\n".join(sorted(without)))
        program = [self.python.path, "-B", INSIDE, self.python.tests, modules, unwanted, out]
        if options is not None:
            options = ["--report", report, *options]
        words = run.command(self.flavour, self.ranks, program, options)
        result = run.run(words, SECONDS, dict(self.python.env, **env), report)
        return result, Outcome(out, self.ranks)

    def natively(self):
        """What passes without mortar, and what cannot be run without it: the tests in which the run died."""
        without, tries = set(), TRIES
        while tries > 0:
            result, outcome = self.go(MODULES, without, None, {})
            if outcome.complete:
                result.check(len(outcome.good) >= 100, "only %d tests pass natively" % len(outcome.good))
                return outcome, without
            result.check(outcome.unfinished, "the native run did not begin a test")
            without |= outcome.unfinished
            tries -= 5 if result.code == 124 else 1
        raise Skip("the native run dies, or is too slow here: %s" % ", ".join(sorted(without)))

    def mortar(self, native, without, modules, tune):
        result, outcome = self.go(modules, without, [], {"MORTAR_TUNE": tune})
        result.check(outcome.complete, "tune %s: ended too early, in %s; before that, wrong:\n%s" % (
            tune, ", ".join(sorted(outcome.unfinished)) or "none", self.listed(outcome, sorted(outcome.bad & native.good))))
        must = {test for test in native.good if re.fullmatch(modules, test.split(".")[0])}
        wrong = sorted(must - outcome.good)
        result.check(not wrong, "tune %s: %d tests pass natively, but not under mortar:\n%s" % (
            tune, len(wrong), self.listed(outcome, wrong)))
        result.check(must, "no test was compared")
        self.taken(result)
        more = ", ".join(sorted(outcome.good - must)) or "-"
        print("tune %s: %d tests pass as natively; only here: %s" % (tune, len(must), more))

    @staticmethod
    def listed(outcome, tests):
        return "\n".join("  %s  %s" % (test, outcome.why.get(test, "not run, or skipped")) for test in tests)

    def taken(self, result):
        """The report: the calls of every collective that came, and that mortar has taken some."""
        names = sorted({row["collective"] for row in result.collectives() if row["collective"] != "-"})
        counts = {name: (result.calls(True, collective=name), result.calls(False, collective=name)) for name in names}
        print("calls taken, native: " + ", ".join("%s %d, %d" % (name, *counts[name]) for name in names))
        for name in ("alltoall", "allgather"):
            result.check(self.ranks == 1 or counts.get(name, (0, 0))[0] > 0, "no %s was taken" % name)


def compare(flavour, ranks, whose="wheel"):
    run.need(flavour)
    with tempfile.TemporaryDirectory() as folder:
        case = Case(flavour, int(ranks), Python(flavour, whose, folder), folder)
        native, without = case.natively()
        print("native: %d of %d tests pass" % (len(native.good), len(native.tests) + len(without)))
        for test in sorted(without):
            print("  dies in %s" % test)
        for test in sorted(native.bad):
            print("  fails %s  %s" % (test, native.why[test]))
        sys.stdout.flush()
        case.mortar(native, without, MODULES, "off")
        case.mortar(native, without, BLOCKING, "online")


if __name__ == "__main__":
    run.main(compare)
