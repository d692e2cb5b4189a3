/* SPDX-License-Identifier: BSD-3-Clause */
/* offers.h - private to coll/: how a rank lets its peers read its blocks in one call, if they are
 * not equal runs. Each rank decides for itself, without agreement, and writes its decision into its
 * offer, which lies in shared memory beside an area for staged bytes.
 *
 * staged    the blocks are packed into the area. Peers may read it until the area is used again, so
 *           the owner may return.
 * straight  zero-copy: the blocks, counts, displacements and layouts all lie in the owner's region,
 *           and peers read them there. The owner must not return before they have.
 * part      neither is possible: the area holds bytes at .. at + window of the packed blocks, and
 *           more parts follow.
 * over      there is nothing (more) to read. */
#ifndef MORTAR_OFFERS_H
#define MORTAR_OFFERS_H

#include "coll/coll.h"

struct offer {
    enum { OFFER_STAGED, OFFER_STRAIGHT, OFFER_PART, OFFER_OVER } how;
    int32_t count;       /* of blocks in the area */
    uint64_t bytes;      /* of all blocks, packed */
    uint64_t at, window; /* staged, part: the bytes of the packed blocks that the area holds */
    uint64_t each;       /* bytes of every block, if even */
    bool even;           /* blocks are equally long: the area has no table of starts */
    /* straight: the owner's address of its region; all addresses in `blocks` are the owner's. */
    uint64_t region;
    struct blocks blocks; /* straight */
    struct layout layout; /* straight, one contiguous layout for all blocks: a copy of it */
};

/* Bytes of the table at the beginning of an area, for that many blocks that are not even. */
static inline size_t starts_bytes(int blocks) { return ((size_t)blocks + 1) * sizeof(uint64_t); }

/* Fills my offer: staged if the packed blocks and their table fit into `room` bytes and the blocks
 * are at most `most` bytes or cannot be read in place; else straight; else the first part. The room
 * must hold the table and some bytes. Local. */
void offer_make(const struct team *team, struct offer *offer, char *area, size_t room, size_t most,
                const struct blocks *blocks);
/* The same, but never straight. */
void offer_copied(struct offer *offer, char *area, size_t room, const struct blocks *blocks);
/* Fills my offer of blocks that peers will write, always straight. False: peers cannot reach all
 * blocks. Local. */
bool offer_shown(const struct team *team, struct offer *offer, const struct blocks *blocks);
/* After peers have written them, behind the barrier. Local. */
void offer_taken_back(const struct team *team, const struct blocks *blocks);
/* Puts the next part into an area: another one, or the same one after all readers have taken the
 * part before. False: no part is left. Local. */
bool offer_next(struct offer *offer, char *area, size_t room, const struct blocks *blocks);
/* Copies block `index` of rank `owner`'s offer to `mine`, or as much of it as this part holds.
 * False: the block continues in later parts. Peers must be mapped (team_map). Local. */
bool offer_take(const struct team *team, int owner, const struct offer *offer, const char *area,
                int index, const struct block *mine, const struct copier *copier);

/* Bytes of that block. Local. */
size_t offer_bytes(const struct team *team, int owner, const struct offer *offer, const char *area,
                   int index);

/* Block `index` of rank `owner`'s straight offer, in my address space. Peers must be mapped.
 * Local. */
struct block offer_block(const struct team *team, int owner, const struct offer *offer, int index,
                         bool writable);
/* Bytes of all blocks when packed. *each: of every one of them; SIZE_MAX: they differ. Local. */
size_t measure_blocks(const struct blocks *blocks, size_t *each);
/* Packs a block, of so many bytes. Local. */
static inline void pack_block(char *to, const struct block *block, size_t bytes) {
    static const struct copier plain = {.kernel = KERNEL_plain};
    if (block->layout->run) copy_block(&plain, to, block->at, bytes);
    else layout_pack(to, block->at, block->layout, block->elements);
}
/* Copies the packed data of a block, as many as it has room for. Local. */
static inline void put_block(const struct block *mine, const char *data, size_t bytes) {
    static const struct copier plain = {.kernel = KERNEL_plain};
    if (mine->layout->run && bytes <= block_bytes(mine)) copy_block(&plain, mine->at, data, bytes);
    else layout_unpack(mine->at, mine->layout, mine->elements, data, bytes);
}
/* relay_block piece by piece: see layout_copy_piece. Local. */
bool relay_piece(const struct block *to, const struct block *from, const struct copier *copier,
                 size_t piece);

/* ---- counted.c: an allgatherv whose blocks all fit into the stage needs no offers ---- */
/* Do they? The same on all ranks. Local. */
bool counted_fits(const struct team *team, const struct call *call,
                  const struct arguments *arguments);
/* Exchanges such blocks. Else as vector_exchange. */
enum outcome counted_exchange(struct team *team, const struct call *call);
extern const struct single counted_single; /* the same */

#endif
