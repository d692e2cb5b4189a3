# SPDX-License-Identifier: BSD-3-Clause
"""compare FLAVOUR PART [WORD] - MPICH's own tests, natively and under mortar: first with the defaults, then with every communicator
served from its first call. What passes natively must pass under mortar; the rest is listed. The tests are built once for each
flavour, in the build folder. PART is a row of PARTS; with WORD only tests run whose line has it."""
import os
import re
import subprocess
import sys
import time

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import run  # noqa: E402
from run import Failure, Skip  # noqa: E402

VERSION = "4.0.2"
HERE = os.path.dirname(os.path.abspath(__file__))
PARTS = {  # folders of the tests
    "collectives": "coll topo threads/coll errors/coll errors/topo",
    "communicators": "comm threads/comm errors/comm attr group init errhan spawn",
    "types": "datatype errors/datatype rma info",
    "messages": "pt2pt errors/pt2pt threads/pt2pt threads/rma threads/init threads/spawn",
    "files": "io errors/io errors/attr errors/group errors/rma errors/spawn",
    "fortran": " ".join(language + "/" + folder for language in ("f08", "f90", "f77") for folder in (
        "attr", "coll", "comm", "datatype", "ext", "info", "init", "io", "pt2pt", "rma", "spawn", "topo")) +
        " f08/subarray f08/misc",
}
SIDES = {  # how mortar is set
    "the defaults": {"MORTAR_START": "paid", "MORTAR_TUNE": "watch"},
    "every call": {"MORTAR_START": "first", "MORTAR_TUNE": "off"},
}
RANKS = {"ompi": 10, "mpich": 2, "impi": 4}  # at most: MPICH spins where they share processors
SPAWNS = {"ompi4": {  # what it needs to start processes: room for them, and TCP, as vader reaches no other job's
    "OMPI_MCA_orte_set_default_slots": "20", "OMPI_MCA_btl": "self,vader,tcp"}}
MORE = 5  # where a test does not pass with fewer than its line says
NATIVE, LEAST, TIMES = 45, 30, 12  # seconds of a native run at most; of one under mortar at least, and in times of the native one
AGAIN = 3  # what differs runs so often again, both ways
MEMORY = 2  # GB that a test may ask for
UNFIT = {  # tests that say nothing about mortar
    "timeout": "waits for the launcher to end it",
    "taskmanager": "starts 128 jobs, one after the other",
    "th_taskmanager": "starts 128 jobs, one after the other",
    "bcastlength": "wants an error where a broadcast is shorter than expected, which only MPICH finds",
}


class Row:
    """A line of a list: the program, how many ranks, and what makes it good."""

    def __init__(self, folder, words):
        self.folder, self.program, self.words = folder, words[0], words
        self.ranks = int(words[1]) if len(words) > 1 else 2
        pairs = [word.partition("=")[::2] for word in words[2:]]
        self.args = [value for key, value in pairs if key == "arg"]
        self.env = dict(value.split("=", 1) for key, value in pairs if key == "env")
        self.launcher = [value for key, value in pairs if key == "mpiexecarg"]
        keys = dict(pairs)
        self.wanted, self.memory = keys.get("resultTest", ""), float(keys.get("mem", 0))

    def __str__(self):
        return " ".join([self.folder + "/" + self.program, *self.words[1:]])

    def verdict(self, code, text):
        """What the suite's own script would say: "good", or why not."""
        lines = [line for line in text.splitlines() if line.strip() and "FORTRAN STOP" not in line]
        other = [line for line in lines if not re.fullmatch(r"\s*(No [Ee]rrors|Test [Pp]assed)\s*", line)]
        if code in (124, 137):
            return "runs too long"
        if self.wanted in ("TestStatus", "TestErrFatal"):
            return "good" if code else "exits with 0"
        if (code == 0) == (self.wanted == "TestStatusNoErrors"):
            return "exits with %d" % code
        if len(other) == len(lines):
            return "does not say that there are no errors"
        return "says more" if other else "good"


class Suite:
    """The tests, built for one flavour."""

    def __init__(self, flavour):
        self.flavour = flavour
        self.source = os.path.join(run.MPIS, "mpich-tests", VERSION)
        if not os.path.isdir(self.source):
            raise Skip("the tests of MPICH %s are not here; scripts/get-mpis fetches them" % VERSION)
        self.build = os.path.join(run.BUILD, "test", "mpich", flavour)
        self.most = next(most for name, most in RANKS.items() if flavour.startswith(name))

    def compiler(self, language):
        """The command, or nothing."""
        words = [run.LAUNCH, language, self.flavour]
        return subprocess.run(words, stdout=subprocess.PIPE, encoding="utf-8", check=True).stdout.strip()

    def made(self, folder, *words):
        """Runs a command of the build; its output goes into a file beside it."""
        with open(os.path.join(self.build, "log"), "a", encoding="utf-8") as log:
            return subprocess.run(words, cwd=os.path.join(self.build, folder), stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                  check=False).returncode == 0

    def make(self, folders):
        """Configures and builds. Programs that this MPI cannot have (sessions, removed calls) fail, and are left out."""
        os.makedirs(self.build, exist_ok=True)
        if not os.path.exists(os.path.join(self.build, "config.status")):
            fc, flags = self.compiler("--fc"), "-w -fallow-argument-mismatch"
            fortran = ["MPIF77=" + fc, "FFLAGS=" + flags, "MPIFC=" + fc, "FCFLAGS=" + flags] if fc else ["--enable-fortran=no"]
            if not self.made("", os.path.join(self.source, "configure"), "MPICC=" + self.compiler("--cc"), *fortran,
                             "MPIEXEC=false", "--disable-cxx", "--enable-threads=multiple", "--disable-perftest",
                             *["--enable-strictmpi"] * self.flavour.startswith("ompi")):
                raise Failure("MPICH's tests cannot be configured; see %s/log" % self.build)
        self.made("util", "make", "mtest_f08.lo")  # configure leaves f08 out unless MPICH itself is built
        for folder in folders:
            f08 = ["LDADD=../../util/mtest_f08.o"] * folder.startswith("f08/")
            self.made(folder, "make", "-k", "-j2", "CFLAGS=-O1 -w -include %s/removed.h" % HERE, *f08)

    def rows(self, folder, word):
        for place in (self.build, self.source):  # a list with options is made by configure
            path = os.path.join(place, folder, "testlist")
            if os.path.exists(path):
                break
        with open(path, encoding="utf-8") as file:
            for line in file:
                words = line.split("#")[0].split()
                if words and not os.path.isdir(os.path.join(self.source, folder, words[0])) and word in line:
                    yield Row(folder, words)

    def go(self, row, ranks, seconds, side=None):
        """One run: (verdict, seconds, output). A program that starts others looks for them where it is."""
        env = {"MPIEXEC_TIMEOUT": str(seconds + 5), **SPAWNS.get(self.flavour, {}), **row.env, **(side or {})}
        if row.launcher and self.flavour.startswith("mpich"):
            env["MPI_ARGS"] = " ".join(row.launcher)
        words = run.command(self.flavour, ranks, ["./" + row.program, *row.args], None if side is None else [])
        began = time.monotonic()
        result = run.run(["env", "-C", os.path.join(self.build, row.folder), *words], seconds, env)
        text = result.out + result.err
        return row.verdict(result.code, text), time.monotonic() - began, text

    def natively(self, row):
        """How many ranks the test has here, and its native run. Some pass only with as many as their line says."""
        ranks, more = min(row.ranks, self.most), min(row.ranks, MORE)
        native = self.go(row, ranks, NATIVE)
        if native[0] != "good" and ranks < more:
            ranks, native = more, self.go(row, more, NATIVE)
        return ranks, native

    def differences(self, row, ranks, native):
        """What passes natively and not under mortar, in every run of those that follow as well."""
        for name, side in SIDES.items():
            seconds = max(LEAST, int(TIMES * native[1]))
            first = self.go(row, ranks, seconds, side)
            if first[0] == "good":
                continue
            again = [(self.go(row, ranks, seconds, side)[0], self.go(row, ranks, NATIVE)[0]) for _ in range(AGAIN)]
            found = "%s, %d ranks, %s: %s; again: %s; natively again: %s" % (
                row, ranks, name, first[0], ", ".join(mine for mine, _ in again), ", ".join(other for _, other in again))
            print("  differs: " + found)
            if all(other == "good" for _, other in again) and any(mine != "good" for mine, _ in again):
                yield found + "\n" + run.tail(first[2], 2000)


def compare(flavour, part, word=""):
    run.need(flavour)
    suite, folders = Suite(flavour), PARTS[part].split()
    suite.make(folders)
    passed, wrong = 0, []
    for row in [row for folder in folders for row in suite.rows(folder, word)]:
        why = UNFIT.get(row.program)
        if not os.access(os.path.join(suite.build, row.folder, row.program), os.X_OK):
            why = "not built"
        elif row.memory > MEMORY:
            why = "needs %g GB" % row.memory
        if not why:
            ranks, native = suite.natively(row)
            why = None if native[0] == "good" else "natively it " + native[0]
        if why:
            print("  not compared: %s: %s" % (row, why))
            continue
        passed += 1
        wrong += suite.differences(row, ranks, native)
        sys.stdout.flush()
    print("%d tests pass natively; %d runs of them under mortar do not" % (passed, len(wrong)))
    if wrong:
        raise Failure("what passes natively does not pass under mortar:\n" + "\n".join(wrong))
    if not passed:
        raise Failure("no test was compared")


if __name__ == "__main__":
    run.main(compare)
