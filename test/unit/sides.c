/* SPDX-License-Identifier: BSD-3-Clause */
#include "sides.h"

#include <string.h>

enum { tables = 8 << 10 };

/* A layout with gaps: four times three bytes, five apart. */
static const struct layout *gappy(void *memory) {
    static const struct nest nest = {
        .at = 1, .bytes = 3, .levels = 1, .loop = {{.count = 4, .step = 5}}};
    static const struct layout head = {
        .size = piece, .extent = 24, .low = 1, .high = 19, .nests = 1};
    memcpy(memory, &head, sizeof head);
    memcpy((char *)memory + sizeof head, &nest, sizeof nest);
    return memory;
}

static size_t place_in(const struct layout *layout, size_t i) {
    return layout->run ? i : i / piece * 24 + 1 + i % piece / 3 * 5 + i % 3;
}

static char byte_of(uint64_t key, size_t i) {
    return (char)((key + i * 0x9e3779b97f4a7c15u) >> 56);
}

void side_write_block(const struct side *side, int b, char *image) {
    struct block block = block_of(&side->blocks, b);
    char *at = image + (block.at - side->memory);
    for (size_t i = 0; side->key[b] && i < side->bytes[b]; i++)
        at[place_in(block.layout, i)] = byte_of(side->key[b], i);
}

void side_write(const struct side *side, char *image) {
    for (int b = 0; b < side->blocks.count; b++) side_write_block(side, b, image);
}

/* The halves of a rank's memory: the first is its region. Each has tables, then a send and a
 * receive buffer. */
static char *half_of(const struct rank *rank, uint32_t half) {
    return rank->block + half * (rank->crew->room / 2);
}

size_t side_room(const struct rank *rank) { return (rank->crew->room / 2 - 2 * tables) / 2; }

char *side_memory(const struct rank *rank, uint32_t half, bool receives) {
    return half_of(rank, half) + 2 * tables + receives * side_room(rank);
}

void side_place(struct rank *rank, struct side *side, int count, enum side_kind kind,
                bool receives) {
    uint64_t *own = &rank->own;
    char *table =
        half_of(rank, draw_below(own, 4) == 0 && !side->reached) + (receives ? tables : 0);
    const struct layout *gaps = gappy(table),
                        *pick[] = {&layout_bytes, side->runs ? &layout_bytes : gaps};
    const struct layout **layouts = (void *)(table + 256);
    int64_t *counts = (void *)(layouts + most_blocks), *displs = counts + most_blocks;
    struct blocks *blocks = &side->blocks;
    side->memory = side_memory(rank, draw_below(own, 3) == 0 && !side->reached, receives);
    *blocks = (struct blocks){
        .base = side->memory + guard, .count = count, .layout = pick[draw_below(own, 2)]};
    if (kind == TYPES) blocks->layouts = layouts;
    blocks->count_width = draw_below(own, 2) ? 8 : 4;
    blocks->displ_width = draw_below(own, 2) ? 8 : 4;
    blocks->unit = kind == TYPES ? 1 : blocks->layout->extent;
    blocks->each = count > 0 ? side->bytes[0] / blocks->layout->size : 0;
    size_t at = 0;
    for (int b = 0; b < count; b++) {
        layouts[b] = pick[draw_below(own, 2)];
        const struct layout *layout = kind == TYPES ? layouts[b] : blocks->layout;
        size_t elements = side->bytes[b] / layout->size, unit = (size_t)blocks->unit;
        if (kind != EQUAL) at = (at + draw_below(own, 40) + unit - 1) / unit * unit;
        if (blocks->count_width == 8) counts[b] = (int64_t)elements;
        else ((int32_t *)counts)[b] = (int32_t)elements;
        if (blocks->displ_width == 8) displs[b] = (int64_t)(at / unit);
        else ((int32_t *)displs)[b] = (int32_t)(at / unit);
        at += elements * (size_t)layout->extent;
    }
    if (kind != EQUAL) blocks->counts = counts, blocks->displs = displs;
    side->span = at + 2 * guard;
    expect(side->span <= side_room(rank), "the test's memory is too small: %zu", at);
}
