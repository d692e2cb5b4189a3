# SPDX-License-Identifier: BSD-3-Clause
"""example - the examples of HACKING.md are true: it adds their files and rows to a copy of the sources, and nothing else, builds it
with warnings as errors, and sees that `mortar info`, the lint, the unit tests and the generic driver take them up. Then it breaks
the examples one by one: the tests have to find that, or they would not have run them.
usage: example.py [FLAVOUR]    the MPI that the driver runs under; the first one that is here

In HACKING.md the line above an indented block says what the block is: `<!-- file PATH -->`, a new file; or `<!-- row of PATH, below
TEXT -->`, lines to be put below the line of that file which begins with TEXT."""
import os
import re
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BUILD = os.path.abspath(os.environ.get("MORTAR_BUILD", os.path.join(ROOT, "build", "release")))
BLOCK = re.compile(r"^<!-- (file|row of) ([\w./]+)(?:, below (.*?))? -->\n\n((?:    .*\n|\n)+)", re.MULTILINE)
UNITS = ("order", "text", "choices", "plans", "threads", "rows")
# What is broken: file, a part of it, what it becomes, and the unit test that has to notice.
MUTANTS = (
    ("src/order/diagonals.c", "(k + worker) % rows", "(k + worker / 2) % rows", "order"),
    ("src/coll/node/carousel.c", "k <= p", "k < p", "threads"),
)


class Failure(Exception):
    pass


def read(path):
    with open(path, encoding="utf-8") as file:
        return file.read()


def write(path, text):
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)


def apply(tree):
    """Does what HACKING.md says; returns the names of the rows by their table."""
    names = {}
    for kind, path, below, block in BLOCK.findall(read(os.path.join(tree, "HACKING.md"))):
        text = re.sub(r"^    ", "", block, flags=re.MULTILINE).strip("\n") + "\n"
        path_there = os.path.join(tree, path)
        if kind == "file":
            if os.path.exists(path_there):
                raise Failure("%s is there already: the example of HACKING.md needs another name" % path)
            write(path_there, text)
            continue
        lines = read(path_there).splitlines(keepends=True)
        at = [number for number, line in enumerate(lines, 1) if line.startswith(below)]
        if len(at) != 1:
            raise Failure("%s: %d lines begin with '%s'" % (path, len(at), below))
        write(path_there, "".join(lines[:at[0]]) + text + "".join(lines[at[0]:]))
        for table, name in re.findall(r"^([A-Z]+)\((\w+),", text, re.MULTILINE):
            names[table] = name
    if sorted(names) != ["ALGORITHM", "ORDER"]:
        raise Failure("HACKING.md has examples of %s instead of an order and an algorithm" % (sorted(names) or "nothing"))
    return names


def run(words, tree, seconds=300, fails=False):
    """What it printed. fails: it has to."""
    print("$ " + " ".join(words), flush=True)
    env = dict(os.environ, MORTAR_BUILD=os.path.join(tree, "build", "dev"))
    done = subprocess.run(["timeout", "-k", "5", str(seconds), *words], cwd=tree, env=env, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", check=False)
    if (done.returncode != 0) != fails or done.returncode == 124:
        raise Failure("%s: exit code %d%s\n%s" % (" ".join(words), done.returncode, ", but it should fail" if fails else "",
                                                  done.stdout[-6000:]))
    return done.stdout


def build(tree, *targets):
    run(["cmake", "--build", "build/dev", "-j", "2", "--target", *targets], tree, 900)


def unit(tree, name, fails=False):
    return run(["test/unit/run", "build/dev/test/unit/unit-" + name], tree, 120, fails)


def abi_of(flavour):
    return "ompi" if flavour.startswith("ompi") else "mpich"


def prepare(tree, flavour):
    run(["cmake", "--preset", "dev"], tree)
    build(tree, "mortar", "mortar-heap", "mortar-command", "mortar-info", "mortar-" + abi_of(flavour), "driver-" + flavour,
          *["unit-" + name for name in UNITS])


def see(tree, flavour, names):
    """What is there takes the rows up."""
    said = run(["build/dev/bin/mortar", "info"], tree)
    for name in names.values():
        if not re.search(r"^ +%s\b" % name, said, re.MULTILINE):
            raise Failure("`mortar info` does not list %s\n%s" % (name, said))
    for lint in ("rows", "arrows", "text", "pages"):
        run([sys.executable, "-B", "test/lint/%s.py" % lint, "."], tree)
    for name in UNITS:
        unit(tree, name)
    plans = run(["build/dev/bin/mortar", "info", "--plans", "alltoall"], tree)
    for plan in (names["ALGORITHM"], "pull(%s" % names["ORDER"]):
        if not re.search(r"^%s" % re.escape(plan), plans, re.MULTILINE):
            raise Failure("`mortar info --plans alltoall` does not list %s\n%s" % (plan, plans))
        print(run([sys.executable, "-B", "test/coll/driver.py", flavour, "4", "40", "--plans", plan], tree, 150).strip())


def break_it(tree):
    for path, text, broken, test in MUTANTS:
        good = read(os.path.join(tree, path))
        if good.count(text) != 1:
            raise Failure("%s: '%s' is there %d times: test/hacking/example.py has to break something else" %
                          (path, text, good.count(text)))
        write(os.path.join(tree, path), good.replace(text, broken))
        build(tree, "unit-" + test)
        unit(tree, test, fails=True)
        print("unit-%s finds '%s' in place of '%s' in %s" % (test, broken, text, path))
        write(os.path.join(tree, path), good)


def main(words):
    found = subprocess.run([os.path.join(ROOT, "scripts", "mpi"), "--list"], encoding="utf-8", stdout=subprocess.PIPE, check=False)
    flavours = found.stdout.split()
    if not flavours:
        print("skipped: no MPI is here")
        return 77
    flavour = words[0] if words else flavours[0]
    with tempfile.TemporaryDirectory(dir=BUILD) as folder:
        tree = os.path.join(folder, "mortar")
        shutil.copytree(ROOT, tree, symlinks=True, ignore=shutil.ignore_patterns("build", ".git", "__pycache__"))
        try:
            names = apply(tree)
            prepare(tree, flavour)
            see(tree, flavour, names)
            break_it(tree)
        except Failure as failure:
            print("FAILED: %s" % failure)
            return 1
    print("the examples of HACKING.md do what it says: %s" % ", ".join(sorted(names.values())))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
