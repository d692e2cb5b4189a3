/* SPDX-License-Identifier: BSD-3-Clause */
/* blocks.h - a part of coll.h: the blocks of a call. */
#ifndef MORTAR_BLOCKS_H
#define MORTAR_BLOCKS_H

#include "copy/copy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The blocks of one side of a call, as its own rank sees them; block_of(b) returns one of them. */
struct blocks {
    char *base;
    int count;                           /* of blocks */
    const struct layout *layout;         /* of every element; unused with `layouts` */
    const struct layout *const *layouts; /* [count] one per block; NULL: `layout` */
    const void *counts;                  /* [count] elements of each block; NULL: `each` */
    /* [count] where each begins, in units from base; NULL: equal blocks, back to back. */
    const void *displs;
    size_t each;
    ptrdiff_t unit;                   /* bytes */
    uint8_t count_width, displ_width; /* bytes of an entry: sizeof(int), or 8 */
};
/* One block. */
struct block {
    char *at;
    size_t elements;
    const struct layout *layout;
};
static inline int64_t entry_of(const void *entries, int width, int b) {
    return width == 8 ? ((const int64_t *)entries)[b] : ((const int32_t *)entries)[b];
}
static inline struct block block_of(const struct blocks *blocks, int b) {
    struct block block = {.layout = blocks->layouts ? blocks->layouts[b] : blocks->layout};
    block.elements =
        blocks->counts ? (size_t)entry_of(blocks->counts, blocks->count_width, b) : blocks->each;
    ptrdiff_t at = blocks->displs
                       ? (ptrdiff_t)entry_of(blocks->displs, blocks->displ_width, b) * blocks->unit
                       : b * (ptrdiff_t)blocks->each * block.layout->extent;
    block.at = away_from(blocks->base, at);
    return block;
}
static inline size_t block_bytes(const struct block *block) {
    return block->elements * block->layout->size;
}
/* Do both blocks have their data in the same place? Buffers of a call overlap only in place, so
 * comparing the first data byte is enough. Comparing `at` is not: an element's data may begin
 * before or after its address. */
static inline bool is_same_place(const struct block *a, const struct block *b) {
    return away_from(a->at, a->layout->low) == away_from(b->at, b->layout->low);
}

/* Contiguous runs (struct run): [count] bytes of each, and its distance from base in bytes. */
static inline struct blocks byte_runs(char *base, int count, const int64_t *counts,
                                      const int64_t *displs) {
    return (struct blocks){base, count, &layout_bytes, NULL, counts, displs, 0, 1, 8, 8};
}
struct run {
    char *at;
    size_t bytes;
};
static inline struct run run_of(const struct blocks *blocks, int b) {
    struct block block = block_of(blocks, b);
    return (struct run){block.at, block_bytes(&block)};
}

#endif
