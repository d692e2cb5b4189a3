/* SPDX-License-Identifier: BSD-3-Clause */
/* arrival.h - private to coll/: the shared memory in which ranks leave vectors for each other, used
 * by arrival.c and coll/nodes/tardy.c.
 *
 * Each node (a place in the tree, or a rank) has a ring of `depth` entries per class, so ranks can
 * run `depth` calls ahead. All ranks number the calls of a class alike; call k uses entry k % depth
 * of each node. */
#ifndef MORTAR_ARRIVAL_H
#define MORTAR_ARRIVAL_H

#include "coll/coll.h"

enum {
    deposit_line = 64,
    depth0 = 32, /* the depths are powers of two, since counters wrap */
    depth1 = 16,
    depth2 = 4,
    depth3 = 2,
    bytes0 = 16, /* in the tree: one cache line per node and call */
    bytes1 = 512,
    bytes2 = 8 << 10,
    bytes3 = 512 << 10, /* committed only if such vectors are reduced this way */
    tree_classes = 4,
    arrival_classes = 2 * tree_classes
};

/* The tree uses the first four classes, with two vectors per node; the pool the others, with one
 * per rank. */
struct class {
    size_t bytes;
    uint32_t depth, vectors;
};
static const struct class classes[arrival_classes] = {
    {bytes0, depth0, 2}, {bytes1, depth1, 2}, {bytes2, depth2, 2}, {bytes3, depth3, 2},
    {bytes0, depth0, 1}, {bytes1, depth1, 1}, {bytes2, depth2, 1}, {bytes3, depth3, 1}};
struct entry {
    struct flag flag;
    union {
        uint64_t held;  /* in the pool: how many ranks' vectors are combined here */
        double entered; /* in a box: when the rank that brought the result entered the call */
    };
    char vectors[];
};

#define ENTRY_ROOM(bytes, vectors)                                                                 \
    ((sizeof(struct entry) + (vectors) * (bytes) + deposit_line - 1) / deposit_line * deposit_line)
static inline size_t entry_bytes(const struct class *class) {
    return ENTRY_ROOM(class->bytes, class->vectors);
}

/* Shared memory: what each rank counts, then the entries of each class, node by node. */
struct counted {
    /* Calls of each class that the rank took part in; wraps. */
    _Alignas(deposit_line) uint32_t calls[arrival_classes];
};
#define ENTRIES_ROOM(bytes, depth) (((depth) + 1) * (ENTRY_ROOM(bytes, 2) + ENTRY_ROOM(bytes, 1)))
enum {
    arrival_room = sizeof(struct counted) + ENTRIES_ROOM(bytes0, depth0) +
                   ENTRIES_ROOM(bytes1, depth1) + ENTRIES_ROOM(bytes2, depth2) +
                   ENTRIES_ROOM(bytes3, depth3)
};
static inline struct counted *counted_by(const struct team *team, int rank) {
    return (struct counted *)(void *)team->shared[ALGORITHM_arrival] + rank;
}

/* Entry `slot` of a node. Slot `depth` of node r is the box in which rank r finds results as a
 * root. */
static inline struct entry *entry_at(const struct team *team, int class, int node, uint32_t slot) {
    char *at = (char *)counted_by(team, team->p);
    for (int c = 0; c < class; c++)
        at += (size_t)team->p * (classes[c].depth + 1) * entry_bytes(&classes[c]);
    size_t index = (size_t)node * (classes[class].depth + 1) + slot;
    return (struct entry *)(void *)(at + index * entry_bytes(&classes[class]));
}

/* What a rank carries: its own vector, or a combination that lies in an entry. The entry is held
 * until the combination has moved elsewhere. */
struct load {
    const struct reduction *reduction;
    size_t count, bytes; /* of the piece */
    int class;
    const char *at;
    struct entry *held; /* NULL: the vector is the user's, and may not be written */
    uint32_t release;   /* the held entry's next word */
};

static inline void load_hold(struct load *load, struct entry *entry, const char *at,
                             uint32_t release) {
    struct entry *before = load->held;
    uint32_t word = load->release;
    load->held = entry;
    load->release = release;
    load->at = at;
    if (before && before != entry) flag_set(&before->flag, word);
}

/* Releases the held entry: its vector is consumed. */
static inline void load_drop(struct load *load) {
    if (load->held) flag_set(&load->held->flag, load->release);
    load->held = NULL;
}

/* ---- arrival.c ---- */
/* A load of `count` elements of this rank's vector, at most bytes3 bytes. */
struct load load_of(const struct team *team, const struct reduction *reduction, const char *at,
                    size_t count);
/* Combines the loads of all ranks of a node. True for one rank, the last to arrive or nearly so: it
 * carries the combination until load_drop. The others carry nothing and return. */
bool arrival_combine(struct team *team, struct load *load);
/* The same, and hands the combination to the root, which waits for it. */
void arrival_reduce(struct team *team, int root, struct load *load, char *result);

#endif
