/* SPDX-License-Identifier: BSD-3-Clause */
/* letters.h - private to coll/: offers sent through boxes, in as many parts as needed. */
#ifndef MORTAR_LETTERS_H
#define MORTAR_LETTERS_H

#include "coll/node/offers.h"

#include <stddef.h>

/* What a box holds: blocks first .. first + count - 1. count 0: the sender has none to give. */
struct letter {
    int first, count;
    int16_t room; /* which room holds the staged bytes; -1: they follow the letter */
    bool more;    /* another part of this call follows */
    bool brief;   /* the blocks themselves lie in place of the offer, `each` bytes every one */
    uint32_t each;
    struct offer offer;
};
enum { most_brief = BOX_INSIDE - offsetof(struct letter, offer) };
/* Are the blocks contiguous, one after the other, and short enough for a brief letter? */
static inline bool is_brief(const struct blocks *blocks) {
    return !blocks->counts && !blocks->displs && !blocks->layouts && blocks->layout->run &&
           blocks->each <= most_brief && blocks->layout->size <= most_brief &&
           (size_t)blocks->count * blocks->each * blocks->layout->size <= most_brief;
}

/* What a rank sends in one call. The caller sets the members before `part`. */
struct sending {
    /* NULL: they cannot be read. The readers then get an empty letter, and what they wait for is
     * lost. */
    const struct blocks *blocks;
    uint64_t op;
    /* Up to this many bytes are copied into a box even if they could be read in place. */
    size_t most;
    /* Rooms to use in turn: fewer stay in the caches, more let the sender run ahead. */
    uint32_t rooms;
    uint32_t readers;     /* of every part, as box_publish takes it */
    uint32_t part;        /* number of the next part */
    bool more;            /* a next part exists; set by each letter_send */
    bool straight;        /* readers read my memory: letters_wait before it changes */
    struct blocks group;  /* blocks whose starts fit into one table; mostly all */
    int first;            /* first block after the group */
    struct letter *begun; /* the part before, if the group continues; NULL: it does not */
};

/* Waits for a free box and puts the next part into it. Local, except for flow control. */
void letter_send(struct team *team, struct sending *sending);
/* The same for blocks that are brief: the call's only part. */
void letter_send_brief(struct team *team, uint64_t op, uint32_t readers,
                       const struct blocks *blocks);
/* Waits until all readers have taken what they read in my memory. */
void letters_wait(struct team *team, const struct sending *sending);
enum letter_end { LETTER_OVER, LETTER_GOES_ON, LETTER_LOST }; /* goes on: another part follows */
/* Copies to `mine` what the part holds of the source's block `out`. The part must be there
 * (box_ready), and has to be acknowledged then (box_ack). mine NULL: nothing is wanted. Local. */
enum letter_end letter_take(const struct team *team, int source, uint64_t op, uint32_t part,
                            uint32_t out, const struct block *mine, const struct copier *copier);

#endif
