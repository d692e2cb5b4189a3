/* SPDX-License-Identifier: BSD-3-Clause */
/* letters.h - private to coll/: offers sent through boxes, in as many parts as needed. */
#ifndef MORTAR_LETTERS_H
#define MORTAR_LETTERS_H

#include "coll/node/offers.h"

/* What a box holds: an offer of blocks first .. first + count - 1. count 0: the sender has
 * trouble. */
struct letter {
    int first, count;
    int16_t room; /* which room holds the staged bytes; -1: they follow the letter */
    bool more;    /* another part of this call follows */
    struct offer offer;
};

/* What a rank sends in one call. The caller sets the members before `part`. */
struct sending {
    /* NULL: they cannot be read. The readers then get an empty letter, so that they do not wait. */
    const struct blocks *blocks;
    uint64_t op;
    /* Up to this many bytes are copied into a box even if they could be read in place. */
    size_t most;
    /* Rooms to use in turn: fewer stay in the caches, more let the sender run ahead. */
    uint32_t rooms;
    uint32_t readers;     /* of every part */
    uint32_t part;        /* number of the next part */
    bool more;            /* a next part exists; set by each letter_send */
    bool straight;        /* readers read my memory: letters_wait before it changes */
    struct blocks group;  /* blocks whose starts fit into one table; mostly all */
    int first;            /* first block after the group */
    struct letter *begun; /* the part before, if the group continues; NULL: it does not */
};

/* Waits for a free box and puts the next part into it. Local, except for flow control. */
void letter_send(struct team *team, struct sending *sending);
/* Waits until all readers have taken what they read in my memory. */
void letters_wait(struct team *team, const struct sending *sending);
/* Copies to `mine` what the part holds of the source's block `out`, and acknowledges the part,
 * which must be there (box_ready). mine NULL: only acknowledges. True: another part follows.
 * Local. */
bool letter_take(const struct team *team, int source, uint64_t op, uint32_t part, uint32_t out,
                 const struct block *mine, const struct copier *copier);

#endif
