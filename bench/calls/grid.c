/* SPDX-License-Identifier: BSD-3-Clause */
/* grid - what a 3-D FFT does between its passes: a cubic grid of double complex, distributed in
 * slabs along one axis, becomes distributed along another one. One MPI_Alltoallw with a subarray
 * for each peer on both sides does it, as in mpi4py-fft (Dalcin, Mortensen and Keyes, "Fast
 * parallel multidimensional FFT using advanced MPI", 2019); or packing and MPI_Alltoallv. */
#include "bench/common/bench.h"

#include <stdlib.h>
#include <string.h>

/* The first of a rank's planes: the first ranks have one more where the ranks do not divide the
 * edge. */
static int first_plane(const struct cell *cell, int rank) {
    int rest = cell->grid.edge % cell->p;
    return cell->grid.edge / cell->p * rank + (rank < rest ? rank : rest);
}
static int planes(const struct cell *cell, int rank) {
    return first_plane(cell, rank + 1) - first_plane(cell, rank);
}

/* Elements of this rank's slab along each axis. */
static void slab(const struct cell *cell, bool after, int shape[grid_axes]) {
    for (int a = 0; a < grid_axes; a++) shape[a] = cell->grid.edge;
    shape[after ? cell->grid.after : cell->grid.before] = planes(cell, cell->me);
}

size_t grid_bytes(const struct cell *cell, bool after) {
    int shape[grid_axes];
    slab(cell, after, shape);
    return (size_t)shape[0] * (size_t)shape[1] * (size_t)shape[2] * grid_element;
}

void grid_words(const struct cell *cell, bool after, size_t begin, size_t bytes, char *piece) {
    static const uint64_t step = 0x9e3779b97f4a7c15;
    size_t edge = (size_t)cell->grid.edge, first[grid_axes] = {0};
    int shape[grid_axes];
    slab(cell, after, shape);
    first[after ? cell->grid.after : cell->grid.before] = (size_t)first_plane(cell, cell->me);
    for (size_t k = 0; k < bytes; k += grid_element) {
        size_t e = (begin + k) / grid_element, row = e / (size_t)shape[2];
        size_t x = row / (size_t)shape[1] + first[0], y = row % (size_t)shape[1] + first[1],
               z = e % (size_t)shape[2] + first[2];
        uint64_t word = (2 * ((x * edge + y) * edge + z) + 1) * step, next = word + step;
        memcpy(piece + k, &word, sizeof word);
        memcpy(piece + k + sizeof word, &next, sizeof next);
    }
}

/* ---- the parts ---- */

/* The part of a slab that a rank gets or gave. */
struct part {
    /* Of the slab; of the part, and where it begins in it. */
    int shape[grid_axes], sizes[grid_axes], starts[grid_axes];
};

static struct part part_of(const struct cell *cell, bool after, int rank) {
    struct part part = {.starts = {0}};
    int axis = after ? cell->grid.before : cell->grid.after;
    slab(cell, after, part.shape);
    memcpy(part.sizes, part.shape, sizeof part.sizes);
    part.sizes[axis] = planes(cell, rank);
    part.starts[axis] = first_plane(cell, rank);
    return part;
}

static bool open_cut(const struct cell *cell, bool after, struct cut *cut) {
    size_t p = (size_t)cell->p;
    bool in_order = (after ? cell->grid.before : cell->grid.after) == 0;
    *cut = (struct cut){.types_each = calloc(p, sizeof(int)),
                        .zeros = calloc(p, sizeof(int)),
                        .types = calloc(p, sizeof *cut->types)};
    cut->counts = calloc(p, sizeof(int)), cut->places = calloc(p, sizeof(int));
    cut->packed = in_order ? NULL : malloc(grid_bytes(cell, after) + 1);
    if (!cut->types_each || !cut->zeros || !cut->types || !cut->counts || !cut->places ||
        (!in_order && !cut->packed))
        return false;
    for (int r = 0, end = 0; r < cell->p; end += cut->counts[r], r++) {
        struct part part = part_of(cell, after, r);
        cut->counts[r] = part.sizes[0] * part.sizes[1] * part.sizes[2];
        cut->places[r] = end;
        cut->types[r] = MPI_C_DOUBLE_COMPLEX;
    }
    return true;
}

static void close_cut(const struct cell *cell, struct cut *cut) {
    for (int r = 0; cut->types_each && cut->types && r < cell->p; r++)
        if (cut->types_each[r]) MPI_Type_free(&cut->types[r]);
    free(cut->types_each), free(cut->zeros), free(cut->types), free(cut->counts), free(cut->places),
        free(cut->packed);
    *cut = (struct cut){0};
}

bool grid_open(struct cell *cell) {
    bool fine = open_cut(cell, false, &cell->grid.out);
    return open_cut(cell, true, &cell->grid.in) && fine;
}

void grid_close(struct cell *cell) {
    close_cut(cell, &cell->grid.out);
    close_cut(cell, &cell->grid.in);
}

/* A part without elements has no type: MPI knows no empty subarrays. */
void grid_types(struct cell *cell) {
    for (int after = 0; after < 2; after++)
        for (int r = 0; r < cell->p; r++) {
            struct cut *cut = after ? &cell->grid.in : &cell->grid.out;
            struct part part = part_of(cell, after, r);
            if (cut->counts[r] == 0) continue;
            MPI_Type_create_subarray(grid_axes, part.shape, part.sizes, part.starts, MPI_ORDER_C,
                                     MPI_C_DOUBLE_COMPLEX, &cut->types[r]);
            MPI_Type_commit(&cut->types[r]);
            cut->types_each[r] = 1;
        }
}

/* ---- packing ---- */

/* Between a part in its slab and the same packed: in runs as long as they are in both. */
static void move_part(const struct part *part, char *slab, char *packed, bool pack) {
    size_t run = grid_element, planes = (size_t)part->sizes[0], rows = (size_t)part->sizes[1];
    size_t row = (size_t)part->shape[2] * grid_element, plane = (size_t)part->shape[1] * row;
    slab += (size_t)part->starts[0] * plane + (size_t)part->starts[1] * row +
            (size_t)part->starts[2] * grid_element;
    run *= (size_t)part->sizes[2];
    if (part->sizes[2] == part->shape[2]) run *= rows, rows = 1;
    for (size_t x = 0; x < planes; x++)
        for (size_t y = 0; y < rows; y++, packed += run) {
            char *at = slab + x * plane + y * row;
            if (pack) memcpy(packed, at, run);
            else memcpy(at, packed, run);
        }
}

static void move_parts(const struct cell *cell, bool after, bool pack) {
    const struct cut *cut = after ? &cell->grid.in : &cell->grid.out;
    for (int r = 0; cut->packed && r < cell->p; r++) {
        struct part part = part_of(cell, after, r);
        if (cut->counts[r] == 0) continue;
        move_part(&part, after ? cell->recv : cell->send,
                  cut->packed + (size_t)cut->places[r] * grid_element, pack);
    }
}

void grid_pack(const struct cell *cell) { move_parts(cell, false, true); }
void grid_unpack(const struct cell *cell) { move_parts(cell, true, false); }

void grid_packed(const struct cell *cell, const struct functions *side, MPI_Comm comm) {
    const struct cut *out = &cell->grid.out, *in = &cell->grid.in;
    grid_pack(cell);
    side->alltoallv(out->packed ? out->packed : cell->send, out->counts, out->places, cell->type,
                    in->packed ? in->packed : cell->recv, in->counts, in->places, cell->type, comm);
    grid_unpack(cell);
    if (cell->then_barrier) side->barrier(comm);
}
