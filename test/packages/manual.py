# SPDX-License-Identifier: BSD-3-Clause
"""manual - the pages that the build made: every row of src/base/options.h is in mortar-run(1), every option that a command's --help
has is in that command's page, and mandoc, man and groff have no warnings, as far as they are here."""
import glob
import os
import re
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.dirname(HERE))
import run  # noqa: E402
from run import Failure  # noqa: E402

PAGES = os.path.join(run.BUILD, "packaging", "pages", "man1")
COMMANDS = ("bench", "bench network", "bench communicators", "tune", "info", "doctor", "site-card", "try", "report", "replay",
            "model", "cores", "predict")


def plain(name):
    """A page's text without what groff is told."""
    with open(os.path.join(PAGES, name + ".1"), encoding="utf-8") as file:
        text = file.read()
    for escaped, character in (("\\-", "-"), ("\\(aq", "'"), ("\\(ga", "`"), ("\\(dq", '"'), ("\\&", "")):
        text = text.replace(escaped, character)
    return text


def options_of(text):
    return set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*\b", text)) - {"-h", "--help"}


def check_options():
    with open(os.path.join(run.ROOT, "src", "base", "options.h"), encoding="utf-8") as file:
        rows = re.findall(r"^OPTION\(\s*(\w+),", file.read(), re.MULTILINE)
    page = plain("mortar-run")
    missing = [row for row in rows if not re.search(r'^\.B "MORTAR_%s=' % row, page, re.MULTILINE)]
    if missing or len(rows) < 20:
        raise Failure("mortar-run(1) has not %s of %d options" % (missing, len(rows)))
    told = run.run([run.MORTAR, "run", "--help"]).ok().out
    with open(os.path.join(run.ROOT, "bench", "open.c"), encoding="utf-8") as file:
        for name in re.findall(r'getenv\("(MORTAR_\w+)"\)', file.read()):  # of the commands, which is no row
            texts = {"mortar(1)": plain("mortar"), "mortar run --help": told, "mortar info": run.run([run.MORTAR, "info"]).out}
            for place, text in texts.items():
                if name + "=FILE" not in text:
                    raise Failure("%s has not %s" % (place, name))
    for word in re.findall(r"^  (--[a-z]+)", told, re.MULTILINE):
        if not re.search(r'^\.B "%s ' % word, page, re.MULTILINE):
            raise Failure("mortar-run(1) has not %s" % word)


def check_commands():
    for command in COMMANDS:
        name = "mortar-" + command.split()[0]
        if command == "predict" and not os.path.exists(os.path.join(run.BUILD, "lib", "mortar-sim")):
            continue
        told, page = run.run([run.MORTAR, *command.split(), "--help"]).ok().out, plain(name)
        missing = options_of(told) - options_of(page)
        if missing:
            raise Failure("%s(1) has not %s" % (name, sorted(missing)))
        bold = {word for line in re.findall(r'^\.B "(.*)"$', page, re.MULTILINE) for word in options_of(line)}
        first = set(re.findall(r"^ {0,4}(--[a-z-]+)", told, re.MULTILINE))
        if first - bold - {"--help"}:
            raise Failure("%s(1) does not explain %s" % (name, sorted(first - bold)))


def check_warnings(pages):
    ways = {"mandoc": ["mandoc", "-Tlint", "-Wwarning"], "man": ["man", "--warnings", "-l"],
            "groff": ["groff", "-ww", "-man", "-Tutf8"]}
    found = [name for name in ways if shutil.which(name)]
    for name in found:
        result = run.run([*ways[name], *pages]).ok()
        result.check(not result.err and (name != "mandoc" or not result.out), "%s has warnings" % name)
    print("%d pages seen by %s" % (len(pages), ", ".join(found) or "none of mandoc, man, groff"))


def test():
    pages = sorted(glob.glob(os.path.join(PAGES, "*.1")))
    names = {os.path.basename(page)[:-2] for page in pages}
    expected = {"mortar", "mortar-run"} | {"mortar-" + command.split()[0] for command in COMMANDS}
    if names | {"mortar-predict"} != expected:
        raise Failure("expected pages %s, found %s" % (sorted(expected), sorted(names)))
    check_options()
    check_commands()
    check_warnings(pages)


run.main(test)
