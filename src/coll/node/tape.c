/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_tape - bcast of short blocks: one tape for the team, which goes round. All ranks number these calls alike; the root of
 * call k writes its block on slot k % slots, and all others read it there. Nobody waits for anybody else: a root runs ahead until a
 * slot comes that some rank may still have to read. To know that it need not hear of every reading: each rank tells in quarters
 * how far it is, and before it waits.
 * Source  eager messages, as every MPI library has them, but written once; `mailbox` with what it needs for long blocks left out.
 * Cost    per rank a visit; for the root a look at all ranks in a quarter of the tape, and a switch of processor in a whole one.
 * Wins    where broadcasts of a few bytes follow each other. */
#include "coll/coll.h"

#include <stddef.h>

extern const struct algorithm_code algorithm_tape;

/* So many that a switch of processor counts for little, but no more: ranks that share a processor take turns, and one that is away
 * for longer than wait.c thinks that other programs run goes to sleep. */
enum { slots = 64, line = 64, slot_bytes = 3 * line };

struct slot {
    _Alignas(line) _Atomic uint32_t number; /* of the call whose block it holds */
    _Atomic uint32_t sleepers;
    double entered;              /* the root, that call */
    uint32_t bytes;              /* 0: the root has no memory to pack its block */
    char block[slot_bytes - 20]; /* the third line is touched by blocks of more than 108 bytes only */
};
struct reader {
    _Alignas(line) _Atomic uint32_t number; /* the last call that this rank said it is through with */
    _Atomic uint32_t sleepers;
    _Atomic double entered; /* that call or, if it goes on meanwhile, a later one; see waits.c */
};
_Static_assert(sizeof(struct slot) == slot_bytes && slots * sizeof(struct slot) == tape_room && sizeof(struct reader) == tape_desk,
               "node.c makes room for slots and readers");

static inline struct slot *slot_of(const struct team *team, uint32_t number) {
    return (struct slot *)(void *)team->tape + number % slots;
}
static inline struct reader *reader_of(const struct team *team, int rank) {
    return (struct reader *)(void *)(team->tape + tape_room) + rank;
}

enum { most_bytes = sizeof((struct slot *)0)->block };

static bool can(const struct figures *f, const struct calls *calls, const struct arguments *arguments) {
    (void)f, (void)arguments;
    return calls->largest.bytes <= most_bytes;
}

HOT static void tell(struct team *team, uint32_t number) {
    struct reader *mine = reader_of(team, team->me);
    if (team->tape_told == number) return;
    if (team->waits.on) atomic_store_explicit(&mine->entered, team->waits.entered, memory_order_relaxed);
    team->tape_told = number;
    /* seq_cst: the store must be seen before the count of sleepers is read, or a root falling asleep is missed. */
    atomic_store_explicit(&mine->number, number, memory_order_seq_cst);
    wait_wake(&mine->number, &mine->sleepers);
}

/* ---- the root ---- */

/* Until this rank is through with a call; returns what it said last. */
static uint32_t wait_reader(struct team *team, int rank, uint32_t least) {
    struct reader *reader = reader_of(team, rank);
    uint32_t number;
    bool waited = false;
    while ((int32_t)((number = atomic_load_explicit(&reader->number, memory_order_acquire)) - least) < 0) {
        tell(team, team->tape_calls - 1);
        wait_change(team, &reader->number, number, &reader->sleepers);
        waited = true;
    }
    if (team->waits.on && waited) waits_for(team, rank, atomic_load_explicit(&reader->entered, memory_order_relaxed));
    return number;
}

/* Until all have read what lies on the slot of this call. */
static void wait_free(struct team *team, uint32_t number) {
    uint32_t through = number - 1;
    for (int r = 0; r < team->p; r++) {
        if (r == team->me) continue;
        uint32_t theirs = wait_reader(team, r, number - slots);
        if ((int32_t)(theirs - through) < 0) through = theirs;
    }
    team->tape_read = through;
}

HOT static void put(struct team *team, const struct call *call, uint32_t number) {
    struct slot *slot = slot_of(team, number);
    if ((int32_t)(number - slots - team->tape_read) > 0) wait_free(team, number);
    slot->bytes = 0;
    if (!call->trouble) {
        struct block block = block_of(call->sends, 0);
        slot->bytes = (uint32_t)block_bytes(&block);
        if (block.layout->run) memcpy(slot->block, block.at, slot->bytes);
        else layout_pack(slot->block, block.at, block.layout, block.elements);
    }
    if (team->waits.on) slot->entered = team->waits.entered;
    atomic_store_explicit(&slot->number, number, memory_order_seq_cst); /* as in tell */
    wait_wake(&slot->number, &slot->sleepers);
}

/* ---- the others ---- */

HOT static void get(struct team *team, const struct call *call, uint32_t number) {
    struct slot *slot = slot_of(team, number);
    uint32_t seen;
    bool waited = false;
    while ((seen = atomic_load_explicit(&slot->number, memory_order_acquire)) != number) {
        tell(team, number - 1);
        wait_change(team, &slot->number, seen, &slot->sleepers);
        waited = true;
    }
    if (team->waits.on && waited) waits_for(team, call->root, slot->entered);
    if (call->trouble || slot->bytes == 0) return;
    struct block block = block_of(call->recvs, 0);
    size_t most = block_bytes(&block), bytes = slot->bytes < most ? slot->bytes : most;
    fit_block(&block, slot->bytes);
    if (block.layout->run) memcpy(block.at, slot->block, bytes);
    else layout_unpack(block.at, block.layout, block.elements, slot->block, bytes);
}

/* ---- the call ---- */

static double cost(const struct figures *f, const struct shape *shape, const struct arguments *arguments) {
    (void)arguments;
    return f->sync_seconds / slots + crowding(f) * copy_seconds(f, 1, shape->bytes);
}

HOT static enum outcome run(struct team *team, const struct call *call, const struct arguments *arguments) {
    (void)arguments;
    if (call->shape.bytes > most_bytes) return LEFT;
    uint32_t number = ++team->tape_calls;
    if (team->me == call->root) put(team, call, number);
    else get(team, call, number);
    if (number - team->tape_told >= slots / 4) tell(team, number);
    return DONE;
}

const struct algorithm_code algorithm_tape = {.loose = true, .can = can, .cost = cost, .run = run};
