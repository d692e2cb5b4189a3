# SPDX-License-Identifier: BSD-3-Clause
"""environment - settings come from the options table only. base/launcher.c may ask what the launcher says about the rank; the
heap may read environ, since it runs before libc is ready. base/launcher.c alone changes the environment, for a rank's children."""
from common import c_files, code, main, matches, read

READERS = ("src/base/options.c", "src/base/launcher.c")
CHANGES = "src/base/launcher.c"
CHECKS_NAMES = "src/base/options_check.c"  # looks at all that begin with MORTAR_


def check(root):
    findings = []
    paths = c_files(root, "src", "heap")
    if not paths:
        findings.append("nothing to check below " + root)
    for path in paths:
        text = code(read(root, path))
        for where, match in matches(root, path, r"\b(getenv|secure_getenv|setenv|putenv|unsetenv|clearenv|_*environ)\b", text):
            word = match.group(1)
            if word.endswith("getenv") and path in READERS:
                continue
            if word.endswith("environ") and (path.startswith("heap/") or path == CHECKS_NAMES):
                continue
            if word in ("setenv", "unsetenv") and path == CHANGES:
                continue
            findings.append("%s: %s: settings are read by base/options.c" % (where, word))
    return findings


GOOD = {
    "src/base/options.c": "const char *text = getenv(name);\n",
    "src/plan/plan.c": '/* getenv */ warn("getenv");\n',
    "src/base/launcher.c": 'unsetenv("LD_PRELOAD");\n',
    "heap/options.c": "extern char **environ;\n",
}
BAD = [
    ({"src/plan/plan.c": '\nif (getenv("X")) return;\n'}, "src/plan/plan.c:2: getenv"),
    ({"heap/heap.c": 'secure_getenv("X");\n'}, "heap/heap.c:1: secure_getenv"),
    ({"src/base/options.c": 'setenv("X", "1", 1);\n'}, "setenv"),
    ({"src/mpi/init.c": "char **e = environ;\n"}, "environ"),
]

if __name__ == "__main__":
    main(check, GOOD, BAD)
