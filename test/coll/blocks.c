/* SPDX-License-Identifier: BSD-3-Clause */
/* blocks - lays out a call that moves blocks: which block of this rank goes to or comes from whom,
 * how long it is, of which type, and where it lies: in any order in memory, with gaps, to send from
 * even over others; counts and displacements where the program may have them: in the heap, in
 * static data, on the stack. */
#include "driver.h"

#include <stdlib.h>
#include <string.h>

/* What both ends of a block agree on. */
struct agreed {
    size_t elements; /* basic ones */
    int family;
};

static size_t elements_for(const struct trial *t, uint64_t number) {
    size_t units = (size_t)t->units;
    switch (t->shape) {
    case UNIFORM: units = number % (units + 1); break;
    case SPARSE: units = number % 4 ? 0 : units; break;
    case ONE_HUGE: units = number >> 8 & 7 ? number % 3 : 4 * units; break;
    default: break;
    }
    return units * (size_t)t->unit;
}

static uint64_t number_for(const struct trial *t, int source, int dest, int in) {
    switch (traits[t->collective].pattern) {
    case TO_ALL:
        if (t->in_place && source > dest) return mix(t->seed, (uint64_t)dest, (uint64_t)source, 0);
        return mix(t->seed, (uint64_t)source, (uint64_t)dest, 0);
    case FROM_ROOT: return mix(t->seed, (uint64_t)dest, 1, 0);
    case EDGES: return mix(t->seed, (uint64_t)source, (uint64_t)dest, (uint64_t)in);
    default: return mix(t->seed, (uint64_t)source, 2, 0);
    }
}

size_t block_elements(const struct trial *t, int source, int dest, int in) {
    return elements_for(t, number_for(t, source, dest, in));
}

static struct agreed agreed_on(const struct trial *t, int source, int dest, int in) {
    uint64_t number = number_for(t, source, dest, in);
    struct agreed agreed = {elements_for(t, number), t->family};
    if (traits[t->collective].has & TYPES && t->typing != ALIKE)
        agreed.family = (int)(number >> 32) % (t->typing == PLAIN ? 3 : families);
    if (agreed.family < 0) agreed.family = -agreed.family;
    return agreed;
}

/* ---- who exchanges with whom ---- */

static void add_edge(struct ready *c, struct agreed *sent, struct agreed *received,
                     struct edge edge) {
    const struct trial *t = c->trial;
    int me = t->place->me;
    struct agreed agreed = agreed_on(t, edge.source, edge.dest, edge.in);
    if (edge.source == me) {
        c->to[c->to_count++] = (struct match){edge.out, edge.dest, 16 + edge.in};
        if (c->send.used) sent[edge.out] = agreed;
    }
    if (edge.dest == me) {
        c->from[c->from_count++] = (struct match){edge.in, edge.source, 16 + edge.in};
        if (c->recv.used) received[edge.in] = agreed;
    }
}

/* Tags of ordinary collectives need not tell blocks apart, so `in` of the edge is the block. */
static void add_edges(struct ready *c, struct agreed *sent, struct agreed *received) {
    const struct trial *t = c->trial;
    const struct place *place = t->place;
    enum pattern pattern = traits[t->collective].pattern;
    int p = place->p, me = place->me;
    for (int i = 0; i < p; i++) {
        switch (pattern) {
        case TO_ALL:
            add_edge(c, sent, received, (struct edge){me, i, i, me});
            if (i != me) add_edge(c, sent, received, (struct edge){i, me, me, i});
            break;
        case SPREAD:
            add_edge(c, sent, received, (struct edge){me, i, t->in_place ? me : 0, me});
            if (i != me) add_edge(c, sent, received, (struct edge){i, me, 0, i});
            break;
        case TO_ROOT:
            if ((i == me || me == t->root) && !(t->in_place && i == t->root))
                add_edge(c, sent, received, (struct edge){i, t->root, 0, i});
            break;
        case FROM_ROOT:
            if ((i == me || me == t->root) && !(t->in_place && i == t->root))
                add_edge(c, sent, received, (struct edge){t->root, i, i, 0});
            break;
        case ROOTS:
            if ((i == me || me == t->root) && i != t->root)
                add_edge(c, sent, received, (struct edge){t->root, i, 0, 0});
            break;
        default: break;
        }
    }
    for (int e = 0; e < place->edge_count && (pattern == EDGES || pattern == EDGES_SPREAD); e++) {
        struct edge edge = edges_for(place, t->collective)[e];
        if (pattern == EDGES_SPREAD) edge.out = 0;
        if (edge.source == me || edge.dest == me) add_edge(c, sent, received, edge);
    }
    /* In place, the root has its own block already; it counts for where the others lie. */
    if (t->in_place && me == t->root && pattern == TO_ROOT) received[me] = agreed_on(t, me, me, me);
    if (t->in_place && me == t->root && pattern == FROM_ROOT) sent[me] = agreed_on(t, me, me, 0);
    if (pattern == ROOTS && me == t->root) sent[0] = agreed_on(t, me, me, 0);
}

static void count_sides(struct ready *c) {
    const struct trial *t = c->trial;
    const struct place *place = t->place;
    int p = place->p, root = place->me == t->root;
    static const struct {
        bool send_all, recv_all;
    } all[] = {[TO_ALL] = {1, 1},
               [SPREAD] = {0, 1},
               [TO_ROOT] = {0, 1},
               [FROM_ROOT] = {1, 0},
               [ROOTS] = {0, 0}};
    enum pattern pattern = traits[t->collective].pattern;
    c->send.used = c->recv.used = true;
    if (pattern == EDGES || pattern == EDGES_SPREAD) {
        c->send.blocks = pattern == EDGES ? place->outs : 1;
        c->recv.blocks = place->ins;
        return;
    }
    c->send.blocks = all[pattern].send_all ? p : 1;
    c->recv.blocks = all[pattern].recv_all ? p : 1;
    if (pattern == TO_ROOT) c->recv.used = root;
    if (pattern == FROM_ROOT || pattern == ROOTS) c->send.used = root;
    if (pattern == ROOTS) c->recv.used = !root;
    if (!t->in_place) return;
    if (pattern == TO_ALL || pattern == SPREAD || (pattern == TO_ROOT && root))
        c->send.used = false;
    if (pattern == FROM_ROOT && root) c->recv.used = false;
}

/* ---- where the blocks lie ---- */

struct bounds {
    MPI_Aint extent, low, high; /* of one element */
};

static struct bounds bounds_of(MPI_Datatype type) {
    struct bounds b;
    MPI_Aint lb, true_extent;
    MPI_Type_get_extent(type, &lb, &b.extent);
    MPI_Type_get_true_extent(type, &b.low, &true_extent);
    b.high = b.low + true_extent;
    return b;
}

static ptrdiff_t end_of(const struct spot *spot, const struct bounds *b) {
    return spot->count > 0 ? (spot->count - 1) * b->extent + b->high : 0;
}

/* One behind the other in memory, in random order, with gaps; to send from, some anywhere among the
 * others. Displacements may be negative; those of blocks without elements are anything. */
static void scatter_spots(struct side *side, struct random *local, bool bytes, bool overlapping) {
    int *order = malloc((size_t)(side->blocks + 1) * sizeof *order);
    ptrdiff_t cursor = 0, widest = 1;
    bool shuffled = below(local, 2), gaps = below(local, 2);
    for (int i = 0; i < side->blocks; i++) order[i] = i;
    for (int i = side->blocks - 1; i > 0 && shuffled; i--) {
        int j = below(local, i + 1), swap = order[i];
        order[i] = order[j], order[j] = swap;
    }
    for (int i = 0; i < side->blocks; i++) {
        struct spot *spot = &side->spots[order[i]];
        struct bounds b = bounds_of(spot->type);
        ptrdiff_t unit = bytes ? (b.extent % 8 == 0 ? 8 : 1) : b.extent;
        if (unit > widest) widest = unit;
        if (spot->count == 0) {
            spot->displ = below(local, 2) ? (MPI_Aint)below(local, 1000000) : 0;
            continue;
        }
        ptrdiff_t from = cursor - b.low, displ = (from + unit - 1) / unit;
        if (from < 0) displ = 0;
        if (gaps) displ += below(local, 4);
        if (overlapping && below(local, 2)) displ = displ * below(local, 16) / 16;
        spot->at = displ * unit;
        spot->displ = bytes ? spot->at : displ;
        if (spot->at + end_of(spot, &b) > cursor) cursor = spot->at + end_of(spot, &b);
    }
    free(order);
    int shift = below(local, 3) ? 0 : below(local, 50);
    for (int i = 0; i < side->blocks && shift > 0; i++) {
        struct spot *spot = &side->spots[i];
        if (spot->count == 0) continue;
        ptrdiff_t unit = bytes ? 8 : bounds_of(spot->type).extent;
        spot->at -= shift * unit;
        spot->displ -= bytes ? shift * unit : shift;
    }
}

static void make_spots(struct ready *c, struct side *side, struct random *local,
                       const struct agreed *agreed, bool sends) {
    const struct trial *t = c->trial;
    const struct traits *has = &traits[t->collective];
    bool counts = has->has & (sends ? SEND_COUNTS : RECV_COUNTS), types = has->has & TYPES;
    const struct layout *one = t->typing == MIXED ? layout_any(local, t->family, sends) : t->layout;
    for (int b = 0; b < side->blocks; b++) {
        const struct layout *layout = one;
        if (types && t->typing != ALIKE)
            layout = t->typing == PLAIN ? layout_basic(agreed[b].family)
                                        : layout_any(local, agreed[b].family, sends);
        side->spots[b] =
            (struct spot){layout, layout->type, (int)agreed[b].elements / layout->elements, 0, 0};
    }
    side->type = one->type;
    side->count = counts ? 0 : (int)((size_t)t->units * (size_t)t->unit) / one->elements;
    /* Of a v collective the side with one block. */
    if (!counts && side->blocks > 0) side->count = side->spots[0].count;
    /* Open MPI 4.1 takes the displacements of an alltoallw on one rank for elements, not bytes. */
    bool near = t->collective == COLL_alltoallw && t->place->p == 1;
    if (counts && !near) {
        scatter_spots(side, local, types, sends && !t->in_place && below(local, 3) == 0);
        return;
    }
    struct bounds bounds = bounds_of(side->type);
    for (int b = 0; b < side->blocks; b++)
        side->spots[b].at = (ptrdiff_t)b * side->count * bounds.extent;
    /* Open MPI hangs in allgatherv where a rank without data names an empty type: it goes by the
     * size of the own type. */
    bool left = t->native || t->by_host ||
                (t->collective == COLL_allgatherv && (!t->plan || t->place->apart));
    if (sends && side->count == 0 && !left && below(local, 3) == 0)
        side->type = empty_type, side->count = 5;
}

static enum kind kind_of(const struct trial *t, struct random *local) {
    if (t->buffers == 0) return KIND_heap;
    return t->buffers == 1 ? (enum kind)(1 + below(local, KINDS - 1))
                           : (enum kind)below(local, KINDS);
}

static bool make_buffer(struct ready *c, struct side *side, struct random *local) {
    ptrdiff_t low = 0, high = 0;
    bool bytes = true;
    for (int b = 0; b < side->blocks; b++) {
        struct spot *spot = &side->spots[b];
        if (spot->count == 0) continue;
        struct bounds bounds = bounds_of(spot->type);
        if (spot->at + bounds.low < low) low = spot->at + bounds.low;
        if (spot->at + end_of(spot, &bounds) > high) high = spot->at + end_of(spot, &bounds);
        bytes = bytes && spot->layout->family == 0;
    }
    int offset = bytes ? below(local, 8) : 8 * below(local, 2);
    return buffer_make(&side->buffer, kind_of(c->trial, local), low, high, offset);
}

/* ---- what MPI gets ---- */

static void *put(void *table, int width, int at, MPI_Aint value) {
    if (width == 8) ((int64_t *)table)[at] = (int64_t)value;
    else ((int32_t *)table)[at] = (int32_t)value;
    return table;
}

/* Writes the tables of a side from `memory` on; returns the end. */
static char *write_tables(const struct trial *t, struct side *side, char *memory, bool sends) {
    const struct traits *has = &traits[t->collective];
    bool large = false;
#if MPI_VERSION >= 4
    large = t->large;
#endif
    int width = large ? 8 : 4, displ_width = large || has->has & WIDE ? 8 : 4;
    if (!side->used || !(has->has & (sends ? SEND_COUNTS : RECV_COUNTS))) return memory;
    side->counts = memory;
    side->displs = memory + 8 * side->blocks;
    side->types = (MPI_Datatype *)(void *)(memory + 16 * side->blocks);
    for (int b = 0; b < side->blocks; b++) {
        put(side->counts, width, b, side->spots[b].count);
        put(side->displs, displ_width, b, side->spots[b].displ);
        side->types[b] = side->spots[b].type;
    }
    return memory + 24 * side->blocks;
}

static void unused(struct side *side, bool in_place) {
    side->memory = in_place ? MPI_IN_PLACE : NULL;
    side->type = MPI_BYTE;
    side->count = 3;
}

bool blocks_ready(struct ready *c, struct random *local) {
    const struct trial *t = c->trial;
    count_sides(c);
    int most = c->send.blocks + c->recv.blocks + 2 * t->place->p + 2;
    if (traits[t->collective].pattern >= EDGES) most += t->place->edge_count;
    struct agreed *agreed = calloc(2 * (size_t)most, sizeof *agreed), *received = agreed + most;
    c->to = calloc(2 * (size_t)most, sizeof *c->to);
    c->from = c->to + most;
    c->send.spots = calloc((size_t)most, sizeof *c->send.spots);
    c->recv.spots = calloc((size_t)most, sizeof *c->recv.spots);
    for (int b = 0; b < most; b++) { /* neighbours that are nobody have blocks too */
        size_t elements =
            t->shape == EQUAL ? (size_t)(t->units * t->unit) : (size_t)(below(local, 3) * t->unit);
        agreed[b] = received[b] = (struct agreed){elements, t->family};
    }
    add_edges(c, agreed, received);
    if (c->send.used) make_spots(c, &c->send, local, agreed, true);
    if (c->recv.used) make_spots(c, &c->recv, local, received, false);
    free(agreed);
    if (!c->send.used) c->send.blocks = 0;
    if (!c->recv.used) c->recv.blocks = 0;
    enum kind kind = (enum kind)below(local, 3);
    if (!make_buffer(c, &c->send, local) || !make_buffer(c, &c->recv, local)) return false;
    if (!buffer_make(&c->tables, kind, 0, 24 * (c->send.blocks + c->recv.blocks) + 24, 0))
        return false;
    char *end = write_tables(t, &c->send, c->tables.base, true);
    write_tables(t, &c->recv, end, false);
    c->send.memory = c->send.buffer.base;
    c->recv.memory = c->recv.buffer.base;
    if (!c->send.used) unused(&c->send, t->in_place && c->recv.used);
    if (!c->recv.used) unused(&c->recv, t->in_place && c->send.used);
    return true;
}
