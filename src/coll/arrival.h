/* SPDX-License-Identifier: BSD-3-Clause */
/* arrival.h - private to coll/: the shared memory in which ranks leave vectors to each other, for arrival.c and pool.c.
 *
 * Vectors lie in rings, one of `depth` entries per node (a place in the tree, or a rank) and class, so that ranks can run so many
 * calls ahead. All ranks number the calls of a class alike; call k uses entry k % depth of each node. */
#ifndef MORTAR_ARRIVAL_H
#define MORTAR_ARRIVAL_H

#include "coll/coll.h"

enum {
    deposit_line = 64,
    depth0 = 32, /* of powers of two: counters wrap */
    depth1 = 16,
    depth2 = 4,
    bytes0 = 16, /* in the tree one cache line per node and call */
    bytes1 = 512,
    bytes2 = 8 << 10,
    sizes = 3
};

/* The tree has the first three, and each node two vectors; the pool has the others, and each rank one. */
struct class {
    size_t bytes;
    uint32_t depth, vectors;
};
static const struct class classes[arrival_classes] = {{bytes0, depth0, 2}, {bytes1, depth1, 2}, {bytes2, depth2, 2},
                                                      {bytes0, depth0, 1}, {bytes1, depth1, 1}, {bytes2, depth2, 1}};
_Static_assert((depth0 + 1) * 2 * deposit_line + (depth1 + 1) * (2 * deposit_line + 3 * bytes1) +
                       (depth2 + 1) * (2 * deposit_line + 3 * bytes2) <=
                   arrival_room,
               "room for all entries");

struct entry {
    _Atomic uint32_t word, sleepers;
    union {
        uint64_t held;  /* in the pool: of how many ranks this is the combination */
        double entered; /* in a box: when the rank that brought the result entered the call */
    };
    char vectors[];
};

static inline size_t entry_bytes(const struct class *class) {
    return (sizeof(struct entry) + class->vectors * class->bytes + deposit_line - 1) / deposit_line * deposit_line;
}

/* Entry `slot` of a node. Slot `depth` of node r is the box in which rank r finds results as a root. */
static inline struct entry *entry_at(const struct team *team, int class, int node, uint32_t slot) {
    char *at = team->arrival;
    for (int c = 0; c < class; c++) at += (size_t)team->p * (classes[c].depth + 1) * entry_bytes(&classes[c]);
    size_t index = (size_t)node * (classes[class].depth + 1) + slot;
    return (struct entry *)(void *)(at + index * entry_bytes(&classes[class]));
}

static inline void entry_set(struct entry *entry, uint32_t value) {
    /* seq_cst: the store must be seen before the count of sleepers is read, or a rank falling asleep is missed. */
    atomic_store_explicit(&entry->word, value, memory_order_seq_cst);
    wait_wake(&entry->word, &entry->sleepers);
}

/* What a rank carries: first its own vector, then what it has combined in its scratch. */
struct load {
    const struct reduction *reduction;
    size_t count, bytes; /* of the piece */
    int class;
    const char *at;
    char *scratch;
};

/* Combines with what another has left; left: mine is the left operand. Their vector may be written. */
static inline void load_combine(struct load *load, char *theirs, bool left) {
    if (left) {
        load->reduction->combine(load->reduction, load->at, theirs, load->count);
        memcpy(load->scratch, theirs, load->bytes);
    } else {
        if (load->at != load->scratch) memcpy(load->scratch, load->at, load->bytes);
        load->reduction->combine(load->reduction, theirs, load->scratch, load->count);
    }
    load->at = load->scratch;
}

/* ---- pool.c ---- */
/* In the order of arrival: true for the rank that holds the combination of all. */
bool pool_combine(struct team *team, struct load *load, uint32_t number);

#endif
