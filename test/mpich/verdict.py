# SPDX-License-Identifier: BSD-3-Clause
"""verdict - a test of MPICH's that has to be stopped runs too long, whether it obeys or must be killed, and also where an error is
what it shall end with."""
import os
import sys

sys.path.insert(0, os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
import compare  # noqa: E402
import run  # noqa: E402


def verdict():
    for name, script in (("obeys", "sleep 60"), ("must be killed", "trap '' TERM; while :; do sleep 1; done")):
        result = run.run(["sh", "-c", script], 1)
        for wanted in ("", "resultTest=TestErrFatal"):
            said = compare.Row("folder", ["program", "2", *wanted.split()]).verdict(result.code, result.out)
            result.check(said == "runs too long", "one that %s %s: %r" % (name, wanted, said))


if __name__ == "__main__":
    run.main(verdict)
