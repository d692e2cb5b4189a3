/* SPDX-License-Identifier: BSD-3-Clause */
/* offers - see offers.h. The area begins with a table of where each block starts in the packed
 * stream, unless all are equally long. */
#include "coll/node/offers.h"

#include <stdlib.h>
#include <string.h>

_Thread_local bool blocks_cut;

size_t blocks_bytes(const struct blocks *blocks) {
    size_t each;
    return measure_blocks(blocks, &each);
}

size_t longest_of(const struct blocks *blocks) {
    size_t longest = 0;
    for (int b = 0; b < blocks->count; b++) {
        struct block block = block_of(blocks, b);
        if (block_bytes(&block) > longest) longest = block_bytes(&block);
    }
    return longest;
}

/* The address in my region at which peers find this memory; NULL: they cannot. It may differ from
 * the memory's own address: static data have another place in the region. */
static const void *alias_of(const struct team *team, const void *memory, size_t bytes,
                            enum showing how) {
    uint64_t offset;
    bool shown = team_shows(team, memory, bytes, how, &offset) == SHOWN;
    return shown ? team->region + offset : NULL;
}

static bool alias(const struct team *team, const void **memory, size_t bytes, enum showing how) {
    if (*memory) *memory = alias_of(team, *memory, bytes, how);
    return *memory != NULL;
}

/* The range of addresses that all blocks span. False: there are no data. */
static bool offers_span_of(const struct blocks *blocks, char **low, char **high) {
    *low = *high = NULL;
    for (int b = 0; b < blocks->count; b++) {
        struct block block = block_of(blocks, b);
        if (block_bytes(&block) == 0) continue;
        ptrdiff_t last = (ptrdiff_t)(block.elements - 1) * block.layout->extent;
        char *from = away_from(block.at, block.layout->low + (last < 0 ? last : 0));
        char *to = away_from(block.at, block.layout->high + (last > 0 ? last : 0));
        if (!*low || from < *low) *low = from;
        if (!*high || to > *high) *high = to;
    }
    return *low != NULL;
}

/* Does every byte of the span belong to a block? Draws the blocks on a map of it. */
static bool covers(const struct blocks *blocks, const char *low, size_t span) {
    size_t longest = longest_of(blocks) + 1;
    char *map = calloc(1, span), *ones = malloc(longest);
    if (map && ones) memset(ones, 1, longest);
    for (int b = 0; map && ones && b < blocks->count; b++) {
        struct block block = block_of(blocks, b);
        ptrdiff_t at = (ptrdiff_t)((uintptr_t)block.at - (uintptr_t)low);
        layout_unpack(away_from(map, at), block.layout, block.elements, ones, block_bytes(&block));
    }
    bool all = map && ones && !memchr(map, 0, span);
    free(map);
    free(ones);
    return all;
}

/* Shows the span of blocks. Between blocks may lie what other threads write meanwhile, so that the
 * span must not move unless there is nothing between. Blocks that are received do not overlap, so
 * their lengths tell. */
static enum shown span_shown(const struct team *team, const struct blocks *blocks, const char *low,
                             size_t span, enum showing how, uint64_t *offset) {
    bool full = blocks_bytes(blocks) >= span;
    if (full && how & SHOW_TO_WRITERS) return team_shows(team, low, span, how, offset);
    enum shown shown = team_shows(team, low, span, how | SHOW_GAPS, offset);
    if (shown != SHOWN_LATER || !full || !covers(blocks, low, span)) return shown;
    return team_shows(team, low, span, how | SHOW_NOW, offset);
}

/* The counts, displacements and layouts. */
HOT bool tables_shown(const struct team *team, const struct blocks *blocks, enum showing how,
                      struct blocks *shown) {
    size_t count = (size_t)blocks->count;
    const struct layout *const *all = blocks->layouts, *one = blocks->layout;
    how &= SHOW_ASK; /* peers only read them */
    if (blocks->counts && !alias(team, &shown->counts, count * blocks->count_width, how))
        return false;
    if (blocks->displs && !alias(team, &shown->displs, count * blocks->displ_width, how))
        return false;
    if (!all) return one->run || alias_of(team, one, layout_footprint(one), how);
    for (size_t b = 0; b < count; b++)
        if ((b == 0 || all[b] != all[b - 1]) &&
            !alias_of(team, all[b], layout_footprint(all[b]), how))
            return false;
    return alias_of(team, all, count * sizeof *all, how);
}

bool blocks_shown(const struct team *team, const struct blocks *blocks, enum showing how,
                  struct blocks *shown) {
    if (team->region_bytes == 0 || team->map_error[0] != 0) return false;
    char *low, *high;
    uint64_t offset;
    *shown = *blocks;
    if (offers_span_of(blocks, &low, &high)) {
        if (span_shown(team, blocks, low, (size_t)(high - low), how, &offset) != SHOWN)
            return false;
        shown->base = (char *)((uintptr_t)team->region + offset + (uintptr_t)(blocks->base - low));
    }
    return tables_shown(team, blocks, how, shown);
}

HOT size_t measure_blocks(const struct blocks *blocks, size_t *each) {
    *each = 0;
    if (blocks->count == 0) return 0;
    struct block block = block_of(blocks, 0);
    size_t bytes = *each = block_bytes(&block);
    if (!blocks->counts && !blocks->layouts) return bytes * (size_t)blocks->count;
    for (int b = 1; b < blocks->count; b++) {
        block = block_of(blocks, b);
        size_t length = block_bytes(&block);
        if (length != *each) *each = SIZE_MAX;
        bytes += length;
    }
    return bytes;
}

/* Sets offer->count, ->bytes, ->each and ->even from the blocks. */
HOT static void offers_measure(struct offer *offer, const struct blocks *blocks) {
    offer->count = blocks->count;
    offer->bytes = measure_blocks(blocks, &offer->each);
    offer->even = offer->each != SIZE_MAX;
}

static inline size_t table_bytes(const struct offer *offer) {
    return offer->even ? 0 : starts_bytes(offer->count);
}

/* ---- packing ---- */

/* Packs bytes at .. at + bytes of the packed stream. */
HOT static void pack_part(char *to, const struct blocks *blocks, size_t at, size_t bytes) {
    size_t start = 0;
    for (int b = 0; b < blocks->count && start < at + bytes; b++) {
        struct block block = block_of(blocks, b);
        size_t length = block_bytes(&block), end = start + length;
        if (end > at) {
            size_t from = start < at ? at - start : 0;
            size_t upto = end < at + bytes ? length : at + bytes - start;
            if (from == 0 && upto == length) pack_block(to, &block, length);
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

/* Fills the area from offer->at on. */
HOT static void offers_fill(struct offer *offer, char *area, size_t room,
                            const struct blocks *blocks) {
    size_t head = table_bytes(offer), left = offer->bytes - offer->at;
    offer->window = left < room - head ? left : room - head;
    if (head) write_starts(area, blocks);
    pack_part(area + head, blocks, offer->at, offer->window);
}

static void copy_first(struct offer *offer, char *area, size_t room, const struct blocks *blocks) {
    offer->how = table_bytes(offer) + offer->bytes <= room ? OFFER_STAGED : OFFER_PART;
    offer->at = 0;
    offers_fill(offer, area, room, blocks);
}

static bool offers_show(const struct team *team, struct offer *offer, const struct blocks *blocks,
                        enum showing how) {
    if (!blocks_shown(team, blocks, how, &offer->blocks)) return false;
    offer->how = OFFER_STRAIGHT;
    offer->region = (uintptr_t)team->region;
    if (!blocks->layouts) offer->layout = *blocks->layout;
    return true;
}

HOT void offer_copied(struct offer *offer, char *area, size_t room, const struct blocks *blocks) {
    offers_measure(offer, blocks);
    copy_first(offer, area, room, blocks);
}

bool offer_shown(const struct team *team, struct offer *offer, const struct blocks *blocks) {
    offers_measure(offer, blocks);
    return offers_show(team, offer, blocks, SHOW_TO_WRITERS);
}

void offer_taken_back(const struct team *team, const struct blocks *blocks) {
    char *low, *high;
    if (offers_span_of(blocks, &low, &high)) team_takes_back(team, low, (size_t)(high - low));
}

HOT void offer_make(const struct team *team, struct offer *offer, char *area, size_t room,
                    size_t most, const struct blocks *blocks) {
    offers_measure(offer, blocks);
    bool fits = table_bytes(offer) + offer->bytes <= room && offer->bytes <= most;
    if (fits || !offers_show(team, offer, blocks, SHOW_TO_READERS))
        copy_first(offer, area, room, blocks);
}

bool offer_next(struct offer *offer, char *area, size_t room, const struct blocks *blocks) {
    if (offer->how != OFFER_PART || offer->at + offer->window >= offer->bytes) return false;
    offer->at += offer->window;
    offers_fill(offer, area, room, blocks);
    return true;
}

/* ---- taking ---- */

/* An address of the owner, in my address space. */
static inline const void *here(uintptr_t delta, const void *there) {
    return (const void *)((uintptr_t)there + delta);
}

HOT struct block offer_block(const struct team *team, int owner, const struct offer *offer,
                             int index, bool writable) {
    uintptr_t delta = team->peers[writable][owner] - (uintptr_t)offer->region;
    struct blocks theirs = offer->blocks;
    if (theirs.layouts) {
        const struct layout *const *layouts = here(delta, theirs.layouts);
        theirs.layout = here(delta, layouts[index]);
        theirs.layouts = NULL;
    } else {
        theirs.layout = offer->layout.run ? &offer->layout : here(delta, theirs.layout);
    }
    theirs.base = away_from(theirs.base, (ptrdiff_t)delta);
    if (theirs.counts) theirs.counts = here(delta, theirs.counts);
    if (theirs.displs) theirs.displs = here(delta, theirs.displs);
    struct block block = block_of(&theirs, index);
    /* The layout copied into the offer has no loops, so it is used by its bytes. */
    if (block.layout->run) block.elements *= block.layout->size, block.layout = &layout_bytes;
    return block;
}

HOT void relay_block(const struct block *to, const struct block *from,
                     const struct copier *copier) {
    layout_copy(to->at, to->layout, to->elements, from->at, from->layout, from->elements, copier);
}

void relay_own(const struct blocks *to, int into, const struct blocks *from, int block) {
    static const struct copier plain = {.kernel = KERNEL_plain};
    struct block mine = block_of(from, block), place = block_of(to, into);
    fit_block(&place, block_bytes(&mine));
    relay_block(&place, &mine, &plain);
}

HOT bool relay_piece(const struct block *to, const struct block *from, const struct copier *copier,
                     size_t piece) {
    return layout_copy_piece(to->at, to->layout, to->elements, from->at, from->layout,
                             from->elements, copier, piece);
}

size_t offer_bytes(const struct team *team, int owner, const struct offer *offer, const char *area,
                   int index) {
    if (offer->how == OFFER_OVER) return 0;
    if (offer->how != OFFER_STRAIGHT) {
        const uint64_t *starts = (const uint64_t *)(const void *)area;
        return offer->even ? offer->each : starts[index + 1] - starts[index];
    }
    struct block theirs = offer_block(team, owner, offer, index, false);
    return block_bytes(&theirs);
}

HOT bool offer_take(const struct team *team, int owner, const struct offer *offer, const char *area,
                    int index, const struct block *mine, const struct copier *copier) {
    if (offer->how == OFFER_OVER) return true;
    if (offer->how == OFFER_STRAIGHT) {
        struct block theirs = offer_block(team, owner, offer, index, false);
        fit_block(mine, block_bytes(&theirs));
        relay_block(mine, &theirs, copier);
        return true;
    }
    const uint64_t *starts = (const uint64_t *)(const void *)area;
    const char *data = area + table_bytes(offer);
    uint64_t begin = offer->even ? (uint64_t)index * offer->each : starts[index];
    uint64_t end = offer->even ? begin + offer->each : starts[index + 1],
             upto = offer->at + offer->window;
    fit_block(mine, end - begin);
    uint64_t from = begin > offer->at ? begin : offer->at;
    uint64_t to = end < upto ? end : upto;
    if (from >= to) return end <= upto;
    data += from - offer->at;
    if (from != begin || to != end)
        layout_unpack_part(mine->at, mine->layout, mine->elements, data, from - begin, to - from);
    else put_block(mine, data, to - from);
    return end <= upto;
}
