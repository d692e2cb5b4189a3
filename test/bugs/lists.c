/* SPDX-License-Identifier: BSD-3-Clause */
/* lists PATH - as alike, of calls with counts, displacements and types for each block: repeated a
 * few times, from two arrays in turn, in which then one thing is another: a count, a place, a type.
 * A rank decides for itself where its blocks lie and of what type they are, so some examine a call
 * that others know. Types of the program's own are made anew for each call, often under the handle
 * of another one before. Every result is checked, and that nothing beside it was written. The
 * report, written to PATH, must show all calls. */
#include "repeat.h"

#include <stdlib.h>
#include <string.h>

enum { steps = 8000, most_ranks = 8, most_blocks = 8, most_ints = 18, blank = -77 };
enum { room = most_blocks * most_ints * 2 };
enum { ALLTOALLV, ALLTOALLW, ALLGATHERV, GATHERV, SCATTERV, NEIGHBORV, NEIGHBORW, NEIGHBORG };
enum { KINDS = NEIGHBORG + 1 };
enum { EVEN, UNEVEN, SPARSE, LAST, PATTERNS };
enum { INTS, TWOS, PAIRS, TRIPLES, TYPES }; /* TWOS: pairs, predefined */

/* One call: these are the same on all ranks. */
struct look {
    int kind, pattern, count, root, in_place;
};
/* One side on one rank. */
struct side {
    int counts[most_blocks], displs[most_blocks], data[room], lies[room];
    MPI_Aint places[most_blocks];
    MPI_Datatype types[most_blocks];
    int kinds[most_blocks];
};

static int errors, calls[KINDS], p, me, order, gaps, slots, type_seed;
static unsigned long seed = 1, local_seed;
static MPI_Comm ring;
static struct side out, in;

static int chance(int of) { return roll(&seed, of); }

/* ---- what is sent, and what must come ---- */

/* Ints from rank s to rank d: a multiple of 6, so that they are pairs and triples as well. */
static int length(const struct look *look, int s, int d) {
    if (look->pattern == EVEN) return 6 * look->count;
    if (look->pattern == LAST) return d == p - 1 ? 6 * (1 + look->count % 3) : 6;
    if (look->pattern == UNEVEN) return 6 * (1 + (look->count + s + 2 * d) % 3);
    return (s + d + look->count) % 3 == 0 ? 6 * look->count : 0;
}
static int value(int t, int s, int d, int i) { return t * 1000 + s * 100 + d * 18 + i; }

static int is_personal(const struct look *look) {
    return look->kind != ALLGATHERV && look->kind != GATHERV && look->kind != NEIGHBORG;
}
static int is_neighbour(const struct look *look) { return look->kind >= NEIGHBORV; }
static int has_types(const struct look *look) {
    return look->kind == ALLTOALLW || look->kind == NEIGHBORW;
}

/* The rank at the other end of block b; in a ring blocks are of the left and the right one. */
static int peer(const struct look *look, int b) {
    return is_neighbour(look) ? (me + (b == 0 ? p - 1 : 1)) % p : b;
}
static int outs(const struct look *look) {
    if (is_neighbour(look)) return look->kind == NEIGHBORG ? 1 : 2;
    if (look->kind == SCATTERV) return me == look->root ? p : 0;
    return is_personal(look) ? p : 1;
}
static int ins(const struct look *look) {
    if (is_neighbour(look)) return 2;
    if (look->kind == GATHERV) return me == look->root ? p : 0;
    return look->kind == SCATTERV ? 1 : p;
}
static int sent(const struct look *look, int b) {
    return length(look, me, is_personal(look) ? peer(look, b) : 0);
}
static int source(const struct look *look, int b) {
    return look->kind == SCATTERV ? look->root : peer(look, b);
}
static int received(const struct look *look, int b) {
    return length(look, source(look, b), is_personal(look) ? me : 0);
}

/* ---- a side ---- */

/* Half of the time there are 6 elements, of another type where a block is longer. */
static int type_of(const struct look *look, int b, int ints) {
    if (!has_types(look)) return INTS;
    if (type_seed < TYPES) return (type_seed + b / 2) % TYPES;
    if (ints == 12) return type_seed % 2 ? PAIRS : TWOS;
    return ints == 18 ? TRIPLES : INTS;
}

static const int widths[TYPES] = {1, 2, 2, 3};

static void name_type(struct side *side, int b) {
    int kind = side->kinds[b];
    side->types[b] = kind == TWOS ? MPI_2INT : MPI_INT;
    if (kind < PAIRS) return;
    MPI_Type_contiguous(widths[kind], MPI_INT, &side->types[b]);
    MPI_Type_commit(&side->types[b]);
}

/* Block b gets the type and the place that this rank has for it now. */
static int lay(const struct look *look, struct side *side, int b, int ints, int at) {
    int kind = type_of(look, b, ints), width = widths[kind];
    side->kinds[b] = kind;
    side->counts[b] = ints / width;
    side->displs[b] = at * (has_types(look) ? (int)sizeof(int) : 1);
    side->places[b] = at * (MPI_Aint)sizeof(int);
    return at + (slots ? most_ints : ints);
}

static void lay_out(const struct look *look, struct side *side, int blocks,
                    int ints_of(const struct look *, int)) {
    int at = gaps;
    for (int k = 0; k < blocks; k++) {
        int b = order ? blocks - 1 - k : k;
        at = lay(look, side, b, ints_of(look, b), at) + gaps;
    }
    for (int b = 0; b < blocks; b++) name_type(side, b);
    for (int i = 0; i < room; i++) side->data[i] = side->lies[i] = blank;
}

static int *block_at(struct side *side, int *data, int b) {
    return data + side->places[b] / (MPI_Aint)sizeof(int);
}

static void free_types(struct side *side, int blocks) {
    for (int b = blocks; b-- > 0;)
        if (side->kinds[b] >= PAIRS) MPI_Type_free(&side->types[b]);
}

/* ---- a call ---- */

/* A side's lists, in other arrays than those of the call before, which hold something else now. */
struct lists {
    int counts[most_blocks], displs[most_blocks];
    MPI_Aint places[most_blocks];
    MPI_Datatype types[most_blocks];
};

static const struct lists *listed(const struct side *side, int which) {
    static struct lists all[2][2];
    static int turn[2];
    struct lists *now = &all[which][turn[which] ^= 1], *before = &all[which][!turn[which]];
    for (int b = 0; b < most_blocks; b++) {
        before->counts[b] = before->displs[b] = b + 1, before->places[b] = 4 * b + 4;
        before->types[b] = MPI_INT;
    }
    memcpy(now->counts, side->counts, sizeof now->counts);
    memcpy(now->displs, side->displs, sizeof now->displs);
    memcpy(now->places, side->places, sizeof now->places);
    memcpy(now->types, side->types, sizeof now->types);
    return now;
}

static int make(const struct look *look, const void *from) {
    MPI_Comm all = MPI_COMM_WORLD;
    const struct lists *o = listed(&out, 0), *i = listed(&in, 1);
    int n = o->counts[0], m = i->counts[0];
    /* Blocks that are named alone begin where they lie. */
    const int *mine = block_at(&out, out.data, 0);
    int *theirs = block_at(&in, in.data, 0);
    switch (look->kind) {
    case ALLTOALLV:
        return MPI_Alltoallv(from, o->counts, o->displs, MPI_INT, in.data, i->counts, i->displs,
                             MPI_INT, all);
    case ALLTOALLW:
        return MPI_Alltoallw(from, o->counts, o->displs, o->types, in.data, i->counts,
                             i->displs, i->types, all);
    case ALLGATHERV:
        return MPI_Allgatherv(from == MPI_IN_PLACE ? from : mine, n, MPI_INT, in.data, i->counts,
                              i->displs, MPI_INT, all);
    case GATHERV:
        return MPI_Gatherv(from == MPI_IN_PLACE ? from : mine, n, MPI_INT, in.data, i->counts,
                           i->displs, MPI_INT, look->root, all);
    case SCATTERV:
        return MPI_Scatterv(out.data, o->counts, o->displs, MPI_INT,
                            from == MPI_IN_PLACE ? MPI_IN_PLACE : theirs, m, MPI_INT, look->root,
                            all);
    case NEIGHBORV:
        return MPI_Neighbor_alltoallv(from, o->counts, o->displs, MPI_INT, in.data, i->counts,
                                      i->displs, MPI_INT, ring);
    case NEIGHBORW:
        return MPI_Neighbor_alltoallw(from, o->counts, o->places, o->types, in.data, i->counts,
                                      i->places, i->types, ring);
    default:
        return MPI_Neighbor_allgatherv(mine, n, MPI_INT, in.data, i->counts, i->displs, MPI_INT,
                                       ring);
    }
}

/* Fills what comes in; the own block first, if it is in place. Returns whether it is. */
static int put(const struct look *look, int t) {
    int gathers = look->kind == ALLGATHERV || (look->kind == GATHERV && me == look->root);
    int swaps = look->kind == ALLTOALLV && look->pattern == EVEN;
    int spreads = look->kind == SCATTERV && me == look->root;
    int in_place = look->in_place && (gathers || swaps || spreads);
    for (int b = 0; b < outs(look); b++)
        for (int i = 0; i < sent(look, b); i++)
            block_at(&out, out.data, b)[i] = value(t, me, is_personal(look) ? peer(look, b) : 0, i);
    for (int b = 0; in_place && swaps && b < p; b++)
        for (int i = 0; i < received(look, b); i++)
            block_at(&in, in.data, b)[i] = value(t, me, b, i);
    for (int i = 0; in_place && gathers && i < sent(look, 0); i++)
        block_at(&in, in.data, me)[i] = value(t, me, 0, i);
    return in_place;
}

static void step(const struct look *look, int t) {
    lay_out(look, &out, outs(look), sent);
    lay_out(look, &in, ins(look), received);
    int in_place = put(look, t);
    errors += make(look, in_place ? MPI_IN_PLACE : out.data) != MPI_SUCCESS;
    calls[look->kind]++;
    int nothing = in_place && look->kind == SCATTERV;
    for (int b = 0; b < ins(look) && !nothing; b++)
        for (int i = 0; i < received(look, b); i++)
            block_at(&in, in.lies, b)[i] = value(t, source(look, b), is_personal(look) ? me : 0, i);
    errors += memcmp(in.lies, in.data, sizeof in.data) != 0;
    free_types(&in, ins(look)); /* in the reverse order, so that the next ones get these handles */
    free_types(&out, outs(look));
}

/* ---- which calls ---- */

static void change(struct look *look) {
    switch (chance(6)) {
    case 0: look->kind = chance(KINDS); break;
    case 1: look->kind = chance(KINDS), look->pattern = chance(PATTERNS); break;
    case 2:
    case 3: look->count = 1 + chance(3); break;
    case 4: look->root = chance(p); break;
    case 5: look->in_place = chance(2); break;
    }
}

/* What each rank decides for itself. */
static void change_mine(void) {
    order = roll(&local_seed, 4) == 0;
    slots = roll(&local_seed, 4) > 0;
    gaps = roll(&local_seed, 2) * roll(&local_seed, 2);
    type_seed = roll(&local_seed, 3 * TYPES);
}

/* Again and again the same counts and places, of types that are longer or shorter. */
static void swap_types(int t) {
    const int lengths[] = {1, 2, 1, 2, 3, 2, 3, 1};
    order = gaps = 0;
    slots = 1;
    for (int k = 0; k < 400; k++) {
        struct look look = {.kind = k / 8 % 2 ? ALLTOALLW : NEIGHBORW, .count = lengths[k % 8]};
        type_seed = TYPES + (k / 16 + me) % 2;
        for (int i = 0; i < 5; i++) step(&look, t + k * 5 + i);
    }
}

int main(int argc, char **argv) {
    struct look now = {.count = 1}, before;
    int periods[1] = {1};
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    local_seed = (unsigned long)me + 1;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &p, periods, 0, &ring);
    for (int t = 0; t < steps; t++) {
        before = now;
        if (chance(10) == 0) change(&now);
        if (roll(&local_seed, 30) == 0) change_mine();
        step(&now, t);
        if (chance(20) == 0) step(&before, t), now.root = before.root;
    }
    swap_types(steps);
    MPI_Comm_free(&ring);
    return repeat_end(argc > 1 ? argv[1] : NULL, errors, calls, KINDS);
}
