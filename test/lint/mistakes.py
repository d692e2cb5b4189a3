# SPDX-License-Identifier: BSD-3-Clause
"""mistakes - the small mistakes that unit-mutants, fuzz-mistakes and explore plant are still possible: what each of them replaces
stands once in its file. Those tests take minutes and say so, too, but not before each commit."""
import os
import runpy
import sys

from common import main, read


def rows_of(root):
    """(list, file, text that stands there once) of each mistake."""
    for path, names, folder in (("test/unit/mutants.py", ("MUTANTS", "SCHEDULES"), "src/coll/"),
                                ("test/fuzz/mistakes.py", ("MISTAKES",), "src/")):
        lists = runpy.run_path(os.path.join(root, path))
        for name in names:
            for _, file, old, _ in lists[name]:
                yield path, folder + file, old
    path = "test/explore/protocols.py"
    sys.path.insert(0, os.path.join(root, "test/explore"))
    for protocol in runpy.run_path(os.path.join(root, path))["PROTOCOLS"]:
        scaled = {}
        for file, old, new in protocol.scaled:
            yield path, file, old
            scaled[file] = scaled.get(file, ()) + ((old, new),)
        for _, file, old, _ in protocol.mutants:
            yield path, file, (old,) + scaled.get(file, ())
    del sys.path[0]


def check(root):
    findings = []
    for path, file, old in rows_of(root):
        text = read(root, file) if os.path.exists(os.path.join(root, file)) else ""
        if isinstance(old, tuple):  # after what makes the protocol small
            old, changes = old[0], old[1:]
            for before, after in changes:
                text = text.replace(before, after)
        if text.count(old) != 1:
            findings.append("%s:1: %s has this %d times, write the mistake anew: %r" % (path, file, text.count(old), old))
    return findings


PROTOCOLS = """from collections import namedtuple
Protocol = namedtuple("Protocol", "scaled mutants")
PROTOCOLS = [Protocol([("src/reach/box.h", "BOXES = 32", "BOXES = 2")], [("no box", "src/reach/box.h", "BOXES = 2", "BOXES = 1")])]
"""
GOOD = {
    "src/coll/flat/ring.c": "k < p - 1; k++",
    "src/plan/text.c": "head > 31",
    "src/reach/box.h": "enum { BOXES = 32 };",
    "test/unit/mutants.py": 'MUTANTS = [("exchange", "flat/ring.c", "k < p", "k < p - 2")]\nSCHEDULES = []\n',
    "test/fuzz/mistakes.py": 'MISTAKES = [("plan", "plan/text.c", "head > 31", "head > 33")]\n',
    "test/explore/protocols.py": PROTOCOLS,
}
BAD = [
    ({"src/coll/flat/ring.c": "k < n; k++"}, "src/coll/flat/ring.c has this 0 times"),
    ({"src/plan/text.c": "head > 31 head > 31"}, "src/plan/text.c has this 2 times"),
    ({"src/reach/box.h": "enum { BOXES = 16 };"}, "src/reach/box.h has this 0 times"),
    ({"src/coll/flat/ring.c": None}, "src/coll/flat/ring.c has this 0 times"),
]

if __name__ == "__main__":
    main(check, GOOD, BAD)
