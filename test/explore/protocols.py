# SPDX-License-Identifier: BSD-3-Clause
"""protocols - what explore.py explores: for each protocol the sources, the runs, and the mistakes that have to be found."""
from collections import namedtuple

# scenes: the file in scenes/. sources: compiled for the explorer. beside: compiled as usual. scaled: numbers made small, as (file,
# old, new). runs: (scene, ranks, number...), then "reported" if ranks also tell each other when they entered, and "naive" if all
# interleavings are tried as well; the runs of litmus end with the number of outcomes. mutants: (what, file, old, new).
Protocol = namedtuple("Protocol", "name about scenes runs mutants sources beside scaled", defaults=([], [], []))

SYNC = "src/reach/sync.c"
FLAG = "src/reach/flag.h"
BOX = "src/reach/box.c"
WAIT = "src/reach/wait.c"
WAITS = "src/reach/waits.c"
SHOWN_C = "src/reach/shown.c"
REACH = "src/reach/reach.h"
TAPE_C = "src/coll/node/tape.c"
CHAIN_C = "src/coll/node/chain.c"
ARRIVAL_C = "src/coll/node/arrival.c"
ARRIVAL_H = "src/coll/node/arrival.h"
PULL = "src/coll/node/pull.c"
CICO = "src/coll/node/cico.c"
STAGED = "src/coll/node/staged.c"
MAILBOX_C = "src/coll/node/mailbox.c"
LETTERS = "src/coll/node/letters.c"
OFFERS = "src/coll/node/offers.c"
VECTOR = "src/coll/node/vector.c"
BLOCKS = "src/coll/blocks.c"
REDUCE = "src/coll/reduce.c"
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

# Mistakes of what the others are built on.
SET_RELAXED = ("a flag is set by relaxed", FLAG,
               "atomic_store_explicit(&flag->word, value, memory_order_seq_cst)",
               "atomic_store_explicit(&flag->word, value, memory_order_relaxed)")
SET_RELEASES = ("a flag is set by release only", FLAG,
                "atomic_store_explicit(&flag->word, value, memory_order_seq_cst)",
                "atomic_store_explicit(&flag->word, value, memory_order_release)")
GATE_OPENS = "        flag_set(&gate->opened, turn);\n"
GATE_TELLS = "        atomic_store_explicit(&gate->trouble, trouble, memory_order_relaxed);\n"

PROTOCOLS = [
    Protocol(
        "litmus", "small programs with known outcomes, and against all interleavings", "litmus",
        runs=[("sb_weak", 2, 4), ("sb_strong", 2, 3), ("sb_half", 2, 4), ("sb_fence", 2, 3), ("sb_mixed", 2, 3),
              ("sb_add", 2, 4), ("mp_weak", 2, 4), ("mp_half", 2, 4), ("mp_right", 2, 3), ("mp_fence", 2, 3), ("mp_steps", 3, 8),
              ("lb", 2, 3), ("two_weak", 2, 4), ("two_strong", 2, 3), ("iriw_weak", 4, 16),
              ("iriw_strong", 4, 15), ("iriw_fence", 4, 15),
              ("rwc_fence", 3, 7),
              ("corr", 3, 12), ("counter", 4, 24), ("swap_if", 3, 12), ("swap_if", 4, 32), ("waits", 2, 2),
              ("waits_for_two", 3, 2)],
        mutants=[
            ("a write that does not release", LITMUS_C,
             "store(x, 1, release);\n        store(x, 2, release);",
             "store(x, 1, relaxed);\n        store(x, 2, release);")]),
    Protocol(
        "flag", "a word that ranks wait on, and its sleepers", "flag",
        sources=[WAIT],
        beside=[CREW, NAPPING],
        runs=[("set", 2, 2, "naive"), ("set", 2, 3), ("set", 3, 1), ("add", 2), ("add", 3, "naive"), ("turns", 2, 2)],
        mutants=[
            SET_RELEASES,
            SET_RELAXED,
            ("add is acq_rel only", FLAG,
             "atomic_fetch_add_explicit(&flag->word, 1, memory_order_seq_cst)",
             "atomic_fetch_add_explicit(&flag->word, 1, memory_order_acq_rel)"),
            ("the waker looks at sleepers by acquire only", WAIT,
             "atomic_load_explicit(&flag->sleepers, memory_order_seq_cst)",
             "atomic_load_explicit(&flag->sleepers, memory_order_acquire)"),
            ("the sleeper does not count itself", WAIT,
             "    atomic_fetch_add_explicit(&flag->sleepers, 1, memory_order_seq_cst);\n",
             ""),
            ("the waker looks at sleepers before it sets", FLAG,
             "    atomic_store_explicit(&flag->word, value, memory_order_seq_cst);\n    flag_wake(flag);",
             "    bool any = atomic_load(&flag->sleepers) != 0;\n"
             "    atomic_store_explicit(&flag->word, value, memory_order_seq_cst);\n"
             "    if (any) flag_wake(flag);"),
            ("the sleeper does not compare the word", WAIT,
             "FUTEX_WAIT, old,",
             "FUTEX_WAIT, atomic_load_explicit(&flag->word, memory_order_relaxed),"),
            ("the waiter looks by relaxed", FLAG,
             "atomic_load_explicit(&flag->word, memory_order_acquire)",
             "atomic_load_explicit(&flag->word, memory_order_relaxed)"),
            ("nobody is woken", FLAG,
             "memory_order_seq_cst);\n    flag_wake(flag);\n}\nstatic inline void flag_add",
             "memory_order_seq_cst);\n}\nstatic inline void flag_add")]),
    Protocol(
        "barrier", "halves, posts, trouble, sums and texts with one barrier a call", "barrier",
        sources=[SYNC, WAITS, WAITING],
        beside=[CREW],
        runs=[("posts", 2, 5, 0), ("posts", 2, 3, 1), ("posts", 3, 4, 2), ("posts", 3, 3, 0), ("posts", 3, 3, 5),
              ("posts", 3, 2, 1, "naive"), ("posts", 4, 2, 2), ("straight", 2, 3), ("straight", 3, 2), ("sums", 2, 3),
              ("sums", 3, 2), ("texts", 2, 3), ("texts", 3, 3), ("agree", 3, 3, 3),
              ("posts", 2, 4, 0, 1), ("posts", 3, 3, 0, 1),
              ("posts", 2, 4, 0, "reported"), ("posts", 3, 2, 0, "reported"), ("posts", 4, 3, 2),
              ("posts", 3, 3, 0, 0, 2), ("posts", 3, 2, 1, 1, 2), ("posts", 4, 2, 2, 0, 2), ("posts", 4, 2, 0, 0, 2),
              ("posts", 3, 3, 0, 0, 2, 1), ("posts", 4, 3, 2, 0, 2, 1), ("straight", 3, 2, 0, 0, 2)],
        mutants=[
            ("arrivals are relaxed", SYNC,
             "&gate->arrived, 1, memory_order_acq_rel",
             "&gate->arrived, 1, memory_order_relaxed"),
            ("arrivals only release", SYNC,
             "&gate->arrived, 1, memory_order_acq_rel",
             "&gate->arrived, 1, memory_order_release"),
            SET_RELAXED,
            ("the trouble of a rank is forgotten", SYNC,
             "        if (trouble) atomic_fetch_or_explicit(&gate->told, trouble, memory_order_relaxed);\n",
             ""),
            ("trouble overwrites what others told", SYNC, "atomic_fetch_or_explicit(", "atomic_store_explicit("),
            ("trouble is not cleared", SYNC,
             "        if (trouble) atomic_store_explicit(&gate->told, 0, memory_order_relaxed);\n",
             ""),
            ("only the last rank's trouble goes on", SYNC,
             "        trouble = atomic_load_explicit(&gate->told, memory_order_relaxed);\n        if (trouble) atomic_store",
             "        if (trouble) atomic_store"),
            ("a gate opens before its trouble is there", SYNC, GATE_TELLS + GATE_OPENS, GATE_OPENS + GATE_TELLS),
            ("a rank that has passed gates opens none", SYNC,
             "    for (uint32_t i = team->climbed; i-- > 0;) {",
             "    for (uint32_t i = team->climbed; i-- > 0 && team->climbed == team->rung_count;) {"),
            ("gates that are not new", SYNC, "*gates = team->gates;", "*gates = &team->control->gate;"),
            ("the last rank does not count the others", SYNC,
             "        if (arrived != turn_of(team) * rung->width) return false;",
             "        if (arrived < turn_of(team) * rung->width - 1) return false;"),
            ("posts have one half", REACH,
             "&team->control->posts[(size_t)half * (size_t)team->p + (size_t)rank]",
             "&team->control->posts[(size_t)rank]"),
            ("texts have one half", SYNC, "team->control->advice[team->epoch & 1]", "team->control->advice[0]"),
            ("sums have one turn", SYNC, "team->control->sums[team->sums_count & 1][i]", "team->control->sums[0][i]")]),
    Protocol(
        "box", "rings of two boxes, rooms, and waiting for several sources at a desk", "box",
        sources=[BOX, WAITS, WAITING],
        beside=[CREW],
        scaled=[(REACH, "BOXES = 32,", "BOXES = 2,")],
        runs=[("one_root", 2, 4), ("one_root", 3, 3), ("roots", 2, 4), ("roots", 3, 3), ("rooms", 2, 4), ("rooms", 3, 3),
              ("several", 2, 2, "naive"), ("several", 2, 3), ("several", 3, 1), ("late", 3, 1),
              ("one_root", 3, 3, "reported"), ("roots", 2, 4, "reported"),
              ("several", 3, 1, "reported")],
        mutants=[
            ("a box is filled without waiting", BOX,
             "    wait_emptied(team, box);\n    if (team->waits.on) box->entered",
             "    if (team->waits.on) box->entered"),
            ("a box is published by relaxed", BOX,
             "held(op, part), memory_order_seq_cst);\n    flag_add",
             "held(op, part), memory_order_relaxed);\n    flag_add"),
            ("a box is published by release only", BOX,
             "held(op, part), memory_order_seq_cst);\n    flag_add",
             "held(op, part), memory_order_release);\n    flag_add"),
            ("a box that is filled wakes nobody", BOX, "    flag_add(&box->rings);\n", ""),
            ("readers are counted by relaxed", BOX, "&box->taken, 1, memory_order_acq_rel", "&box->taken, 1, memory_order_relaxed"),
            ("the first reader empties the box", BOX, "+ 1 != readers", "+ 1 != 1"),
            ("a room is given before its box is empty", BOX, "if (before && before != box) wait_emptied(team, before);", ""),
            ("the desk is written by release only", BOX,
             "number, memory_order_seq_cst);\n    return",
             "number, memory_order_release);\n    return"),
            ("the desk is read by acquire only", BOX,
             "desk_of(team, reader), memory_order_seq_cst",
             "desk_of(team, reader), memory_order_acquire"),
            ("sources are looked at by acquire only", BOX,
             "->holds, memory_order_seq_cst) ==", "->holds, memory_order_acquire) =="),
            ("nobody rings at the desk", BOX, "    if (number == 0) return;\n", "    return;\n"),
            ("rings are read after the box", BOX,
             "        uint32_t rings = flag_look(&box->rings);\n        if (box_ready(team, source, op, part)) {",
             "        bool ready = box_ready(team, source, op, part);\n"
             "        uint32_t rings = flag_look(&box->rings);\n"
             "        if (ready) {")]),
    Protocol(
        "mailbox", "whole calls through boxes, rings of two", "mailbox",
        sources=[MAILBOX_C, LETTERS, OFFERS, VECTOR, BOX, WAITS, WAITING, BLOCKS, LAYOUT, GRID, PLAIN],
        beside=[CREW, SHOWING, COST],
        scaled=[(REACH, "BOXES = 32,", "BOXES = 2,")],
        runs=[("bcast", 2, 4, 1), ("bcast", 2, 2, 160), ("bcast", 2, 1, 160, 1), ("bcast", 3, 3, 1), ("gather", 2, 3, 1),
              ("gather", 2, 2, 160), ("gather", 2, 1, 160, 1), ("gather", 3, 1, 1), ("gather", 3, 1, 160, "naive"),
              ("scatter", 2, 3, 1),
              ("scatter", 3, 1, 160), ("ring", 2, 3, 1), ("ring", 2, 1, 160), ("ring", 3, 1, 1, "naive"), ("late", 3, 1, 160),
              ("gather", 3, 1, 160, "reported"), ("ring", 3, 1, 160)],
        mutants=[
            ("a box is acknowledged before it is read", LETTERS,
             "    int index = (int)out - letter->first;\n",
             "    int index = (int)out - letter->first;\n    box_ack(team, box);\n"),
            ("no second look after box_settle", MAILBOX_C,
             "        late = take_ready(team, r, part, pending);\n        if (late == pending) box_wait_settled",
             "        box_wait_settled"),
            ("a sender that waits does not ring", MAILBOX_C,
             "team->me != call->root) box_ring(team, call->root);",
             "team->me != call->root) return;"),
            ("a sender leaves while its buffer is read", LETTERS,
             "    if (s->straight) box_wait_free(team, s->op, s->part - 1);\n",
             "    (void)team, (void)s;\n"),
            ("a box is filled without waiting", BOX,
             "    wait_emptied(team, box);\n    if (team->waits.on) box->entered",
             "    if (team->waits.on) box->entered")]),
    Protocol(
        "exchange", "alltoalls straight from buffer to buffer, through the stage, and turned away", "exchange",
        sources=[SYNC, WAITS, WAITING, PULL, CICO, STAGED, BLOCKS],
        beside=[CREW, SHOWING, ORDERS, PLAIN],
        runs=[("rows", 2, 2), ("rows", 3, 1), ("columns", 2, 2), ("staged", 2, 4), ("staged", 3, 3), ("turned", 2, 3),
              ("turned", 3, 2), ("rows", 2, 2, "reported")],
        mutants=[
            ("no barrier behind the copies", PULL, "written. */\n    sync_all(team, 0);\n", "written. */\n"),
            ("a rank turns away for its own trouble only", PULL, "if (trouble) return turn_away", "if (mine) return turn_away"),
            ("the stage has one half", REACH, "team->stage + (size_t)half * (size_t)team->p * team->figures.slot", "team->stage"),
            ("no barrier behind the stage's copies", STAGED, "    if (posts >= 0) sync_all(team, 0);", "    (void)posts;"),
            SET_RELAXED]),
    Protocol(
        "vector", "alltoallvs by cards: staged, in rounds, in place", "vector",
        sources=[SYNC, WAITS, WAITING, PULL, CICO, VECTOR, OFFERS, BLOCKS, LAYOUT, GRID, PLAIN],
        beside=[CREW, SHOWING, COST, ORDERS],
        runs=[("staged", 2, 4, 1), ("staged", 3, 2, 1), ("staged", 2, 2, 16), ("rows", 2, 2, 1), ("rows", 3, 1, 2),
              ("rows", 2, 2, 16, 1), ("rows", 2, 2, 16, 2), ("columns", 2, 3, 2),
              ("columns", 2, 3, 2, 1), ("columns", 3, 2, 1)],
        mutants=[
            ("the cards have one half", REACH,
             "((size_t)half * (size_t)team->p + (size_t)rank) * CARD_BYTES",
             "((size_t)rank) * CARD_BYTES"),
            ("no barrier behind what is read in place", VECTOR, "    else if (trouble & IN_PLACE) sync_all(team, 0);\n", ""),
            ("a rank goes on in rounds for its own blocks only", VECTOR,
             "if (trouble & MORE) take_more(&x, trouble);", "if (mine & MORE) take_more(&x, mine);"),
            ("a part is put where the part before is read", VECTOR, "        x->half = team->epoch & 1;\n", "")]),
    Protocol(
        "reduce", "reductions through the stage, in rounds", "reduce",
        sources=[SYNC, WAITS, WAITING, REDUCE],
        beside=[CREW],
        runs=[("alone", 2, 2, 2, 0), ("alone", 3, 2, 2, 0), ("alone", 3, 3, 1, 2), ("scan", 3, 2, 2, 0), ("together", 2, 2, 2, 0),
              ("together", 3, 1, 1, 0), ("together", 2, 2, 1, 1), ("alone", 2, 2, 1, 0, "reported")],
        mutants=[
            ("the stage has one half", REACH,
             "team->stage + (size_t)half * (size_t)team->p * team->figures.slot",
             "team->stage"),
            ("the last rank releases before it combines", REDUCE,
             "    if (!(sync_trouble(team) & LEAVE))\n",
             "    trouble = sync_release(team);\n    team->epoch--;\n    if (!(trouble & LEAVE))\n"),
            ("no barrier behind the shares", REDUCE, "    sync_all(team, 0);\n    return trouble;", "    return trouble;"),
            ("no barrier behind the results", REDUCE, "        if (!alone) sync_all(team, 0);\n", ""),
            ("arrivals only release", SYNC,
             "&gate->arrived, 1, memory_order_acq_rel",
             "&gate->arrived, 1, memory_order_release")]),
    Protocol(
        "tape", "broadcasts, a tape of four slots", "tape",
        sources=[TAPE_C, WAITS, WAITING, BLOCKS],
        beside=[CREW, LAYOUT],
        scaled=[(TAPE_C, "slots = 64,", "slots = 4,"), (TAPE_C, "long_bytes = 8 << 10", "long_bytes = 256")],
        runs=[("one_root", 2, 6), ("roots", 2, 7), ("roots", 2, 6, "reported"), ("one_root", 2, 6, 60)],
        mutants=[
            ("a tape without bound", TAPE_C, "if ((int32_t)(number - slots - mine->up) > 0) wait_free(team, number);", ""),
            ("the bound is one slot too far", TAPE_C,
             "wait_reader(team, r, number - slots)",
             "wait_reader(team, r, number - slots - 1)"),
            ("a rank tells that it has read what it waits for", TAPE_C,
             "    if (!flag_past(&slot->number, number)) {\n        tape_tell(team, mine, number - 1);\n",
             "    if (!flag_past(&slot->number, number)) {\n        tape_tell(team, mine, number);\n"),
            ("all long blocks lie in one place", TAPE_C, "number % slots * long_bytes", "0 * number"),
            SET_RELAXED,
            ("a slot is published before it is written", TAPE_C,
             "    slot->bytes = 0;\n",
             "    flag_set(&slot->number, number);\n    slot->bytes = 0;\n"),
            ("a count is looked at by relaxed", FLAG,
             "atomic_load_explicit(&flag->word, memory_order_acquire)",
             "atomic_load_explicit(&flag->word, memory_order_relaxed)")]),
    Protocol(
        "short tape", "the same, two slots", "tape",
        sources=[TAPE_C, WAITS, WAITING, BLOCKS],
        beside=[CREW, LAYOUT],
        scaled=[(TAPE_C, "slots = 64,", "slots = 2,"), (TAPE_C, "long_bytes = 8 << 10", "long_bytes = 256")],
        runs=[("one_root", 2, 3, "naive"), ("one_root", 3, 3), ("roots", 3, 3), ("roots", 3, 3, 60)],
        mutants=[
            ("the root waits for one reader only", TAPE_C,
             "for (int r = 0; r < team->p; r++) {\n        if (r == team->me)",
             "for (int r = 0; r < 2; r++) {\n        if (r == team->me)")]),
    Protocol(
        "long tape", "the same, eight slots: positions are told at every second call", "tape",
        sources=[TAPE_C, WAITS, WAITING, BLOCKS],
        beside=[CREW, LAYOUT],
        scaled=[(TAPE_C, "slots = 64,", "slots = 8,"), (TAPE_C, "long_bytes = 8 << 10", "long_bytes = 256")],
        runs=[("roots", 2, 10)],
        mutants=[
            ("a reader never tells its position", TAPE_C, "    flag_set(&mine->told, number);\n", "")]),
    Protocol(
        "chain", "scans, rings of four lines", "chain",
        sources=[CHAIN_C, WAITS, WAITING],
        beside=[CREW],
        scaled=[(CHAIN_C, "ring_lines = 128, most_lines = 17", "ring_lines = 4, most_lines = 2")],
        runs=[("scan", 2, 3, 1, "naive"), ("scan", 2, 5, 1), ("scan", 2, 6, 0), ("exscan", 3, 3, 1), ("scan", 3, 3, 2),
              ("scan", 2, 5, 1, "reported")],
        mutants=[
            ("a ring without bound", CHAIN_C, "if (begin + lines - end->theirs > ring_lines) {", "if (false) {"),
            ("the bound is one line too far", CHAIN_C,
             "flag_reach(team, &ring->taken, begin + lines - ring_lines)",
             "flag_reach(team, &ring->taken, begin + lines - ring_lines - 1)"),
            ("a record crosses the end of the ring", CHAIN_C, "return left < lines ? end + left : end;", "return (void)left, end;"),
            ("a record is given back before it is read", CHAIN_C,
             "        struct chain_record *before = wait_for(team, lines);\n",
             "        struct chain_record *before = wait_for(team, lines);\n"
             "        pass_by(team, lines);\n"
             "        ring_of(team, team->me)->in.mine -= lines;\n"),
            ("a record is published before it is combined", CHAIN_C,
             "    char *sum = last ? own : record->sum;\n",
             "    char *sum = last ? own : record->sum;\n"
             "    if (!last) hand_on(team, record, lines), ring_of(team, team->me)->out.mine -= lines;\n"),
            SET_RELAXED,
            ("the reader never tells its position", CHAIN_C, "    flag_set(&ring->taken, end->told);\n", "    (void)ring;\n")]),
    Protocol(
        "short chain", "the same, rings of two lines", "chain",
        sources=[CHAIN_C, WAITS, WAITING],
        beside=[CREW],
        scaled=[(CHAIN_C, "ring_lines = 128, most_lines = 17", "ring_lines = 2, most_lines = 2")],
        runs=[("scan", 3, 3, 0), ("exscan", 3, 3, 0), ("scan", 3, 2, 1)],
        mutants=[]),
    Protocol(
        "arrival", "reductions by the order of arrival, rings of two entries", "arrival",
        sources=[ARRIVAL_C, WAITS, WAITING],
        beside=[CREW],
        scaled=[(ARRIVAL_H, "depth0 = 32,", "depth0 = 2,"), (ARRIVAL_H, "depth1 = 16,", "depth1 = 2,"),
                (ARRIVAL_H, "depth2 = 4,", "depth2 = 2,"), (ARRIVAL_H, "bytes2 = 8 << 10,", "bytes2 = 512,"),
                (ARRIVAL_H, "bytes3 = 512 << 10,", "bytes3 = 512,")],
        runs=[("tree", 2, 5), ("tree_roots", 2, 5), ("tree", 3, 3), ("pool", 2, 5), ("tree_roots", 2, 4, "reported")],
        mutants=[]),
    Protocol(
        "short arrival", "the same, rings of one entry", "arrival",
        sources=[ARRIVAL_C, WAITS, WAITING],
        beside=[CREW],
        scaled=[(ARRIVAL_H, "depth0 = 32,", "depth0 = 1,"), (ARRIVAL_H, "depth1 = 16,", "depth1 = 2,"),
                (ARRIVAL_H, "depth2 = 4,", "depth2 = 2,"), (ARRIVAL_H, "bytes2 = 8 << 10,", "bytes2 = 512,"),
                (ARRIVAL_H, "bytes3 = 512 << 10,", "bytes3 = 512,")],
        runs=[("tree", 2, 4, "naive"), ("tree", 3, 2, "naive"), ("pool", 3, 1, "naive"), ("tree", 3, 3),
              ("tree_roots", 3, 3), ("tree", 4, 2),
              ("pool", 2, 4),
              ("pool", 3, 2)],
        mutants=[
            ("a vector is deposited by relaxed", ARRIVAL_C,
             "&entry->flag.word, &seen, side,\n                                                   memory_order_acq_rel",
             "&entry->flag.word, &seen, side,\n                                                   memory_order_relaxed"),
            ("a rank does not wait until its side's vector is fetched", ARRIVAL_C,
             "    while (seen == side) seen = flag_wait(team, &entry->flag, side);\n",
             ""),
            ("an entry is released while its vector is carried", ARRIVAL_C,
             "        load_hold(load, entry, theirs, 0);\n        return;",
             "        load_hold(load, entry, theirs, 0);\n        flag_set(&entry->flag, 0);\n        return;"),
            ("a deposit does not look whether the partner came meanwhile", ARRIVAL_C,
             "    return atomic_compare_exchange_strong_explicit(&entry->flag.word, &seen, side,\n"
             "                                                   memory_order_acq_rel, memory_order_acquire);",
             "    return flag_set(&entry->flag, side), true;"),
            ("the root does not empty its box", ARRIVAL_C,
             "    if (!top) atomic_store_explicit(&box->flag.word, 0, memory_order_release);\n",
             ""),
            SET_RELAXED,
            ("the pool takes and leaves by relaxed", ARRIVAL_C,
             "&hub->flag.word, &seen, wanted,\n                                                     memory_order_acq_rel",
             "&hub->flag.word, &seen, wanted,\n                                                     memory_order_relaxed"),
            ("the pool does not wait for the round", ARRIVAL_C,
             "    while ((seen ^ round) >> 16 != 0) seen = flag_wait(team, &hub->flag, seen);\n",
             ""),
            ("the pool forgets what a vector holds", ARRIVAL_C, "held += theirs->held;", "held++;"),
            ("the next round begins while the result is carried", ARRIVAL_C,
             "    /* No rank writes there before the next round. */\n",
             "    flag_set(&hub->flag, round + (1u << 16));\n")]),
    Protocol(
        "shown", "buffers that have not moved, copied into the heap's file and back", "shown",
        sources=[SHOWN_C, SYNC, WAITS, WAITING, PULL, BLOCKS],
        beside=[CREW, ORDERS, PLAIN],
        runs=[("rows", 2, 3), ("columns", 2, 3), ("rows", 3, 2), ("columns", 3, 2)],
        mutants=[
            ("the ends of a buffer are not copied", SHOWN_C, "    if (!(how & SHOW_ASK)) copy_ends(", "    if (false) copy_ends("),
            ("what peers wrote is taken back before the barrier", PULL,
             "    sync_all(team, 0);\n    take_back(team, call, half);",
             "    take_back(team, call, half);\n    sync_all(team, 0);"),
            ("nothing is taken back", PULL,
             "    sync_all(team, 0);\n    take_back(team, call, half);", "    sync_all(team, 0);"),
            ("whole pages are copied", SHOWN_C,
             "        if (from < offset) from = offset;\n        if (to > end) to = end;\n", "")]),
]


def asleep(name, runs, mutants=()):
    """A protocol with the wait loop itself and its futexes, in place of what flag.h promises."""
    awake = next(protocol for protocol in PROTOCOLS if protocol.name == name)
    return awake._replace(name=name + " asleep", about="the same with the wait loop and its futexes", runs=runs,
                          sources=[WAIT if source == WAITING else source for source in awake.sources],
                          beside=awake.beside + [NAPPING], mutants=list(mutants))


PROTOCOLS += [
    asleep("barrier", [("posts", 2, 2, 0), ("posts", 2, 3, 2), ("posts", 3, 1, 2), ("straight", 2, 1)], [SET_RELEASES]),
    asleep("box", [("one_root", 2, 3), ("roots", 2, 3), ("late", 3, 1)], [SET_RELEASES]),
    asleep("short tape", [("one_root", 2, 3), ("roots", 2, 3)], [SET_RELEASES]),
    asleep("short chain", [("scan", 2, 3), ("scan", 2, 2, 1)], [SET_RELEASES]),
    asleep("short arrival", [("tree", 2, 3), ("tree", 3, 1), ("pool", 2, 2), ("pool", 3, 1)], [
        SET_RELEASES,
        ("an entry is released without waking", ARRIVAL_H, "    if (load->held) flag_set(&load->held->flag, load->release);\n",
         "    if (load->held) atomic_store(&load->held->flag.word, load->release);\n")]),
]
