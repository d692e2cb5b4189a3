# SPDX-License-Identifier: BSD-3-Clause
"""rows - one file is one row: a row NAME of src/<module>/list.h has its file src/<module>/NAME.c, and the other way round.
The rows DOOR of src/door/list.h are the calls that mortar takes: exactly those are defined in src/mpi. Rows LOOK are not, but for
those of large counts, which not every MPI library has."""
import os

from common import code, files, main, matches, read

# module: (macro of a row, what the symbol of a row's file starts with). Files without such a symbol help others.
MODULES = {
    "order": ("ORDER", "order_"),
    "copy": ("KERNEL", "copy_"),
    "coll": ("ALGORITHM", "algorithm_"),
    "reach": ("PATH", "path_"),
}
DOOR = "src/door/list.h"
ABI = "src/abi/list.h"  # constants: test/abi compares them with every mpi.h


def check_module(root, module, macro, prefix):
    path = "src/%s/list.h" % module
    if not os.path.exists(os.path.join(root, path)):
        return ["%s:1: missing" % path]
    text = code(read(root, path), strings=True)
    findings, rows = [], {}
    for where, match in matches(root, path, r"^([A-Z]+)\(\s*(\w+)\s*,", text):
        if match.group(1) != macro:
            findings.append("%s: a row here is %s(name, ...)" % (where, macro))
        if match.group(2) in rows:
            findings.append("%s: row '%s' twice" % (where, match.group(2)))
        rows[match.group(2)] = where
    if not rows:
        findings.append("%s:1: no row" % path)
    found = {os.path.basename(name)[:-2]: name for name in files(root, ["src/" + module], (".c",))}
    for row, where in rows.items():
        if row not in found:
            findings.append("%s: row '%s' has no file %s.c below src/%s" % (where, row, row, module))
        elif not any(matches(root, row, r"\b%s%s\b" % (prefix, row), code(read(root, found[row])))):
            findings.append("%s:1: does not define %s%s" % (found[row], prefix, row))
    for name, file in sorted(found.items()):
        if name not in rows and defines(root, file, prefix + name):
            findings.append("%s:1: no row in list.h" % file)
    return findings


def defines(root, path, symbol):
    """Something of this name that other files see."""
    return any(matches(root, path, r"^(?!static|extern)\w[^;(=]*\b%s\b\s*[({=;]" % symbol, code(read(root, path))))


def check_door(root):
    rows, looks, defined = {}, {}, {}
    if os.path.exists(os.path.join(root, DOOR)):
        text = code(read(root, DOOR))
        rows = {match.group(1): where for where, match in matches(root, DOOR, r"^DOOR\((\w+),", text)}
        looks = {match.group(1): where for where, match in matches(root, DOOR, r"^LOOK\((\w+_c),", text)}
    for path in files(root, ["src/mpi"], (".c",)):
        for where, match in matches(root, path, r"^int MPI_(\w+)\([^;{]*\{", code(read(root, path))):
            defined[match.group(1)] = where
    findings = [] if rows else ["%s:1: no row" % DOOR]
    rows.update(looks)
    findings += ["%s: MPI_%s is not defined in src/mpi" % (rows[name], name) for name in sorted(set(rows) - set(defined))]
    findings += ["%s: MPI_%s has no row in %s" % (defined[name], name, DOOR) for name in sorted(set(defined) - set(rows))]
    return findings


def check(root):
    findings = check_door(root)
    for module, facts in MODULES.items():
        findings += check_module(root, module, *facts)
    for path in files(root, ["src"], ("list.h",)):
        if path not in (DOOR, ABI) and path.split(os.sep)[1] not in MODULES:
            findings.append("%s:1: a table that rows.py does not know" % path)
    return findings


GOOD = {
    "src/order/list.h": '/* ORDER(comment, 1) */\nORDER(rows, true, "a, b")\n',
    "src/order/rows.c": "void order_rows(int p) {}\n",
    "src/order/orders.c": "",
    "src/copy/list.h": 'KERNEL(plain, "x")\n',
    "src/copy/plain.c": "struct kernel copy_plain;\n",
    "src/coll/list.h": 'ALGORITHM(pull, A | B, "", "x")\n',
    "src/coll/node/pull.c": "const struct algorithm_code algorithm_pull = {0};\n",
    "src/reach/list.h": 'PATH(cma, "x")\n',
    "src/reach/cma.c": "const struct path_code path_cma = {0};\n",
    "src/coll/flat/rounds.c": "int rounds_run(void) {}\n",
    "src/door/list.h": "DOOR(Init, 1)\nLOOK(Bsend, 6)\nLOOK(Bsend_c, 6)\n",
    "src/mpi/init.c": "int MPI_Init(int *a) {\n}\n",
    "src/mpi/narrow.c": "int MPI_Bsend_c(void *a) {\n}\n",
}
BAD = [
    ({"src/order/list.h": "ORDER(rows, 1)\nORDER(hilbert, 1)\n"}, "src/order/list.h:2: row 'hilbert' has no file"),
    ({"src/coll/flat/bruck.c": "int algorithm_bruck;\n"}, "src/coll/flat/bruck.c:1: no row"),
    ({"src/copy/plain.c": "/* copy_plain */ int copy_streaming;\n"}, "does not define copy_plain"),
    ({"src/copy/list.h": "KERNEL(plain, 1)\nKERNEL(plain, 2)\n"}, "row 'plain' twice"),
    ({"src/copy/list.h": "ORDER(plain, 1)\n"}, "a row here is KERNEL"),
    ({"src/copy/list.h": ""}, "src/copy/list.h:1: no row"),
    ({"src/door/list.h": "DOOR(Init, 1)\nDOOR(Bcast, 5)\n"}, "src/door/list.h:2: MPI_Bcast is not defined"),
    ({"src/door/list.h": "DOOR(Init, 1)\nLOOK(Test_c, 3)\nLOOK(Bsend_c, 6)\n"}, "src/door/list.h:2: MPI_Test_c is not defined"),
    ({"src/mpi/bcast.c": "int MPI_Bcast(void *a,\n  int n) {\n}\n"}, "src/mpi/bcast.c:1: MPI_Bcast has no row"),
    ({"src/door/list.h": ""}, "src/door/list.h:1: no row"),
    ({"src/plan/list.h": "PLAN(x, 1)\n"}, "a table that rows.py does not know"),
]

if __name__ == "__main__":
    main(check, GOOD, BAD)
