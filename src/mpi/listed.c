/* SPDX-License-Identifier: BSD-3-Clause */
/* listed - known calls of parts.c, and all with counts, displacements and types for each block.
 * A program may write other ones into the same arrays, so a known call keeps a copy of them. It
 * is compared in each call, which costs less than looking at what they mean. Blocks that are
 * equal and lie back to back are described as such, in whatever form the call names them. */
#include "mpi/calls.h"

#include <string.h>

/* ---- the lists of a call ---- */

/* counts, displacements and types of a side */
static const void *list_at(const struct half *half, int which) {
    const void *lists[LISTS] = {half->counts, half->displs, half->types};
    return lists[which];
}

/* Entries have 4 or 8 bytes. */
HOT static inline bool same_words(const char *a, const char *b, size_t bytes) {
    uint64_t x, y;
    uint32_t u, v;
    if (bytes > 128) return memcmp(a, b, bytes) == 0;
    for (; bytes >= sizeof x; a += sizeof x, b += sizeof x, bytes -= sizeof x) {
        memcpy(&x, a, sizeof x);
        memcpy(&y, b, sizeof y);
        if (x != y) return false;
    }
    if (bytes == 0) return true;
    memcpy(&u, a, sizeof u);
    memcpy(&v, b, sizeof v);
    return u == v;
}

HOT static inline bool same_list(const char **kept, const void *now, size_t bytes) {
    const char *was = *kept;
    if (bytes == 0) return true;
    *kept += bytes;
    return now && same_words(was, now, bytes);
}

HOT static inline bool same_side(const char **kept, const uint16_t *bytes,
                                 const struct half *half) {
    return same_list(kept, half->counts, bytes[0]) && same_list(kept, half->displs, bytes[1]) &&
           same_list(kept, half->types, bytes[2]);
}

HOT bool lists_same(const struct lists *lists, const struct request *r) {
    const char *kept = lists->copy;
    return same_side(&kept, lists->bytes[0], &r->send) &&
           same_side(&kept, lists->bytes[1], &r->recv);
}

bool lists_again(struct lists *lists, const struct request *r, const struct block_counts *extent) {
    const struct half *halves[2] = {&r->send, &r->recv};
    const size_t widths[LISTS] = {entry_width(r), displ_width(r), sizeof(MPI_Datatype)};
    struct lists now;
    now.all = 0;
    for (int h = 0; h < 2; h++)
        for (int l = 0; l < LISTS; l++) {
            size_t blocks = (size_t)(h ? extent->recvs : extent->sends);
            size_t bytes = list_at(halves[h], l) ? blocks * widths[l] : 0;
            if (now.all + bytes > lists->room) return false;
            now.bytes[h][l] = (uint16_t)bytes;
            now.all = (uint16_t)(now.all + bytes);
        }
    if (lists->all == now.all && memcmp(lists->bytes, now.bytes, sizeof now.bytes) == 0 &&
        lists_same(lists, r))
        return true;
    lists->all = now.all;
    memcpy(lists->bytes, now.bytes, sizeof now.bytes);
    char *to = lists->copy;
    for (int h = 0; h < 2; h++)
        for (int l = 0; l < LISTS; to += now.bytes[h][l++])
            if (now.bytes[h][l] > 0) memcpy(to, list_at(halves[h], l), now.bytes[h][l]);
    return now.all == 0;
}

/* ---- a ready call ---- */

/* A layout that serves all blocks of a side, each of which is a run of bytes. NULL: there is none,
 * or a type's handle may come to mean another type. */
static const struct layout *common_layout(const struct request *r, const struct half *half,
                                          int blocks) {
    if (!half->types) return layout_of(half->type);
    const struct layout *common = NULL;
    for (int b = 0; b < blocks; b++) {
        MPI_Datatype type = half->types[b];
        bool empty = entry_of(half->counts, entry_width(r), b) == 0;
        /* The type of an empty block may be invalid, which one must not ask the MPI library. */
        if (!type_is_plain(type) && (empty || !type_is_predefined(type))) return NULL;
        if (empty) continue;
        const struct layout *layout = layout_of(type);
        if (!layout || !layout->run || (common && layout->size != common->size)) return NULL;
        common = layout;
    }
    return common ? common : &layout_bytes;
}

/* Are the blocks equal, and one behind the other? */
static bool lie_evenly(const struct blocks *blocks) {
    struct blocks even = *blocks;
    even.counts = even.displs = NULL;
    even.each = (size_t)entry_of(blocks->counts, blocks->count_width, 0);
    for (int b = 0; b < blocks->count; b++) {
        struct block is = block_of(blocks, b), would = block_of(&even, b);
        if (is.at != would.at || is.elements != would.elements) return false;
    }
    return true;
}

static bool describe(struct blocks *blocks, const struct request *r, const struct half *half,
                     int count) {
    *blocks = (struct blocks){.base = (char *)(uintptr_t)half->buffer,
                              .count = count,
                              .layout = &layout_bytes,
                              .each = (size_t)half->count,
                              .unit = 1,
                              .count_width = entry_width(r),
                              .displ_width = displ_width(r)};
    if (count == 0) return true;
    blocks->layout = common_layout(r, half, count);
    if (!blocks->layout || !blocks->layout->run) return false;
    blocks->counts = half->counts;
    blocks->displs = half->displs;
    if (half->displs && !half->types) blocks->unit = blocks->layout->extent;
    if (!blocks->counts || !blocks->displs || !lie_evenly(blocks)) return true;
    blocks->each = (size_t)entry_of(half->counts, entry_width(r), 0);
    blocks->counts = blocks->displs = NULL;
    return true;
}

bool parts_prepare(const struct request *r, struct team *team, struct ready *ready) {
    enum collective c = r->collective;
    struct half send_half = r->send;
    ready->call.in_place =
        (among(c, SCATTERS) ? r->recv.buffer : r->send.buffer) == MPI_IN_PLACE;
    int sends = ready->extent.sends;
    if (ready->call.in_place && among(c, EXCHANGES)) {
        if (c != COLL_allgatherv) return false;
        parts_in_place(r, team, &send_half);
        sends = 1;
    }
    if (!describe(&ready->sends, r, &send_half, sends) ||
        !describe(&ready->recvs, r, &r->recv, ready->extent.recvs))
        return false;
    /* Longer ones may have to be copied into the heap first. */
    if (blocks_bytes(&ready->sends) > bounce_bytes) return false;
    ready->brief = blocks_bytes(&ready->recvs) <= bounce_bytes;
    ready->call.sends = &ready->sends;
    ready->call.recvs = &ready->recvs;
    ready->call.longest = parts_longest(c, &ready->recvs);
    return true;
}

HOT void lists_enter(struct ready *ready, const struct request *r) {
    ready->reduction.counts = r->recv.counts;
    if (ready->sends.counts) ready->sends.counts = r->send.counts;
    if (ready->sends.displs) ready->sends.displs = r->send.displs;
    if (ready->recvs.counts) ready->recvs.counts = r->recv.counts;
    if (ready->recvs.displs) ready->recvs.displs = r->recv.displs;
}
