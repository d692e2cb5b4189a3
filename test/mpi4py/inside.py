# SPDX-License-Identifier: BSD-3-Clause
"""inside TESTS MODULES WITHOUT OUT - one rank: runs mpi4py's tests of the folder TESTS whose module names fit the expression
MODULES, except those that the file WITHOUT lists, and writes to OUT.<rank>, line by line so that nothing is lost when a test hangs
or crashes: `begin TEST`, then `good TEST`, `skip TEST` or `bad TEST reason`; `end` when all have run."""
import glob
import os
import re
import sys
import unittest


class Record(unittest.TestResult):
    """A test may say several things (its parts, its cleaning up): the worst counts."""

    def __init__(self, out):
        super().__init__()
        self.out, self.worst, self.why = out, "good", ""

    def say(self, *words):
        self.out.write(" ".join(words) + "\n")
        self.out.flush()

    def bad(self, test, error):
        why = " ".join(("%s: %s" % (error[0].__name__, error[1])).split())[:300]
        if hasattr(test, "_testMethodName") or hasattr(test, "test_case"):
            self.worst, self.why = "bad", why
        else:  # a class or module that could not be set up has no begin
            self.say("bad", test.id().replace(" ", "_"), why)

    def startTest(self, test):
        self.worst, self.why = "good", ""
        self.say("begin", test.id())

    def stopTest(self, test):
        self.say(self.worst, test.id(), self.why)

    def addError(self, test, err):
        self.bad(test, err)

    def addFailure(self, test, err):
        self.bad(test, err)

    def addSubTest(self, test, subtest, err):
        if err is not None:
            self.bad(test, err)

    def addUnexpectedSuccess(self, test):
        self.bad(test, (AssertionError, "unexpected success"))

    def addSkip(self, test, reason):
        if self.worst == "good":
            self.worst, self.why = "skip", reason


def flat(suite):
    for test in suite:
        if isinstance(test, unittest.TestSuite):
            yield from flat(test)
        else:
            yield test


def main(tests, modules, without, out):
    for other in ("cupy", "numba"):  # arrays on a GPU are another story
        sys.modules[other] = None
    sys.path.insert(0, tests)
    from mpi4py import MPI
    with open(without, encoding="utf-8") as file:
        unwanted = set(file.read().split())
    names = sorted(os.path.basename(path)[:-3] for path in glob.glob(os.path.join(tests, "test_*.py")))
    loaded = unittest.defaultTestLoader.loadTestsFromNames([name for name in names if re.fullmatch(modules, name)])
    wanted = [test for test in flat(loaded) if test.id() not in unwanted]
    with open("%s.%d" % (out, MPI.COMM_WORLD.Get_rank()), "w", encoding="utf-8") as file:
        record = Record(file)
        unittest.TestSuite(wanted).run(record)
        record.say("end", "-")


main(*sys.argv[1:])
