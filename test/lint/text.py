# SPDX-License-Identifier: BSD-3-Clause
"""text - every text file: its licence line, below 400 lines of at most 100 columns (scripts and tables 132), no tabs, no trailing
blanks, no path that exists on one machine only. What begins with #! can be run. Nothing without a kind lies at the top."""
import os
import re

from common import files, main, read

LICENSED = (".c", ".h", ".cpp", ".f", ".f90", ".py", ".sh", ".cmake", "CMakeLists.txt", "Makefile")  # and all scripts
ANY_WIDTH = (".md", ".json", ".csv", "LICENSE")
HOME = re.compile(r"(?<![\w.$}])/(?:work|root|home|opt|Users)/\w")
LINES, COLUMNS, C_COLUMNS = 400, 132, 100
TABLES = ("list.h", "options.h", "collectives.h")  # a row is a line
BYTES = "test/fuzz/corpus/"  # any bytes: inputs of test/fuzz
STRING = re.compile(r'"(?:\\.|[^"\\])*"')  # may make a line longer: it is not broken
LONGER = {  # files that hold one thought in more lines
    "src/plan/learn.c": "one machine of states",
    "test/preload/arguments.c": "one table of wrong arguments",
    "test/unit/layout.c": "one random test of one structure",
    "test/unit/vector.c": "one random test of one exchange",
}


def check_file(path, text):
    lines = text.split("\n")
    script = text.startswith("#!")
    if not script and "/" not in path and "." not in path and path not in ("LICENSE", "Makefile"):
        yield 1, "a file of no kind at the top: left by a command?"
    if (script or path.endswith(LICENSED)) and not any("SPDX-License-Identifier: BSD-3-Clause" in line for line in lines[:2]):
        yield 1, "no SPDX-License-Identifier line"
    columns = C_COLUMNS if path.endswith((".c", ".h")) and not path.endswith(TABLES) else COLUMNS
    if len(lines) > LINES and not path.endswith(ANY_WIDTH) and path not in LONGER:
        yield LINES, "%d lines; the limit is %d" % (len(lines) - 1, LINES)
    if text and not text.endswith("\n"):
        yield len(lines), "no newline at the end"
    for number, line in enumerate(lines, 1):
        if "\t" in line and not path.endswith(("Makefile", ".csv")):
            yield number, "tab"
        if line != line.rstrip() and not path.endswith(".md"):
            yield number, "blank at the end of the line"
        width = len(line if columns == COLUMNS else STRING.sub("", line))
        if width > columns and not path.endswith(ANY_WIDTH):
            yield number, "%d columns; the limit is %d" % (len(line), columns)
        if HOME.search(line):
            yield number, "a path of one machine: %s" % HOME.search(line).group()


def check(root):
    findings, seen = [], 0
    for path in files(root, [""], ("",)):
        if path.startswith(BYTES):
            continue
        try:
            text = read(root, path)
        except UnicodeDecodeError:  # pictures and the like
            continue
        seen += 1
        findings += ["%s:%d: %s" % (path, line, why) for line, why in check_file(path, text)]
        if text.startswith("#!") and not os.access(os.path.join(root, path), os.X_OK):
            findings.append("%s:1: begins with #! and is not executable" % path)
    return findings if seen else ["nothing to check below " + root]


SPDX = "/* SPDX-License-Identifier: BSD-3-Clause */\n"
GOOD = {
    "a.c": SPDX + 'int x; /* /proc/self/maps, build/home/x, "$HOME/opt/x" */\n',
    "run": "#!/bin/sh\n# SPDX-License-Identifier: BSD-3-Clause\n",
    "Makefile": "# SPDX-License-Identifier: BSD-3-Clause\nall:\n\ttrue\n",
    "notes.md": "x" * 200 + "\n",
    "build/junk.c": "\t\n",
    "test/fuzz/corpus/plan/blanks": " \t",
}
BAD = [
    ({"a.c": "int x;\n"}, "a.c:1: no SPDX"),
    ({"found": "a line\n"}, "found:1: a file of no kind"),
    ({"run": "#!/bin/sh\ntrue\n"}, "run:1: no SPDX"),
    ({"tool": GOOD["run"]}, "tool:1: begins with #!"),
    ({"a.c": SPDX + "\n" * 400}, "401 lines"),
    ({"a.c": SPDX + "\tint x;\n"}, "a.c:2: tab"),
    ({"a.c": SPDX + "int x; \n"}, "a.c:2: blank"),
    ({"a.c": SPDX + "int x;"}, "no newline"),
    ({"a.c": SPDX + "/" * 101 + "\n"}, "101 columns"),
    ({"test/fuzz/blanks": " \n"}, "blanks:1: blank"),
    ({"a.py": SPDX.replace("/* ", "# ").replace(" */", "") + "#" * 133 + "\n"}, "133 columns"),
    ({"notes.md": "see /ho" + "me/me/notes\n"}, "notes.md:1: a path of one machine"),
]

def prepare(folder):
    os.chmod(os.path.join(folder, "run"), 0o755)


if __name__ == "__main__":
    main(check, GOOD, BAD, prepare)
