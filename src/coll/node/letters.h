/* SPDX-License-Identifier: BSD-3-Clause */
/* letters.h - private to coll/: offers that are sent through boxes, in as many parts as it
 * takes. */
#ifndef MORTAR_LETTERS_H
#define MORTAR_LETTERS_H

#include "coll/node/offers.h"

/* What a box holds: an offer of blocks first .. first + count - 1, none when the sender is in
 * trouble. */
struct letter {
    int first, count;
    int16_t room; /* where the staged bytes lie; -1: behind the letter */
    bool more;    /* the call's next part will follow */
    struct offer offer;
};

/* What a rank sends in one call. The caller sets what comes before `part`. */
struct sending {
    /* NULL: they cannot be read; the readers get nothing, but need not wait. */
    const struct blocks *blocks;
    uint64_t op;
    /* Bytes that are worth copying into a box though they could be read straight. */
    size_t most;
    /* To be used in turns: fewer stay in the caches, more let the sender run ahead. */
    uint32_t rooms;
    uint32_t readers;     /* of every part */
    uint32_t part;        /* the next one */
    bool more;            /* there is one; after the first */
    bool straight;        /* readers read my memory: letters_wait before it changes */
    struct blocks group;  /* whose starts fit into one table; mostly all blocks */
    int first;            /* block that was in no group yet */
    struct letter *begun; /* the part before, when the group goes on */
};

/* Waits for a free box and puts the next part into it. Local, but for the flow control. */
void letter_send(struct team *team, struct sending *sending);
/* Waits until all readers have taken what they read in my memory. */
void letters_wait(struct team *team, const struct sending *sending);
/* Takes what the part, which must be there (box_ready), holds of the source's block `out`, to mine,
 * and acknowledges it; mine NULL: only that. True: another part follows. Local. */
bool letter_take(const struct team *team, int source, uint64_t op, uint32_t part, uint32_t out,
                 const struct block *mine, const struct copier *copier);

#endif
