/* SPDX-License-Identifier: BSD-3-Clause */
/* offers.h - private to coll/: what a rank lets its peers read in one call, where blocks are no
 * equal runs. Nobody needs to agree on how: each rank decides for itself and writes it into its
 * offer, which lies in shared memory beside an area for staged bytes.
 *
 * staged: the blocks are packed into the area. Peers may read as long as the area is not used
 * again, so the owner may go. straight: the blocks, counts, displacements and layouts all lie in
 * the owner's region, and peers read them there: the owner must
 *   not return before they have.
 * part: neither is possible; the area holds bytes at .. at + window of the packed blocks, and more
 * parts follow.
 * over: nothing (more). */
#ifndef MORTAR_OFFERS_H
#define MORTAR_OFFERS_H

#include "coll/coll.h"

struct offer {
    enum { OFFER_STAGED, OFFER_STRAIGHT, OFFER_PART, OFFER_OVER } how;
    int32_t count;       /* of blocks in the area */
    uint64_t bytes;      /* of all blocks, packed */
    uint64_t at, window; /* staged, part: what of that the area holds */
    uint64_t each;       /* of every block, where they are even */
    bool even;           /* the blocks are of the same bytes: the area has no table of starts */
    /* straight: where the owner sees its region; all addresses in `blocks` are the owner's. */
    uint64_t region;
    struct blocks blocks; /* straight */
    struct layout layout; /* straight, one layout that is a run: itself */
};

/* Bytes that the table of so many blocks takes at the beginning of an area, unless they are
 * even. */
static inline size_t starts_bytes(int blocks) { return ((size_t)blocks + 1) * sizeof(uint64_t); }

/* Fills my offer: staged when the packed blocks and their table fit into `room` bytes and are at
 * most `most` bytes or cannot be read straight; else straight; else the first part. The room must
 * hold the table and some bytes. Local. */
void offer_make(const struct team *team, struct offer *offer, char *area, size_t room, size_t most,
                const struct blocks *blocks);
/* The same, but never straight. */
void offer_copied(struct offer *offer, char *area, size_t room, const struct blocks *blocks);
/* Straight, whatever the blocks are, or nothing: false when peers cannot read, or write, them all.
 * Local. */
bool offer_shown(const struct team *team, struct offer *offer, const struct blocks *blocks);
/* Puts the next part into an area: another one, or when all readers have taken the one before.
 * False: there is none. Local. */
bool offer_next(struct offer *offer, char *area, size_t room, const struct blocks *blocks);
/* Copies what rank `owner` offers as block `index` to mine; of a part, what it holds of it. False:
 * the block goes on in later parts. The peers must be mapped (team_map). Local. */
bool offer_take(const struct team *team, int owner, const struct offer *offer, const char *area,
                int index, const struct block *mine, const struct copier *copier);

/* Bytes of that block. Local. */
size_t offer_bytes(const struct team *team, int owner, const struct offer *offer, const char *area,
                   int index);

/* Block `index` of what rank `owner` offers straight, in my address space. The peers must be
 * mapped. Local. */
struct block offer_block(const struct team *team, int owner, const struct offer *offer, int index,
                         bool writable);
/* relay_block piece by piece: see layout_copy_piece. Local. */
bool relay_piece(const struct block *to, const struct block *from, const struct copier *copier,
                 size_t piece);

#endif
