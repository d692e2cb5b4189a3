/* SPDX-License-Identifier: BSD-3-Clause */
/* offers - see offers.h. The area begins with a table where each block starts in the packed stream. */
#include "coll/offers.h"

size_t blocks_bytes(const struct blocks *blocks) {
    if (!blocks->counts && !blocks->layouts) return (size_t)blocks->count * blocks->each * blocks->layout->size;
    size_t bytes = 0;
    for (int b = 0; b < blocks->count; b++) {
        struct block block = block_of(blocks, b);
        bytes += block_bytes(&block);
    }
    return bytes;
}

/* Where peers find this memory: as an address in my region. NULL: they cannot. Static data that were made part of the region lie
 * elsewhere in it, so this need not be the memory's own address. */
static const void *alias_of(const struct team *team, const void *memory, size_t bytes) {
    uint64_t offset;
    return team_reaches(team, memory, bytes, &offset) ? team->region + offset : NULL;
}

static bool alias(const struct team *team, const void **memory, size_t bytes) {
    if (*memory) *memory = alias_of(team, *memory, bytes);
    return *memory != NULL;
}

/* The bytes that all blocks together span. False: there are none. */
static bool span_of(const struct blocks *blocks, char **low, char **high) {
    *low = *high = NULL;
    for (int b = 0; b < blocks->count; b++) {
        struct block block = block_of(blocks, b);
        if (block_bytes(&block) == 0) continue;
        ptrdiff_t last = (ptrdiff_t)(block.elements - 1) * block.layout->extent;
        char *from = block.at + block.layout->low + (last < 0 ? last : 0),
             *to = block.at + block.layout->high + (last > 0 ? last : 0);
        if (!*low || from < *low) *low = from;
        if (!*high || to > *high) *high = to;
    }
    return *low != NULL;
}

bool blocks_shown(const struct team *team, const struct blocks *blocks, struct blocks *shown) {
    if (team->region_bytes == 0 || team->map_error[0] != 0) return false;
    size_t count = (size_t)blocks->count;
    char *low, *high;
    *shown = *blocks;
    if (span_of(blocks, &low, &high)) {
        const char *there = alias_of(team, low, (size_t)(high - low));
        if (!there) return false;
        shown->base = (char *)((uintptr_t)there + (uintptr_t)(blocks->base - low));
    }
    if (blocks->counts && !alias(team, &shown->counts, count * blocks->count_width)) return false;
    if (blocks->displs && !alias(team, &shown->displs, count * blocks->displ_width)) return false;
    if (!blocks->layouts) return blocks->layout->run || alias_of(team, blocks->layout, layout_footprint(blocks->layout));
    for (size_t b = 0; b < count; b++)
        if (!alias_of(team, blocks->layouts[b], layout_footprint(blocks->layouts[b]))) return false;
    return alias_of(team, blocks->layouts, count * sizeof *blocks->layouts);
}

/* Packs bytes at .. at + room of the stream to the area. */
static void pack_part(char *to, const struct blocks *blocks, size_t at, size_t bytes) {
    size_t start = 0;
    for (int b = 0; b < blocks->count && start < at + bytes; b++) {
        struct block block = block_of(blocks, b);
        size_t length = block_bytes(&block), end = start + length;
        if (end > at) {
            size_t from = start < at ? at - start : 0, upto = end < at + bytes ? length : at + bytes - start;
            if (from == 0 && upto == length) layout_pack(to, block.at, block.layout, block.elements);
            else layout_pack_part(to, block.at, block.layout, block.elements, from, upto - from);
            to += upto - from;
        }
        start = end;
    }
}

static void write_starts(char *area, const struct blocks *blocks) {
    uint64_t *starts = (uint64_t *)(void *)area, at = 0;
    for (int b = 0; b < blocks->count; b++) {
        struct block block = block_of(blocks, b);
        starts[b] = at;
        at += block_bytes(&block);
    }
    starts[blocks->count] = at;
}

void offer_make(const struct team *team, struct offer *offer, char *area, size_t room, size_t most, const struct blocks *blocks) {
    size_t bytes = blocks_bytes(blocks), head = starts_bytes(blocks->count);
    bool fits = head + bytes <= room;
    offer->bytes = bytes;
    if (!(fits && bytes <= most) && blocks_shown(team, blocks, &offer->blocks)) {
        offer->how = OFFER_STRAIGHT;
        offer->region = (uintptr_t)team->region;
        if (!blocks->layouts) offer->layout = *blocks->layout;
        return;
    }
    offer->how = fits ? OFFER_STAGED : OFFER_PART;
    offer->at = 0;
    offer->window = fits ? bytes : room - head;
    write_starts(area, blocks);
    pack_part(area + head, blocks, 0, offer->window);
    offer->count = blocks->count;
}

bool offer_next(struct offer *offer, char *area, const struct blocks *blocks) {
    if (offer->how != OFFER_PART || offer->at + offer->window >= offer->bytes) return false;
    offer->at += offer->window;
    pack_part(area + starts_bytes(blocks->count), blocks, offer->at, offer->window);
    return true;
}

/* The owner's address in my address space. */
static inline const void *here(uintptr_t delta, const void *there) { return (const void *)((uintptr_t)there + delta); }

static void take_straight(const struct team *team, int owner, const struct offer *offer, int index, const struct block *mine,
                          const struct copier *copier) {
    uintptr_t delta = team->peers[0][owner] - (uintptr_t)offer->region;
    struct blocks theirs = offer->blocks;
    if (theirs.layouts) {
        const struct layout *const *layouts = here(delta, theirs.layouts);
        theirs.layout = here(delta, layouts[index]);
        theirs.layouts = NULL;
    } else {
        theirs.layout = offer->layout.run ? &offer->layout : here(delta, theirs.layout);
    }
    theirs.base += delta;
    if (theirs.counts) theirs.counts = here(delta, theirs.counts);
    if (theirs.displs) theirs.displs = here(delta, theirs.displs);
    struct block block = block_of(&theirs, index);
    if (block.at == mine->at) return; /* in place */
    layout_copy(mine->at, mine->layout, mine->elements, block.at, block.layout, block.elements, copier);
}

bool offer_take(const struct team *team, int owner, const struct offer *offer, const char *area, int index,
                const struct block *mine, const struct copier *copier) {
    if (offer->how == OFFER_STRAIGHT) {
        take_straight(team, owner, offer, index, mine, copier);
        return true;
    }
    const uint64_t *starts = (const uint64_t *)(const void *)area;
    const char *data = area + starts_bytes(offer->count);
    uint64_t begin = starts[index], end = starts[index + 1], upto = offer->at + offer->window;
    uint64_t from = begin > offer->at ? begin : offer->at, to = end < upto ? end : upto;
    if (from >= to) return end <= upto;
    data += from - offer->at;
    if (from == begin && to == end) layout_unpack(mine->at, mine->layout, mine->elements, data, to - from);
    else layout_unpack_part(mine->at, mine->layout, mine->elements, from - begin, data, to - from);
    return end <= upto;
}
