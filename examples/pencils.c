/* SPDX-License-Identifier: BSD-3-Clause */
/* pencils - see pencils.h. What goes to a rank is packed into a block, and MPI_Alltoall brings the
 * blocks, or MPI_Alltoallv where they differ. With types nothing is packed: MPI_Alltoallw gets a
 * subarray of the field for each rank. */
#include "pencils.h"

#include <fftw3.h> /* after complex.h: its numbers are C's */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ALL = -1 };

/* [direction whose lines are whole][direction]: which ranks share it; ALL: nobody, it is whole. */
static const int shared_by[DIRECTIONS][DIRECTIONS] = {
    {ALL, ROW, COLUMN}, {ROW, ALL, COLUMN}, {ROW, COLUMN, ALL}};

static void *there(void *room) {
    if (room) return room;
    fprintf(stderr, "no memory\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
    exit(1);
}

double complex *pencils_memory(const struct pencils *p) {
    size_t most = 1;
    for (int k = 0; k < DIRECTIONS; k++)
        if (box_points(&p->box[k]) > most) most = box_points(&p->box[k]);
    return there(fftw_alloc_complex(most));
}

/* The box of the rank at that place. */
static struct box box_of(const struct pencils *p, int whole, const int at[2]) {
    struct box box;
    for (int k = 0; k < DIRECTIONS; k++) {
        int by = shared_by[whole][k];
        long n = p->n[k], parts = by == ALL ? 1 : p->grid[by], part = by == ALL ? 0 : at[by];
        box.first[k] = (int)(n * part / parts);
        box.size[k] = (int)(n * (part + 1) / parts) - box.first[k];
    }
    return box;
}

/* What is in both, as a block of the first. Of two boxes in a transpose, one is at least as wide in
 * each direction, and has all of the other. */
static struct box common(const struct box *box, const struct box *other) {
    struct box block;
    for (int k = 0; k < DIRECTIONS; k++) {
        int first = box->first[k], end = first + box->size[k];
        if (other->first[k] > first) first = other->first[k];
        if (other->first[k] + other->size[k] < end) end = other->first[k] + other->size[k];
        block.first[k] = first - box->first[k];
        block.size[k] = end - first;
    }
    return block;
}

/* MPI has no empty subarrays; what stands for one is not used. */
static MPI_Datatype subarray(const struct box *box, const struct box *block) {
    MPI_Datatype type;
    int n[DIRECTIONS], size[DIRECTIONS], first[DIRECTIONS];
    for (int k = 0; k < DIRECTIONS; k++) /* the slowest direction first, as C has it */
        n[k] = box->size[Z - k], size[k] = block->size[Z - k], first[k] = block->first[Z - k];
    if (box_points(block) > 0)
        MPI_Type_create_subarray(DIRECTIONS, n, size, first, MPI_ORDER_C, MPI_C_DOUBLE_COMPLEX,
                                 &type);
    else MPI_Type_dup(MPI_C_DOUBLE_COMPLEX, &type);
    MPI_Type_commit(&type);
    return type;
}

/* Each rank's box on one side is made of what it has in common with the boxes of all ranks on the
 * other side. */
static struct side side_new(const struct pencils *p, int across, int whole, int other) {
    size_t ranks = (size_t)p->grid[across];
    struct side side = {.box = p->box[whole], .block = there(calloc(ranks, sizeof(struct box)))};
    side.count = there(calloc(ranks, sizeof(int))), side.place = there(calloc(ranks, sizeof(int)));
    side.types = there(calloc(ranks, sizeof(int)));
    side.type = there(calloc(ranks, sizeof(MPI_Datatype)));
    for (int rank = 0, place = 0; rank < p->grid[across]; rank++) {
        int at[2] = {p->at[ROW], p->at[COLUMN]};
        at[across] = rank;
        struct box theirs = box_of(p, other, at);
        side.block[rank] = common(&side.box, &theirs);
        side.count[rank] = (int)box_points(&side.block[rank]), side.place[rank] = place;
        place += side.count[rank];
        side.type[rank] = subarray(&side.box, &side.block[rank]);
        side.types[rank] = side.count[rank] > 0;
    }
    return side;
}

static struct transpose transpose_new(const struct pencils *p, int across) {
    int low = across, high = across + 1, ranks = p->grid[across];
    struct transpose t = {
        .ranks = ranks,
        .alike = p->n[low] % ranks == 0 && p->n[high] % ranks == 0,
        .side = {side_new(p, across, low, high), side_new(p, across, high, low)},
        .nowhere = there(calloc((size_t)ranks, sizeof(int))),
    };
    MPI_Cart_sub(p->comm, (int[]){across == ROW, across == COLUMN}, &t.comm);
    return t;
}

struct pencils pencils_new(const int n[DIRECTIONS], bool slab, bool types) {
    struct pencils p = {.n = {n[X], n[Y], n[Z]}, .types = types, .grid = {slab ? 1 : 0, 0}};
    MPI_Comm_size(MPI_COMM_WORLD, &p.ranks);
    MPI_Dims_create(p.ranks, 2, p.grid);
    MPI_Cart_create(MPI_COMM_WORLD, 2, p.grid, (int[]){0, 0}, 1, &p.comm);
    MPI_Comm_rank(p.comm, &p.me);
    MPI_Cart_coords(p.comm, p.me, 2, p.at);
    for (int k = 0; k < DIRECTIONS; k++) p.box[k] = box_of(&p, k, p.at);
    for (int across = ROW; across <= COLUMN; across++)
        p.transposes[across] = transpose_new(&p, across);
    p.field = pencils_memory(&p), p.spare = pencils_memory(&p);
    return p;
}

void pencils_free(struct pencils *p) {
    for (int across = ROW; across <= COLUMN; across++) {
        struct transpose *t = &p->transposes[across];
        for (struct side *side = t->side; side < t->side + 2; side++) {
            for (int rank = 0; rank < t->ranks; rank++) MPI_Type_free(&side->type[rank]);
            free(side->block), free(side->count), free(side->place);
            free(side->type), free(side->types);
        }
        free(t->nowhere);
        MPI_Comm_free(&t->comm);
    }
    fftw_free(p->field), fftw_free(p->spare);
    MPI_Comm_free(&p->comm);
}

/* Copies the blocks of the field one behind the other, or (in) from there to where they belong. */
static void copy(const struct side *side, int ranks, double complex *field, double complex *blocks,
                 bool in) {
    for (int rank = 0; rank < ranks; rank++) {
        const int *first = side->block[rank].first, *size = side->block[rank].size;
        for (int z = first[Z]; z < first[Z] + size[Z]; z++)
            for (int y = first[Y]; y < first[Y] + size[Y]; y++, blocks += size[X]) {
                double complex *line = field + box_row(&side->box, y, z) + first[X];
                memcpy(in ? line : blocks, in ? blocks : line, (size_t)size[X] * sizeof *line);
            }
    }
}

static void exchange(const struct transpose *t, const struct side *from, const struct side *to,
                     const double complex *out, double complex *in) {
    const MPI_Datatype type = MPI_C_DOUBLE_COMPLEX;
    if (t->alike) MPI_Alltoall(out, from->count[0], type, in, to->count[0], type, t->comm);
    else
        MPI_Alltoallv(out, from->count, from->place, type, in, to->count, to->place, type, t->comm);
}

void pencils_transpose(struct pencils *p, int across, int way) {
    const struct transpose *t = &p->transposes[across];
    const struct side *from = &t->side[way], *to = &t->side[!way];
    double complex *field = p->field, *spare = p->spare;
    if (t->ranks == 1) return; /* both boxes are the same */
    double begin = MPI_Wtime();
    if (!p->types) copy(from, t->ranks, field, spare, false);
    double call = MPI_Wtime();
    if (p->types)
        MPI_Alltoallw(field, from->types, t->nowhere, from->type, spare, to->types, t->nowhere,
                      to->type, t->comm);
    else exchange(t, from, to, spare, field);
    p->communicating += MPI_Wtime() - call;
    if (!p->types) copy(to, t->ranks, spare, field, true);
    p->field = spare, p->spare = field;
    p->transposing += MPI_Wtime() - begin;
}
