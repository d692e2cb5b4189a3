/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_tape - bcast of short blocks, and where each of many ranks has a processor of longer
 * ones, too: the team has one ring of slots, the tape. All ranks number these calls alike; the root
 * of call k writes its block into slot k % slots, and all others read it there. Ranks do not wait
 * for each other, except that a root waits for a slot which some rank may still have to read. For
 * this each rank publishes its position every quarter of the tape, and before it waits.
 * Source  eager messages, as every MPI library has them, but written once; `mailbox` without what
 *         long blocks need.
 * Cost    per rank one visit per call; for the root one look at all ranks per quarter of the tape,
 *         and one context switch per tape.
 * Wins    if broadcasts of a few bytes follow each other. With many processors, since readers write
 *         nothing in common: a counter of readers, as a box has it, is handed from core to core
 *         (docs/cores.md). */
#include "coll/coll.h"

#include <stddef.h>

extern const struct algorithm_code algorithm_tape;

/* 64 slots, so that a context switch costs little per call. Not more: on oversubscribed nodes ranks
 * take turns, and a turn that is too long makes the waiting ranks sleep (wait.c takes it for other
 * programs). */
enum { slots = 64, line = 64, slot_bytes = 3 * line };
/* What a slot cannot hold lies behind the slots. */
enum { long_bytes = 8 << 10 };
static const uint32_t tape_lost = UINT32_MAX;

struct tape_slot {
    _Alignas(line) struct flag number; /* of the call whose block it holds */
    double entered;                    /* when the root entered that call */
    uint32_t bytes;                    /* of the block; tape_lost: the root cannot read it */
    /* The third line is touched by blocks of more than 108 bytes only. */
    char block[slot_bytes - 20];
};
struct tape_reader {
    _Alignas(line) struct flag told; /* the last call that this rank has finished, as published */
    /* When the rank entered that call, or a later one; see waits.c. */
    _Atomic double entered;
    _Alignas(line) uint32_t calls; /* private to the rank, as the next two: calls so far */
    uint32_t said;                 /* copy of `told` */
    uint32_t up;                   /* a call that all ranks have finished, as last seen */
};
_Static_assert(sizeof(struct tape_slot) == slot_bytes, "no gaps");

static inline struct tape_slot *slot_of(const struct team *team, uint32_t number) {
    return (struct tape_slot *)(void *)team->shared[ALGORITHM_tape] + number % slots;
}
enum { tape_bytes = slots * (slot_bytes + long_bytes) };
static inline struct tape_reader *reader_of(const struct team *team, int rank) {
    return (struct tape_reader *)(void *)(team->shared[ALGORITHM_tape] + tape_bytes) + rank;
}

enum { most_bytes = sizeof((struct tape_slot *)0)->block };
/* Where the slot's block lies, for one copy. */
static inline char *block_in(const struct team *team, struct tape_slot *slot, uint32_t number) {
    if (slot->bytes <= most_bytes) return slot->block;
    charge_copy(1, slot->bytes);
    return team->shared[ALGORITHM_tape] + slots * slot_bytes + number % slots * long_bytes;
}

static bool tape_can(const struct figures *f, const struct calls *calls,
                     const struct arguments *arguments) {
    (void)arguments;
    return calls->largest.bytes <= (are_spread(f) ? long_bytes : most_bytes);
}

HOT static void tape_tell(struct team *team, struct tape_reader *mine, uint32_t number) {
    if (mine->said == number) return;
    /* The root of that call waited for this. Else a rank that is no root for 2^31 calls would take
     * `up` for ahead. */
    if ((int32_t)(number - slots - mine->up) > 0) mine->up = number - slots;
    if (team->waits.on)
        atomic_store_explicit(&mine->entered, team->waits.entered, memory_order_relaxed);
    mine->said = number;
    flag_set(&mine->told, number);
}

/* ---- the root ---- */

/* Waits until this rank has finished call `least`; returns the last call that it has finished. */
static uint32_t wait_reader(struct team *team, int rank, uint32_t least) {
    struct tape_reader *reader = reader_of(team, rank);
    if (!flag_past(&reader->told, least)) {
        struct tape_reader *mine = reader_of(team, team->me);
        tape_tell(team, mine, mine->calls - 1);
        if (flag_reach(team, &reader->told, least))
            waits_for(team, rank, atomic_load_explicit(&reader->entered, memory_order_relaxed));
    }
    return flag_look(&reader->told);
}

/* Waits until all ranks have read the slot of this call. */
static void wait_free(struct team *team, uint32_t number) {
    uint32_t through = number - 1;
    for (int r = 0; r < team->p; r++) {
        if (r == team->me) continue;
        uint32_t theirs = wait_reader(team, r, number - slots);
        if ((int32_t)(theirs - through) < 0) through = theirs;
    }
    reader_of(team, team->me)->up = through;
}

HOT static void tape_put(struct team *team, const struct call *call, struct tape_reader *mine) {
    uint32_t number = mine->calls;
    struct tape_slot *slot = slot_of(team, number);
    if ((int32_t)(number - slots - mine->up) > 0) wait_free(team, number);
    slot->bytes = tape_lost;
    if (!call->trouble) {
        struct block block = block_of(call->sends, 0);
        slot->bytes = (uint32_t)block_bytes(&block);
        char *to = block_in(team, slot, number);
        if (block.layout->run) memcpy(to, block.at, slot->bytes);
        else layout_pack(to, block.at, block.layout, block.elements);
    }
    if (team->waits.on) slot->entered = team->waits.entered;
    flag_set(&slot->number, number);
}

/* ---- the others ---- */

/* False: the block is lost. */
HOT static bool get(struct team *team, const struct call *call, struct tape_reader *mine) {
    uint32_t number = mine->calls;
    struct tape_slot *slot = slot_of(team, number);
    if (!flag_past(&slot->number, number)) {
        tape_tell(team, mine, number - 1);
        if (flag_reach(team, &slot->number, number)) waits_for(team, call->root, slot->entered);
    }
    if (slot->bytes == tape_lost) return false;
    if (call->trouble || slot->bytes == 0) return true;
    struct block block = block_of(call->recvs, 0);
    size_t most = block_bytes(&block), bytes = slot->bytes < most ? slot->bytes : most;
    fit_block(&block, slot->bytes);
    const char *from = block_in(team, slot, number);
    if (block.layout->run) memcpy(block.at, from, bytes);
    else layout_unpack(block.at, block.layout, block.elements, from, bytes);
    return true;
}

/* ---- the call ---- */

static double tape_cost(const struct figures *f, const struct shape *shape,
                        const struct arguments *arguments) {
    (void)arguments;
    return f->sync_seconds / slots + crowding(f) * copy_seconds(f, 1, shape->bytes);
}

HOT static enum outcome tape_run(struct team *team, const struct call *call,
                                 const struct arguments *arguments) {
    (void)arguments;
    if (call->shape.bytes > long_bytes) return LEFT;
    struct tape_reader *mine = reader_of(team, team->me);
    mine->calls++;
    bool got = true;
    if (team->me == call->root) tape_put(team, call, mine);
    else got = get(team, call, mine);
    if (mine->calls - mine->said >= slots / 4) tape_tell(team, mine, mine->calls);
    return got ? DONE : FAILED;
}

const struct algorithm_code algorithm_tape = {.loose = true,
                                              .shared = {tape_bytes, sizeof(struct tape_reader)},
                                              .can = tape_can,
                                              .cost = tape_cost,
                                              .run = tape_run};
