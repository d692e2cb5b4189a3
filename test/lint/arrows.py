# SPDX-License-Identifier: BSD-3-Clause
"""arrows - which module may include what. A module shows others one header, <module>/<module>.h, and its tables."""
import os

from common import c_files, code, main, matches, read

ARROWS = {  # module: whose headers it may include besides its own
    "base": "",
    "abi": "",
    "order": "",
    "copy": "base",
    "reach": "base copy order heap include",
    "coll": "base copy order reach",
    "tuning": "base include",
    "plan": "base copy order reach coll tuning",
    "mpi": "base copy order reach coll plan tuning heap include",
    "door": "base include",
    "link": "include",
    "info": "base copy order reach coll plan include tuning",
    "heap": "base",
    "include": "",
    "examples": "",
}
# Inside coll: algorithms of one node, flat ones and those over nodes; what lies above the three folders is for all.
INSIDE = {"coll/node": "", "coll/flat": "", "coll/nodes": "coll/node coll/flat"}
FACES = {"include": "mortar.h"}  # the header that a module shows, where it is not <module>.h
TABLES = {"list.h", "options.h", "collectives.h"}  # lists of rows
ANYBODYS = {"coll/collectives.h", "coll/forms.h", "abi/libraries.h", "abi/makers.h"}  # facts of MPI, in macros only
WITHOUT_MPI = {"base", "order", "copy", "tuning", "heap", "door", "link", "info", "include"}


def wrong(module, place, folder_has, quote, name):
    """Why a file of the module, in this folder of it, may not include this; None when it may."""
    folder, base = os.path.split(name)
    if name == "mpi.h":
        return "%s may not know mpi.h" % module if module in WITHOUT_MPI else None
    if quote == "<" and name != "mortar.h":
        return None
    if not folder and folder_has(base):
        return None
    if name in ANYBODYS:
        return None
    if folder in INSIDE and folder.startswith(module + "/"):
        above = place in INSIDE and folder in (place + " " + INSIDE[place]).split()
        return None if above else "no arrow from %s to %s" % (place, folder)
    owner = "include" if name == "mortar.h" else folder
    if owner == module:
        return None
    if owner not in ARROWS:
        return "%s: write module/header.h" % name
    if owner not in ARROWS[module].split():
        return "no arrow from %s to %s" % (module, owner)
    if base != FACES.get(owner, owner + ".h") and base not in TABLES:
        return "%s is private to %s" % (name, owner)
    return None


def check(root):
    findings = []
    paths = c_files(root, "src", "heap", "include", "info", "examples")
    if not paths:
        findings.append("nothing to check below " + root)
    for path in paths:
        parts = path.split(os.sep)
        module = parts[1] if parts[0] == "src" else parts[0]
        if module not in ARROWS:
            findings.append("%s:1: no module '%s' in ARROWS (%s)" % (path, module, os.path.basename(__file__)))
            continue
        folder = os.path.join(root, os.path.dirname(path))
        text = code(read(root, path), strings=True)
        for where, match in matches(root, path, r'^[ \t]*#[ \t]*include\s*([<"])([^>"]+)[>"]', text):
            place = os.path.dirname(os.path.relpath(path, "src"))
            why = wrong(module, place, lambda name: os.path.exists(os.path.join(folder, name)), *match.groups())
            if why:
                findings.append("%s: %s" % (where, why))
    return findings


GOOD = {
    "src/base/base.h": "#include <stddef.h>\n",
    "src/order/list.h": "ORDER(rows, 1)\n",
    "src/door/forward.h": '#include "coll/forms.h"\n#include "coll/collectives.h"\n',
    "src/reach/handover.h": '#include "base/base.h"\n#include <mpi.h>\n#include "heap/heap.h"\n',
    "src/coll/node/pull.c": '#include "coll/coll.h"\n#include "order/list.h"\n/* #include "plan/plan.h" */\n',
    "src/coll/nodes/leader.c": '#include "coll/nodes/lanes.h"\n#include "coll/flat/rounds.h"\n',
    "src/mpi/init.c": '#include "plan/plan.h"\n#include "include/mortar.h"\n#include "mpi/host.h"\n',
    "examples/heat.c": "#include <mpi.h>\n",
}
BAD = [
    ({"src/coll/node/pull.c": '\n#include "plan/plan.h"\n'}, "src/coll/node/pull.c:2: no arrow from coll to plan"),
    ({"src/order/rows.c": '#include "base/base.h"\n'}, "no arrow from order to base"),
    ({"src/base/log.c": "#include <mpi.h>\n"}, "base may not know mpi.h"),
    ({"src/door/door.c": '#include "mpi.h"\n'}, "door may not know mpi.h"),
    ({"heap/heap.c": "#  include <mpi.h>\n"}, "heap may not know mpi.h"),
    ({"src/coll/node/pull.c": '#include "reach/handover.h"\n'}, "reach/handover.h is private to reach"),
    ({"src/coll/node/pull.c": '#include "coll/flat/rounds.h"\n'}, "no arrow from coll/node to coll/flat"),
    ({"src/coll/blocks.c": '#include "coll/flat/rounds.h"\n'}, "no arrow from coll to coll/flat"),
    ({"src/plan/plan.c": '#include "coll/flat/rounds.h"\n'}, "coll/flat/rounds.h: write module/header.h"),
    ({"src/coll/node/pull.c": '#include "../reach/reach.h"\n'}, "write module/header.h"),
    ({"src/net/net.c": ""}, "no module 'net'"),
    ({"examples/heat.c": '#include "mortar.h"\n'}, "no arrow from examples to include"),
    ({"src/coll/node/pull.c": "#include <mortar.h>\n"}, "no arrow from coll to include"),
]

if __name__ == "__main__":
    main(check, GOOD, BAD)
