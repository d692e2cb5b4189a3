/* SPDX-License-Identifier: BSD-3-Clause */
/* sides.h - the two sides of a call on one rank as tests draw them: blocks anywhere in the rank's
 * memory, in reach of peers or not, with gaps, with layouts that have gaps, with tables of 4 or 8
 * bytes an entry; and what the blocks hold, by the key of each. */
#ifndef MORTAR_SIDES_H
#define MORTAR_SIDES_H

#include "crew.h"

enum { most_blocks = 240, piece = 12, guard = 64 };

struct side {
    struct blocks blocks;
    size_t bytes[most_blocks]; /* packed; a multiple of `piece`, unless all layouts are runs */
    uint64_t key[most_blocks]; /* of the contents; 0: nobody sends it */
    /* Of the rank, for buffers of this side: span bytes, the first and the last `guard` in no
     * block. */
    char *memory;
    size_t span;
    bool runs;    /* to be so: layouts without gaps; */
    bool reached; /* in the region, with its tables */
};
enum side_kind { EQUAL, VARIES, TYPES };

/* Memory of the rank for the buffer of a side, in the region (half 0) or outside, and its bytes. */
char *side_memory(const struct rank *rank, uint32_t half, bool receives);
size_t side_room(const struct rank *rank);
/* Sets blocks, memory and span: so many blocks, of which the bytes are set. */
void side_place(struct rank *rank, struct side *side, int count, enum side_kind kind,
                bool receives);
/* Writes what a block holds, or all blocks, by their keys into an image of the side's memory. */
void side_write_block(const struct side *side, int b, char *image);
void side_write(const struct side *side, char *image);

#endif
