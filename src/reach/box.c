/* SPDX-License-Identifier: BSD-3-Clause */
/* box - a ring of boxes per rank in the team's shared memory, for calls that need no barrier.
 * reach.h says how they are used.
 *
 * The boxes that all ranks fill in one call are adjacent, so that short calls touch few pages. A
 * box has an odd number of cache lines, so that boxes fall into different cache sets. Data too long
 * for a box are in one of its owner's rooms. `holds` is never reset: its 64 bits hold op and the
 * low bits of the part. These are enough, because a reader that waits for a part has acknowledged
 * the part BOXES before, so the box holds either that part or the wanted one. A reader that waits
 * for several sources sleeps at the box of one, whose number it writes on its desk. A sender that
 * needs the reader rings there. So one late source does not delay the others. */
#include "reach/reach.h"

#include <stdlib.h>

enum { line = 64, part_bits = 8 };
_Static_assert((1 << part_bits) > BOXES && ((1 << part_bits) % BOXES) == 0,
               "parts that share a box differ");

/* All rooms of a rank together are as large as its stage, both halves. A room has an odd number of
 * cache lines, so that rooms fall into different cache sets. */
static size_t room_bytes(int p, size_t slot) {
    size_t bytes = 2 * slot / BOXES;
    size_t least = 16 * (size_t)p + 512; /* a table of p blocks and some more */
    return ((bytes > least ? bytes : least) / line | 1) * line;
}

static size_t boxes_bytes(int p) { return (size_t)p * BOXES * sizeof(struct box); }

size_t boxes_size(int p, size_t slot) {
    return boxes_bytes(p) + (size_t)p * (line + BOXES * room_bytes(p, slot));
}

void boxes_attach(struct team *team, char *memory, size_t slot) {
    team->boxes = memory;
    team->figures.box_room = room_bytes(team->p, slot);
}

static inline uint32_t place(uint64_t op, uint32_t part) { return (uint32_t)(op + part) % BOXES; }
static inline uint64_t held(uint64_t op, uint32_t part) {
    return op << part_bits | (part & ((1 << part_bits) - 1));
}

HOT struct box *box_of(const struct team *team, int rank, uint64_t op, uint32_t part) {
    return (struct box *)(void *)team->boxes + (size_t)place(op, part) * (size_t)team->p +
           (size_t)rank;
}

HOT char *box_room_of(const struct team *team, int rank, uint32_t room) {
    char *rooms = team->boxes + boxes_bytes(team->p) + (size_t)team->p * line;
    return rooms + ((size_t)rank * BOXES + room) * team->figures.box_room;
}

/* The number, from 1, of the box that the rank waits at; 0: none. The rank may have stopped waiting
 * meanwhile; a ring is then harmless. */
static inline _Atomic uint32_t *desk_of(const struct team *team, int rank) {
    return (_Atomic uint32_t *)(void *)(team->boxes + boxes_bytes(team->p) + (size_t)rank * line);
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

HOT void box_publish(struct box *box, uint64_t op, uint32_t part, uint32_t readers) {
    charge_settle();
    box->readers = readers;
    box->filling++;
    if (readers > 1) atomic_store_explicit(&box->taken, 0, memory_order_relaxed);
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
    atomic_store_explicit(desk_of(team, team->me), number, memory_order_seq_cst);
    return flag_look(&box_of(team, source, op, part)->rings);
}

void box_wait_settled(struct team *team, int source, uint64_t op, uint32_t part, uint32_t rings) {
    struct box *box = box_of(team, source, op, part);
    flag_wait(team, &box->rings, rings);
    atomic_store_explicit(desk_of(team, team->me), 0, memory_order_relaxed);
    if (box_ready(team, source, op, part)) waits_for(team, source, box->entered);
}

void box_ring(const struct team *team, int reader) {
    uint32_t number = atomic_load_explicit(desk_of(team, reader), memory_order_seq_cst);
    if (number == 0) return;
    flag_add(&box_of(team, (int)((number - 1) / BOXES), (number - 1) % BOXES, 0)->rings);
}

HOT void box_ack(const struct team *team, struct box *box) {
    charge_settle();
    uint32_t readers = box->readers;
    if (readers > 1 &&
        atomic_fetch_add_explicit(&box->taken, 1, memory_order_acq_rel) + 1 != readers)
        return;
    if (team->waits.on) box->last_reader = team->me, box->last_entered = team->waits.entered;
    /* Only the last reader comes here, so the owner is woken once. */
    flag_set(&box->emptied, box->filling);
}

uint32_t *team_turns(struct team *team, uint32_t count) {
    if (count <= team->turns_count) return team->turns;
    uint32_t *turns = realloc(team->turns, count * sizeof *turns);
    if (!turns) return NULL;
    team->turns = turns;
    team->turns_count = count;
    return turns;
}
