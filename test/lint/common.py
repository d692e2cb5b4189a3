# SPDX-License-Identifier: BSD-3-Clause
"""common - what the lint checks share. A check is a function from a folder to a list of findings, "path:line: what is wrong".

Every check runs on toy trees first, good and bad: a check that finds nothing in a bad tree fails before it sees the project."""
import os
import re
import sys
import tempfile

TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def code(text, strings=False):
    """C without comments and, unless strings is set, without what its literals hold. Lines keep their numbers."""

    def blank(match):
        token = match.group()
        if token[0] == "/":
            return " " + "\n" * token.count("\n")
        return token if strings else '""'

    return TOKEN.sub(blank, text)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


def files(root, folders, endings):
    """Paths below root/folder with one of the endings, in order; generated folders are left out."""
    found = []
    for folder in folders:
        for here, below, names in os.walk(os.path.join(root, folder)):
            below[:] = [name for name in below if name not in ("build", ".git", ".cache", "__pycache__")]
            names = [name for name in names if name.endswith(endings) and name != ".git"]  # a file in a worktree
            found += [os.path.relpath(os.path.join(here, name), root) for name in names]
    return sorted(found)


def c_files(root, *folders):
    return files(root, folders, (".c", ".h"))


def matches(root, path, pattern, text):
    """One (path:line, match) for each match of a regular expression."""
    for match in re.finditer(pattern, text, re.MULTILINE):
        yield "%s:%d" % (path, text.count("\n", 0, match.start()) + 1), match


def write_tree(folder, tree):
    for path, text in tree.items():
        if text is None:
            continue
        path = os.path.join(folder, path)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)


def self_test(check, good, bad, prepare):
    """good: {path: text}. bad: a list of (what it changes in good, None takes a file away; a part of the finding that must come).
    Returns complaints."""
    complaints = []
    for change, expected in [({}, None)] + bad:
        with tempfile.TemporaryDirectory() as folder:
            write_tree(folder, {**good, **change})
            prepare(folder)
            findings = check(folder)
        if expected is None and findings:
            complaints.append("the good tree has findings: %s" % findings)
        if expected is not None and not any(expected in finding for finding in findings):
            complaints.append("%s: expected '%s', found %s" % (list(change), expected, findings))
    return complaints


def main(check, good, bad, prepare=lambda folder: None):
    """The command line `check.py FOLDER`: exit code 0 when the check is sound and finds nothing."""
    complaints = self_test(check, good, bad, prepare)
    for complaint in complaints:
        print("the check itself is broken: " + complaint)
    findings = check(sys.argv[1])
    for finding in findings:
        print(finding)
    print("%d findings; self-test: 1 good and %d bad trees, %d wrong" % (len(findings), len(bad), len(complaints)))
    sys.exit(1 if findings or complaints else 0)
