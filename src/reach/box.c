/* SPDX-License-Identifier: BSD-3-Clause */
/* box - a ring of boxes per rank in the team's shared memory, for calls that need no barrier.
 * reach.h says how they are used.
 *
 * A rank's boxes are adjacent, so that who hears from few ranks maps few pages: with the boxes of a
 * call side by side, and 64 ranks, six neighbours mapped the boxes of all, 1.2 MiB more for each
 * rank. A box and an outbox have an odd number of cache lines, so that boxes fall into different
 * cache sets. Data too long for a box are in one of its owner's rooms. `holds` is never reset: its
 * 64 bits hold op and the low bits of the part. These are enough, because a reader that waits for a
 * part has acknowledged the part BOXES before, so the box holds either that part or the wanted one.
 * A reader that waits for several sources sleeps at the box of one, whose number it writes on its
 * desk. A sender that needs the reader rings there. So one late source does not delay the others.
 *
 * Readers count in `taken`, a line that each of them has to get from the one before. Where all
 * ranks read and the barrier has several gates (sync.c), they count in groups first, which have
 * lines of their own: a scatter of 8 bytes among 96 ranks, each with a core of its own, takes 3.9
 * us instead of 11, simulated (docs/cores.md).
 */
#include "reach/reach.h"

#include <stdlib.h>

enum { line = 64, part_bits = 8, least_group = 8, most_groups = 16 };
_Static_assert((1 << part_bits) > BOXES && ((1 << part_bits) % BOXES) == 0,
               "parts that share a box differ");

/* All rooms of a rank together are as large as its stage, both halves. A room has an odd number of
 * cache lines, so that rooms fall into different cache sets. */
static size_t room_bytes(int p, size_t slot) {
    size_t bytes = 2 * slot / BOXES;
    size_t least = 16 * (size_t)p + 512; /* a table of p blocks and some more */
    return ((bytes > least ? bytes : least) / line | 1) * line;
}

static size_t outboxes_bytes(int p) { return (size_t)p * sizeof(struct outbox); }
static size_t rooms_bytes(int p, size_t slot) { return (size_t)p * BOXES * room_bytes(p, slot); }

/* Ranks g * group_width .. are a group. */
static uint32_t group_width(int p) {
    uint32_t least = ((uint32_t)p + most_groups - 1) / most_groups;
    return least > least_group ? least : least_group;
}
static uint32_t groups_of(int p) { return ((uint32_t)p + group_width(p) - 1) / group_width(p); }

size_t boxes_size(int p, size_t slot) {
    return outboxes_bytes(p) + rooms_bytes(p, slot) + (size_t)p * BOXES * groups_of(p) * line;
}

void boxes_attach(struct team *team, char *memory, size_t slot) {
    team->outboxes = (struct outbox *)(void *)memory;
    team->rooms = memory + outboxes_bytes(team->p);
    team->group_counts = team->rooms + rooms_bytes(team->p, slot);
    team->figures.box_room = room_bytes(team->p, slot);
}

static inline uint32_t place(uint64_t op, uint32_t part) { return (uint32_t)(op + part) % BOXES; }
static inline uint64_t held(uint64_t op, uint32_t part) {
    return op << part_bits | (part & ((1 << part_bits) - 1));
}

HOT struct box *box_of(const struct team *team, int rank, uint64_t op, uint32_t part) {
    return &team->outboxes[rank].boxes[place(op, part)];
}

HOT char *box_room_of(const struct team *team, int rank, uint32_t room) {
    return team->rooms + ((size_t)rank * BOXES + room) * team->figures.box_room;
}

/* Waits until all readers have acknowledged my box. */
HOT static void wait_emptied(struct team *team, struct box *box) {
    if (flag_reach(team, &box->emptied, box->filling))
        waits_for(team, box->last_reader, box->last_entered);
}

HOT struct box *box_wait_free(struct team *team, uint64_t op, uint32_t part) {
    struct box *box = box_of(team, team->me, op, part);
    wait_emptied(team, box);
    if (team->waits.on) box->entered = team->waits.entered;
    return box;
}

HOT char *box_wait_room(struct team *team, struct box *box, uint32_t room) {
    struct box *before = team->room_users[room];
    if (before && before != box) wait_emptied(team, before);
    team->room_users[room] = box;
    return box_room_of(team, team->me, room);
}

/* Ranks of its group but for itself. */
static uint32_t others_in_group(const struct team *team, int rank) {
    uint32_t width = group_width(team->p), from = (uint32_t)rank / width * width,
             left = (uint32_t)team->p - from;
    return (left < width ? left : width) - 1;
}

HOT void box_publish(const struct team *team, struct box *box, uint64_t op, uint32_t part,
                     uint32_t readers) {
    charge_settle();
    box->readers = readers;
    box->grouped = false;
    if (readers == ALL_OTHERS) {
        box->readers = (uint32_t)team->p - 1;
        box->grouped = team->rung_count > 1;
        /* Of my group only the others, if there are any. */
        if (box->grouped)
            box->readers = groups_of(team->p) - (others_in_group(team, team->me) == 0);
    }
    box->filling++;
    if (box->readers > 1) atomic_store_explicit(&box->taken, 0, memory_order_relaxed);
    /* seq_cst: must be visible before box_ring reads the readers' desks. */
    atomic_store_explicit(&box->holds, held(op, part), memory_order_seq_cst);
    flag_add(&box->rings);
}

HOT bool box_ready(const struct team *team, int source, uint64_t op, uint32_t part) {
    return atomic_load_explicit(&box_of(team, source, op, part)->holds, memory_order_seq_cst) ==
           held(op, part);
}

HOT void box_wait_for(struct team *team, int source, uint64_t op, uint32_t part) {
    struct box *box = box_of(team, source, op, part);
    for (bool waited = false;; waited = true) {
        uint32_t rings = flag_look(&box->rings);
        if (box_ready(team, source, op, part)) {
            if (waited) waits_for(team, source, box->entered);
            return;
        }
        flag_wait(team, &box->rings, rings);
    }
}

uint32_t box_settle(struct team *team, int source, uint64_t op, uint32_t part) {
    uint32_t number = (uint32_t)source * BOXES + place(op, part) + 1;
    /* seq_cst: must be visible before I look at all sources again. */
    atomic_store_explicit(&team->outboxes[team->me].desk, number, memory_order_seq_cst);
    return flag_look(&box_of(team, source, op, part)->rings);
}

void box_wait_settled(struct team *team, int source, uint64_t op, uint32_t part, uint32_t rings) {
    struct box *box = box_of(team, source, op, part);
    flag_wait(team, &box->rings, rings);
    atomic_store_explicit(&team->outboxes[team->me].desk, 0, memory_order_relaxed);
    if (box_ready(team, source, op, part)) waits_for(team, source, box->entered);
}

void box_ring(const struct team *team, int reader) {
    uint32_t number = atomic_load_explicit(&team->outboxes[reader].desk, memory_order_seq_cst);
    if (number == 0) return;
    flag_add(&box_of(team, (int)((number - 1) / BOXES), (number - 1) % BOXES, 0)->rings);
}

static bool is_last_of(_Atomic uint32_t *count, uint32_t readers) {
    return readers == 1 || atomic_fetch_add_explicit(count, 1, memory_order_acq_rel) + 1 == readers;
}

static bool is_last_of_group(const struct team *team, const struct box *box) {
    size_t at = (size_t)((const char *)box - (const char *)team->outboxes);
    uint32_t owner = (uint32_t)(at / sizeof(struct outbox)), width = group_width(team->p),
             group = (uint32_t)team->me / width, readers = others_in_group(team, team->me) + 1;
    size_t number = owner * BOXES + (size_t)(box - team->outboxes[owner].boxes);
    _Atomic uint32_t *count =
        (_Atomic uint32_t *)(void *)(team->group_counts +
                                     (number * groups_of(team->p) + group) * line);
    if (!is_last_of(count, readers - (owner / width == group))) return false;
    atomic_store_explicit(count, 0, memory_order_relaxed);
    return true;
}

HOT bool box_ack(const struct team *team, struct box *box) {
    charge_settle();
    if (box->grouped && !is_last_of_group(team, box)) return false;
    if (!is_last_of(&box->taken, box->readers)) return false;
    if (team->waits.on) box->last_reader = team->me, box->last_entered = team->waits.entered;
    /* Only the last reader comes here, so the owner is woken once. */
    flag_set_quietly(&box->emptied, box->filling);
    return true;
}

uint32_t *team_turns(struct team *team, uint32_t count) {
    if (count <= team->turns_count) return team->turns;
    uint32_t *turns = realloc(team->turns, count * sizeof *turns);
    if (!turns) return NULL;
    team->turns = turns;
    team->turns_count = count;
    return turns;
}
