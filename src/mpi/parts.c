/* SPDX-License-Identifier: BSD-3-Clause */
/* parts - the collectives that move blocks of any counts, places and types: alltoallv, alltoallw,
 * allgatherv, the rooted and the neighbourhood ones. Both sides are described as layouts. The MPI
 * library packs types that do not compile to a layout, and buffers on a device. A long send buffer
 * that peers cannot reach is copied into the heap. */
#include "mpi/calls.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ---- one side as blocks ---- */

struct side {
    const struct half *half;
    /* blocks: for the algorithm; user: as the program gave them, if they were packed. */
    struct blocks blocks, user;
    char *packed;          /* scratch; NULL: the user's memory is used */
    bool device;           /* the user's memory lies on a device */
    int64_t *kept;         /* the team's memory for tables; NULL: tables are scratch */
    void *tables, *copies; /* scratch; NULL: none */
};

static MPI_Datatype type_at(const struct half *half, int b) {
    return half->types ? half->types[b] : half->type;
}

/* Sets the layouts of all blocks. False: a type does not compile, or no memory. */
HOT static bool parts_compile(struct side *side, const struct team *team, const struct half *half) {
    struct blocks *blocks = &side->blocks;
    if (!half->types) {
        blocks->layout = layout_of(half->type);
        return blocks->layout != NULL;
    }
    size_t bytes = (size_t)(blocks->count ? blocks->count : 1) * sizeof(struct layout *);
    if (!side->kept) side->tables = shown_alloc(team, bytes);
    const struct layout **layouts = side->kept ? (void *)side->kept : side->tables;
    blocks->layouts = layouts;
    const struct layout *any = NULL;
    for (int b = 0; layouts && b < blocks->count; b++) {
        bool empty = entry_of(blocks->counts, blocks->count_width, b) == 0;
        layouts[b] = empty ? NULL : layout_of(half->types[b]);
        if (!empty && !layouts[b]) return false;
        if (!empty) any = layouts[b];
    }
    /* An empty block may have an invalid type. Its layout may still be read by peers, so it gets a
     * valid one. */
    for (int b = 0; layouts && b < blocks->count; b++)
        if (!layouts[b]) layouts[b] = any ? any : &layout_bytes;
    return layouts != NULL;
}

/* Elements of block b, and its address, from the program's arguments and not from a layout. */
static MPI_Count elements_at(const struct blocks *blocks, int b) {
    return blocks->counts ? (MPI_Count)entry_of(blocks->counts, blocks->count_width, b)
                          : (MPI_Count)blocks->each;
}
static char *place_at(const struct side *side, int b) {
    const struct blocks *blocks = &side->user;
    MPI_Aint lb, extent = 1;
    if (side->half->types) return blocks->base + entry_of(blocks->displs, blocks->displ_width, b);
    PMPI_Type_get_extent(type_at(side->half, b), &lb, &extent);
    if (blocks->displs)
        return blocks->base + entry_of(blocks->displs, blocks->displ_width, b) * extent;
    return blocks->base + b * (MPI_Aint)blocks->each * extent;
}

/* Packs all blocks from the user's memory, or unpacks them to it. 0 or -errno. */
static int move_all(const struct side *side, bool pack) {
    const struct blocks *packed = &side->blocks;
    for (int b = 0; b < packed->count; b++) {
        struct block block = block_of(packed, b);
        struct typed typed = {type_at(side->half, b), elements_at(&side->user, b), side->device};
        if (block.elements == 0) continue;
        int error = move_blocks(&typed, place_at(side, b), 1, block.at, pack);
        if (error) return error;
    }
    return 0;
}

/* Makes side->blocks describe scratch memory in which the blocks lie packed, one after the other.
 * False: no memory. */
static bool repack(struct side *side, const struct team *team) {
    struct blocks *blocks = &side->blocks;
    size_t count = (size_t)blocks->count, room = count ? count : 1, all = 0;
    side->user = *blocks;
    int64_t *tables =
        side->kept ? side->kept + count : shown_alloc(team, 2 * room * sizeof *tables);
    if (!tables) return false;
    for (size_t b = 0; b < count; b++) {
        size_t bytes = 0, elements = (size_t)elements_at(blocks, (int)b);
        if (elements > 0 && !type_bytes(type_at(side->half, (int)b), &bytes)) bytes = 0;
        tables[b] = (int64_t)(elements * bytes);
        tables[count + b] = (int64_t)all;
        all += elements * bytes;
    }
    side->packed = shown_alloc(team, all);
    *blocks = (struct blocks){.base = side->packed,
                              .count = (int)count,
                              .layout = &layout_bytes,
                              .counts = tables,
                              .displs = tables + count,
                              .unit = 1,
                              .count_width = 8,
                              .displ_width = 8};
    shown_free(side->tables);
    side->tables = side->kept ? NULL : tables;
    return side->packed != NULL;
}

HOT static void parts_describe(struct side *side, const struct request *r, const struct half *half,
                               int count) {
    uint8_t width = entry_width(r);
    *side = (struct side){.half = half, .kept = side->kept};
    side->blocks = (struct blocks){.base = (char *)(uintptr_t)half->buffer,
                                   .count = count,
                                   .counts = half->counts,
                                   .displs = half->displs,
                                   .each = (size_t)half->count,
                                   .unit = 1,
                                   .count_width = width,
                                   .displ_width = displ_width(r)};
    if (count != 0) return;
    side->blocks.layout = &layout_bytes;
    side->blocks.counts = side->blocks.displs = NULL;
}

/* If peers cannot read the program's counts and displacements, these are copied to the heap. False:
 * they cannot read the layouts either, or no memory. */
static bool show_tables(struct side *side, const struct team *team) {
    struct blocks *blocks = &side->blocks, shown = *blocks;
    if (tables_shown(team, blocks, SHOW_ASK, &shown)) return true;
    size_t counts = blocks->counts ? (size_t)blocks->count * blocks->count_width : 0;
    size_t displs = blocks->displs ? (size_t)blocks->count * blocks->displ_width : 0;
    char *copies = side->copies = counts + displs > 0 ? shown_alloc(team, counts + displs) : NULL;
    if (!copies) return false;
    if (displs > 0) blocks->displs = memcpy(copies, blocks->displs, displs);
    if (counts > 0) blocks->counts = memcpy(copies + displs, blocks->counts, counts);
    shown = *blocks;
    return tables_shown(team, blocks, SHOW_ASK, &shown);
}

/* Makes a side that stays in the user's memory ready for peers. False: they cannot read what it
 * sends. */
static bool make_shown(struct side *side, const struct team *team, bool sends) {
    struct blocks shown;
    /* Nothing is shown if no rank reads peers' memory, or if the blocks are short enough to be
     * staged. */
    if (!team->figures.shares || team->map_error[0] != 0 ||
        blocks_bytes(&side->blocks) <= bounce_bytes)
        return true;
    bool tables = show_tables(side, team);
    return !sends || (tables && blocks_shown(team, &side->blocks, SHOW_ASK, &shown));
}

/* Is each block one contiguous run of bytes, as messages need it? */
static bool all_runs(const struct blocks *blocks) {
    bool runs = blocks->layouts || blocks->layout->run;
    for (int b = 0; blocks->layouts && b < blocks->count && runs; b++)
        runs = blocks->layouts[b]->run;
    return runs;
}

/* The needs of the algorithm for a side. shown: peers access it; away: it must not be the user's
 * memory; runs: each block is a contiguous run; device: the user's memory lies on a device. */
struct wants {
    bool shown, away, runs, device;
};

/* Makes a side ready for the algorithm. sends: it is the send side. 0 or -errno. */
HOT static int make_side(struct side *side, const struct request *r, struct team *team,
                         const struct half *half, int count, bool sends, struct wants wants) {
    parts_describe(side, r, half, count);
    struct blocks *blocks = &side->blocks;
    side->device = wants.device;
    if (count == 0) return 0;
    bool compiled = parts_compile(side, team, half), away = wants.away || wants.device;
    if (compiled && half->displs && !half->types) blocks->unit = blocks->layout->extent;
    if (compiled && wants.runs && !all_runs(blocks)) away = true;
    if (compiled && !away && wants.shown && !make_shown(side, team, sends)) away = true;
    if (compiled && !away) return 0;
    if (!repack(side, team)) return -ENOMEM;
    return sends ? move_all(side, true) : 0;
}

HOT static void free_side(struct side *side) {
    if (!side->packed && !side->tables && !side->copies) return; /* mostly; free(NULL) is no jump */
    shown_free(side->packed);
    shown_free(side->tables);
    shown_free(side->copies);
}

void parts_in_place(const struct request *r, const struct team *team, struct half *half) {
    *half = r->recv;
    if (r->collective != COLL_allgatherv) return;
    MPI_Aint lb, extent = 0;
    PMPI_Type_get_extent(r->recv.type, &lb, &extent);
    uint8_t width = entry_width(r);
    half->buffer =
        (const char *)r->recv.buffer + entry_of(r->recv.displs, width, team->me) * extent;
    half->count = (MPI_Count)entry_of(r->recv.counts, width, team->me);
    half->counts = half->displs = NULL;
}

/* Is a truncated block an error? Not if this MPI library lets it pass, so that a program that works
 * without mortar still works. Over nodes equal blocks have room for the longer of two lengths, and
 * the shorter look truncated. */
static bool tells_of_cuts(const struct team *team, const struct shape *shape) {
    enum collective c = shape->collective;
    if (!among(c, NEIGHBORS)) return true;
    bool two = team->wire && !shape->unsized && team->neighbours[neighbourhood_of(c)]->lengths == 2;
    return host.open_mpi && !two;
}

static struct answer parts_end(const struct request *r, struct team *team, struct plan **plan,
                               const struct call *call, enum outcome outcome) {
    if (outcome == LEFT) {
        *plan = plan_left(team, &call->shape);
        return returns(r->native(r));
    }
    if (outcome != FAILED && !blocks_cut) return returns(MPI_SUCCESS);
    if (!blocks_cut) return fails(MPI_ERR_OTHER);
    return tells_of_cuts(team, &call->shape) ? fails(MPI_ERR_TRUNCATE) : returns(MPI_SUCCESS);
}

HOT struct block_counts parts_extent(const struct request *r, struct team *team,
                                     const struct neighbours **neighbours) {
    struct standing at = {.p = team->p, .me = team->me};
    *neighbours =
        among(r->collective, NEIGHBORS) ? neighbours_of(r->comm, team, r->collective) : NULL;
    if (*neighbours) at.outs = (*neighbours)->outs, at.ins = (*neighbours)->ins;
    return extent_of(r, &at);
}

HOT static struct answer parts_run(const struct request *r, struct team *team, struct plan **plan,
                                   const struct shape *shape) {
    const struct neighbours *neighbours;
    struct block_counts extent = parts_extent(r, team, &neighbours);
    struct half send_half = r->send;
    /* A buffer that is not significant may have any value, even MPI_IN_PLACE. */
    bool in_place =
        (among(r->collective, SCATTERS) ? r->recv.buffer : r->send.buffer) == MPI_IN_PLACE;
    bool rewritten = in_place && among(r->collective, ALLTOALLS);
    if (in_place && among(r->collective, EXCHANGES)) {
        extent.sends = rewritten ? team->p : 1;
        parts_in_place(r, team, &send_half);
    }

    int64_t *kept = parts_tables(r->collective, team, neighbours);
    int most = neighbours && extent.sends > team->p ? extent.sends : team->p;
    struct side send = {.kept = kept}, recv = {.kept = kept ? kept + parts_words * most : NULL};
    const void *sent = extent.sends ? send_half.buffer : NULL;
    const void *received = extent.recvs ? r->recv.buffer : NULL;
    bool device = on_device(team, sent, received);
    bool others_write = !orders[(*plan)->arguments.walk.order].own_dest;
    const struct algorithm_code *code = (*plan)->algorithm->code;
    bool near = code->where == ON_NODE, runs = !near && !code->any_layout;
    if (rewritten && !near && code->copies_in) rewritten = false;
    int failed = make_side(&send, r, team, &send_half, extent.sends, true,
                           (struct wants){near, rewritten, runs, device});
    int last = make_side(&recv, r, team, &r->recv, extent.recvs, false,
                         (struct wants){near && others_write, false, runs, device});
    if (!failed) failed = last;
    /* Blocks that nobody sends are unpacked with the others, so they are packed first to keep their
     * contents. */
    bool nobody = (neighbours && neighbours->from_count < neighbours->ins) ||
                  (among(r->collective, GATHERS) && in_place);
    if (!failed && recv.packed && nobody) failed = move_all(&recv, true);
    struct call call = {.shape = *shape,
                        .in_place = in_place,
                        .sends = &send.blocks,
                        .recvs = &recv.blocks,
                        .longest = failed ? 0 : parts_longest(r->collective, &recv.blocks),
                        .root = r->root,
                        .neighbours = neighbours,
                        .trouble = failed ? NO_MEMORY : 0};
    blocks_cut = false;
    enum outcome outcome = code->run(team, &call, &(*plan)->arguments);
    if (failed && outcome != LEFT) outcome = FAILED, blocks_cut = false;
    bool whole = outcome != FAILED && outcome != LEFT;
    if (whole && recv.packed && move_all(&recv, false) != 0) outcome = FAILED, blocks_cut = false;
    struct answer answer = parts_end(r, team, plan, &call, outcome);
    free_side(&send);
    free_side(&recv);
    return answer;
}

const struct family family_parts = {.look = parts_look,
                                    .tell = parts_tell,
                                    .agree = parts_agree,
                                    .run = parts_run,
                                    .prepare = parts_prepare,
                                    .end = parts_end};
