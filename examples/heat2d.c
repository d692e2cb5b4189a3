/* SPDX-License-Identifier: BSD-3-Clause */
/* heat2d - an ordinary MPI program: heat on a plate of N x N points, the 5-point stencil of Li et
 * al. 2018 (section 4.2).
 *
 * The ranks form a grid as square as their number allows. In each iteration one
 * MPI_Neighbor_alltoallv brings the four edges of the neighbours. A call has one datatype for all
 * neighbours, so rows go straight from field to field, and columns are packed.
 *
 * usage: heat2d [--n N] [--iterations I] [--image FILE.npy] [--verify]       (512, 1024)
 * It prints the seconds of all iterations and those within the call, each of the slowest rank; the
 * mean temperature; a hash of all points, which does not depend on the number of ranks; and MiB of
 * all ranks: the most that was resident, and what they take together at the end.
 * --verify: rank 0 computes the plate by itself and compares each bit. */
#include "heat.h"

#include <stdlib.h>

enum { NORTH, SOUTH, WEST, EAST, SIDES }; /* the order of a Cartesian communicator's neighbours */

/* What goes to the neighbours and comes from them: counts, and places in the memory of a field.
 * Behind the field's points there are four columns: two that go out and two that come in. */
struct edges {
    int count[SIDES], out[SIDES], in[SIDES];
};

static size_t memory_of(const struct box *box) {
    return heat_points(box) + 4 * (size_t)box->size[0];
}

static struct edges edges_of(const struct box *box) {
    int rows = box->size[0], columns = box->size[1], behind = (int)heat_points(box);
    return (struct edges){
        .count = {columns, columns, rows, rows},
        .out = {(int)heat_place(box, 0, 0, 0), (int)heat_place(box, rows - 1, 0, 0), behind,
                behind + rows},
        .in = {(int)heat_place(box, -1, 0, 0), (int)heat_place(box, rows, 0, 0), behind + 2 * rows,
               behind + 3 * rows},
    };
}

static void pack(const struct box *box, double *column, const double *field, int j) {
    for (int i = 0; i < box->size[0]; i++) column[i] = field[heat_place(box, i, j, 0)];
}

static void unpack(const struct box *box, const double *column, double *field, int j) {
    for (int i = 0; i < box->size[0]; i++) field[heat_place(box, i, j, 0)] = column[i];
}

/* The field at the start. What would come from behind a wall never comes, so its column keeps what
 * it gets here. */
static double *start(const struct box *box) {
    struct edges edges = edges_of(box);
    double *field = heat_memory(memory_of(box));
    heat_start(box, field);
    pack(box, field + edges.in[WEST], field, -1);
    pack(box, field + edges.in[EAST], field, box->size[1]);
    return field;
}

/* Returns the seconds in the call. */
static double exchange(const struct box *box, const struct edges *edges, double *field,
                       MPI_Comm comm) {
    pack(box, field + edges->out[WEST], field, 0);
    pack(box, field + edges->out[EAST], field, box->size[1] - 1);
    double begin = MPI_Wtime();
    MPI_Neighbor_alltoallv(field, edges->count, edges->out, MPI_DOUBLE, field, edges->count,
                           edges->in, MPI_DOUBLE, comm);
    double seconds = MPI_Wtime() - begin;
    unpack(box, field + edges->in[WEST], field, -1);
    unpack(box, field + edges->in[EAST], field, box->size[1]);
    return seconds;
}

/* One iteration. Products with powers of two are exact, so that no compiler's way of multiplying
 * and adding changes a bit. */
static void step(const struct box *box, const double *restrict now, double *restrict next) {
    int columns = box->size[1];
    for (int i = 0; i < box->size[0]; i++) {
        const double *north = now + heat_place(box, i - 1, 0, 0),
                     *here = now + heat_place(box, i, 0, 0);
        const double *south = now + heat_place(box, i + 1, 0, 0);
        double *to = next + heat_place(box, i, 0, 0);
        for (int j = 0; j < columns; j++)
            to[j] = here[j] +
                    0.125 * (((north[j] + south[j]) + (here[j - 1] + here[j + 1])) - 4 * here[j]);
    }
}

/* All iterations; returns the last field, for the caller to free. heat: NULL when this rank does it
 * alone. */
static double *run(const struct box *box, int iterations, struct heat *heat) {
    struct edges edges = edges_of(box);
    double *now = start(box), *next = start(box);
    if (heat) MPI_Barrier(heat->comm);
    double begin = MPI_Wtime();
    for (int i = 0; i < iterations; i++) {
        if (heat) heat->communication += exchange(box, &edges, now, heat->comm);
        step(box, now, next);
        double *last = now;
        now = next, next = last;
    }
    if (heat) heat->seconds = MPI_Wtime() - begin;
    free(next);
    return now;
}

static double *alone(const struct box *whole, int iterations) {
    return run(whole, iterations, NULL);
}

int main(int count, char **words) {
    struct heat heat = heat_begin(&count, &words, "heat2d", 2, 512);
    heat_share(&heat, heat.n, heat.n, 1);
    double *field = run(&heat.box, heat.iterations, &heat);
    int failed = heat_end(&heat, field, alone);
    free(field);
    return failed;
}
