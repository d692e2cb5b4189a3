# SPDX-License-Identifier: BSD-3-Clause
"""sources - what protocols.py and outer.py are written with: what a protocol is, the names of files, and mistakes of what all
others are built on."""
from collections import namedtuple

# scenes: the file in scenes/. sources: compiled for the explorer. beside: compiled as usual. scaled: numbers made small, as (file,
# old, new). runs: (scene, ranks, number...), then "reported" if ranks also tell each other when they entered, and "naive" if all
# interleavings are tried as well; the runs of litmus end with the number of outcomes. mutants: (what, file, old, new).
Protocol = namedtuple("Protocol", "name about scenes runs mutants sources beside scaled", defaults=([], [], []))

SYNC = "src/reach/sync.c"
FLAG = "src/reach/flag.h"
BOX = "src/reach/box.c"
BOX_H = "src/reach/box.h"
WAIT = "src/reach/wait.c"
WAITS = "src/reach/waits.c"
SHOWN_C = "src/reach/shown.c"
MOVED_C = "heap/moved.c"
MOVED_H = "heap/moved.h"
HEAP_H = "heap/heap.h"
PLACES_C = "heap/places.c"
HUGE_H = "heap/huge.h"
REACH = "src/reach/reach.h"
TAPE_C = "src/coll/node/tape.c"
CHAIN_C = "src/coll/node/chain.c"
EITHER = "src/coll/node/either.c"
PACE = "src/coll/node/pace.h"
ARRIVAL_C = "src/coll/node/arrival.c"
ARRIVAL_H = "src/coll/node/arrival.h"
PULL = "src/coll/node/pull.c"
CICO = "src/coll/node/cico.c"
STAGED = "src/coll/node/staged.c"
MAILBOX_C = "src/coll/node/mailbox.c"
LETTERS = "src/coll/node/letters.c"
OFFERS = "src/coll/node/offers.c"
VECTOR = "src/coll/node/vector.c"
COUNTED = "src/coll/node/counted.c"
NOTES = "src/coll/node/notes.c"
BLOCKS = "src/coll/blocks.c"
REDUCE = "src/coll/reduce.c"
APIECE = "src/coll/node/apiece.c"
SINGLE = "src/coll/single.h"
CENTRAL = "src/coll/node/central.c"
SLICES = "src/coll/node/slices.c"
LEVELS = "src/coll/node/levels.c"
DOMAINS = "src/reach/domains.c"
LEDGER_C = "src/reach/ledger.c"
LEDGER_H = "src/reach/ledger.h"
OVERLAP = "src/coll/nodes/overlap.c"
LANES = "src/coll/nodes/lanes.c"
ROUTES = "src/coll/nodes/routes.c"
SPREAD = "src/coll/nodes/spread.c"
JOB = "src/coll/nodes/job.c"
UNIVERSAL = "src/coll/nodes/universal.c"
ROOTED = "src/coll/nodes/universal_rooted.c"
REDUCED = "src/coll/nodes/universal_reduced.c"
NODE = "src/reach/node.c"
NODES = [OVERLAP, LANES, ROUTES, SPREAD, JOB, UNIVERSAL, ROOTED, REDUCED] + [
    "src/coll/nodes/%s.c" % name for name in ("leader", "distribute", "aggregate")]
LAYOUT = "src/copy/layout.c"
GRID = "src/copy/grid.c"
PLAIN = "src/copy/plain.c"
COST = "src/coll/cost.c"
ORDERS = "src/order/orders.c"
WAITING = "test/explore/waiting.c"
NAPPING = "test/explore/napping.c"
CREW = "test/explore/crew.c"
SHOWING = "test/explore/showing.c"
LITMUS_C = "test/explore/scenes/litmus.c"


def arrival_rings(depth):
    """Makes the rings of arrival.h short: those of the shortest vectors hold `depth` entries."""
    return [(ARRIVAL_H, "depth0 = 32,", "depth0 = %d," % depth), (ARRIVAL_H, "depth1 = 16,", "depth1 = 2,"),
            (ARRIVAL_H, "depth2 = 4,", "depth2 = 2,"), (ARRIVAL_H, "bytes2 = 8 << 10,", "bytes2 = 512,"),
            (ARRIVAL_H, "bytes3 = 512 << 10,", "bytes3 = 512,")]


# Mistakes of what the others are built on.
SET_RELAXED = ("a flag is set by relaxed", FLAG,
               "atomic_store_explicit(&flag->word, value, memory_order_seq_cst)",
               "atomic_store_explicit(&flag->word, value, memory_order_relaxed)")
GATE_OPENS = "        flag_set(&gate->opened, turn);\n"
GATE_TELLS = "        atomic_store_explicit(&gate->trouble, trouble, memory_order_relaxed);\n"
BEACON_LIT = "    flag_set(&mine->lit, ++team->lit[half]);\n"
BEACON_TELLS = "    atomic_store_explicit(&mine->trouble, trouble, memory_order_relaxed);\n"
SET_RELEASES = ("a flag is set by release only", FLAG,
                "atomic_store_explicit(&flag->word, value, memory_order_seq_cst)",
                "atomic_store_explicit(&flag->word, value, memory_order_release)")
