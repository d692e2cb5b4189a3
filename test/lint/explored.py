# SPDX-License-Identifier: BSD-3-Clause
"""explored - every source that ranks of a node share memory by, other than through a function of another source, is compiled for
the explorer by a protocol of test/explore, or stands below with the reason why no scene is needed. Looked for are atomics where
only ranks can share them, and what lies in the control block: flags, boxes, barriers, posts, cards, the stage, sums, ledgers."""
import os
import re
import sys

from common import c_files, code, main, matches, read

ATOMIC = r"\b_Atomic\b|\batomic_\w+\("
SHARED = (r"\bflags?_(set|add|wait|look|past|reach|wake|fence)\(|\bbox_(next|of|wait|publish|ready|settle|ring|ack|wake|room)\w*\(|"
          r"\bsync_(all|meet|arrive|release|wait|combining)\(|\bsums_(add|read)\(|\b(stage_of|card_at|post_of|posted_vector)\(|"
          r"->(control|ledgers)\b|->shared\[")
LOOKED_FOR = {"src/coll": ATOMIC + "|" + SHARED, "src/reach": ATOMIC + "|" + SHARED, "src/plan": SHARED, "src/mpi": SHARED,
              "src/base": SHARED}
THREADS = "its atomics are for threads of one process"
WITHOUT = {
    "src/coll/node/outside.c": "reads posts between the two barriers of pull, as pull does",
    "src/reach/cma.c": "reads posts between the two barriers of pull, as pull does",
    "src/reach/xpmem.c": "reads posts between the two barriers of pull, as pull does",
    "src/reach/birth.c": "one number, stored before a barrier and read behind it; " + THREADS,
    "src/reach/team.c": "unmaps the control block; " + THREADS,
    "src/reach/peers.c": THREADS,
    "src/reach/progress.c": THREADS,
    "src/reach/private.c": THREADS,
    "src/reach/settings.c": THREADS,
    "src/reach/device.c": THREADS,
    "src/reach/start.c": THREADS,
    "src/plan/learn.c": "sums of sync.c, which scenes of the barrier add up",
    "src/mpi/doubt.c": "looks whether there are ledgers",
}


def named(root):
    """The files that a protocol compiles for the explorer."""
    sys.path.insert(0, os.path.join(root, "test/explore"))
    for module in ("protocols", "outer", "sources"):
        sys.modules.pop(module, None)
    from protocols import PROTOCOLS
    del sys.path[0]
    return {file for protocol in PROTOCOLS for file in protocol.sources}


def check(root, without=None):
    without = WITHOUT if without is None else without
    findings, explored, needed = [], named(root), set()
    for folder, words in LOOKED_FOR.items():
        for path in c_files(root, folder):
            if not path.endswith(".c"):
                continue
            for place, match in matches(root, path, words, code(read(root, path))):
                needed.add(path)
                if path not in explored and path not in without:
                    findings.append("%s: %s: no protocol of test/explore compiles this file, and explored.py has no reason"
                                    % (place, match.group()))
                    break
    for path in without:
        if path not in needed or path in explored:
            findings.append("%s:1: needs no reason in explored.py any more" % path)
    return findings


PROTOCOLS = 'from collections import namedtuple\nProtocol = namedtuple("Protocol", "sources")\nPROTOCOLS = [Protocol([%s])]\n'
GOOD = {
    "src/reach/sync.c": "void f(void) { flag_set(&gate->opened, 1); }\n",
    "src/reach/log.c": "/* flag_set(&flag, 1); */ int team_flag_count(int);\n",
    "src/plan/ticks.c": "static _Atomic int ticks;\n",
    "src/reach/keep.c": "static _Atomic int kept;\n",
    "test/explore/protocols.py": PROTOCOLS % '"src/reach/sync.c"',
}
GOOD_WITHOUT = {"src/reach/keep.c": THREADS}
BAD = [
    ({"test/explore/protocols.py": PROTOCOLS % ""}, "src/reach/sync.c:1: flag_set(: no protocol"),
    ({"src/coll/node/new.c": "\nstatic _Atomic int x;\n"}, "src/coll/node/new.c:2: _Atomic: no protocol"),
    ({"src/plan/new.c": "void f(void) { sync_all(team, 0); }\n"}, "src/plan/new.c:1: sync_all(: no protocol"),
    ({"src/mpi/new.c": "char *at = team->shared[0];\n"}, "src/mpi/new.c:1: ->shared[: no protocol"),
    ({"src/reach/keep.c": "static int kept;\n"}, "src/reach/keep.c:1: needs no reason"),
    ({"src/reach/keep.c": None}, "src/reach/keep.c:1: needs no reason"),
]

if __name__ == "__main__":
    main(lambda root: check(root, WITHOUT if os.path.exists(os.path.join(root, "include/mortar.h")) else GOOD_WITHOUT), GOOD, BAD)
