/* SPDX-License-Identifier: BSD-3-Clause */
/* heat3d - an ordinary MPI program: heat in a block of matter, the 7-point stencil of Li et al.
 * 2018 (section 4.2).
 *
 * The ranks form a grid as cubic as their number allows; each has N x N x N points. In each
 * iteration one MPI_Neighbor_alltoall brings the six faces of the neighbours, packed, N x N points
 * each.
 *
 * usage: heat3d [--n N] [--iterations I] [--image FILE.npy] [--verify]       (32, 1024)
 * It prints the seconds of all iterations and those within the call, each of the slowest rank; the
 * mean temperature; a hash of all points, which does not depend on the number of ranks; and MiB of
 * all ranks: the most that was resident, and what they take together at the end.
 * --verify: rank 0 computes the block by itself and compares each bit. */
#include "heat.h"

#include <stdlib.h>

/* Lower and upper in each direction: the order of a Cartesian communicator's neighbours. */
enum { SIDES = 6 };

struct faces {
    int points;       /* of a face: N x N */
    double *out, *in; /* [SIDES] faces */
};

/* Where the points of a face are: the first one, and the way to the next row and to the next point
 * of a row. */
struct walk {
    size_t first, row, point;
};

/* The layer at `at` in that direction. */
static struct walk walk_of(const struct box *box, int direction, int at) {
    size_t origin = heat_place(box, 0, 0, 0);
    size_t stride[3] = {heat_place(box, 1, 0, 0) - origin, heat_place(box, 0, 1, 0) - origin, 1};
    size_t layer = direction == 0   ? heat_place(box, at, 0, 0)
                   : direction == 1 ? heat_place(box, 0, at, 0)
                                    : heat_place(box, 0, 0, at);
    return (struct walk){layer, stride[direction == 0], stride[direction == 2 ? 1 : 2]};
}

static void pack(const struct box *box, struct walk walk, double *face, const double *field) {
    int n = box->size[0];
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            *face++ = field[walk.first + (size_t)a * walk.row + (size_t)b * walk.point];
}

static void unpack(const struct box *box, struct walk walk, const double *face, double *field) {
    int n = box->size[0];
    for (int a = 0; a < n; a++)
        for (int b = 0; b < n; b++)
            field[walk.first + (size_t)a * walk.row + (size_t)b * walk.point] = *face++;
}

static double *face_of(const struct faces *faces, double *all, int side) {
    return all + (size_t)side * (size_t)faces->points;
}

/* What would come from behind a wall never comes, so its face keeps what it gets here. */
static struct faces faces_new(const struct box *box, const double *field) {
    struct faces faces = {.points = box->size[0] * box->size[0]};
    faces.out = heat_memory((size_t)SIDES * (size_t)faces.points);
    faces.in = heat_memory((size_t)SIDES * (size_t)faces.points);
    for (int side = 0; side < SIDES; side++)
        pack(box, walk_of(box, side / 2, side % 2 ? box->size[0] : -1),
             face_of(&faces, faces.in, side), field);
    return faces;
}

/* Returns the seconds in the call. */
static double exchange(const struct box *box, const struct faces *faces, double *field,
                       MPI_Comm comm) {
    int n = box->size[0];
    for (int side = 0; side < SIDES; side++)
        pack(box, walk_of(box, side / 2, side % 2 ? n - 1 : 0), face_of(faces, faces->out, side),
             field);
    double begin = MPI_Wtime();
    MPI_Neighbor_alltoall(faces->out, faces->points, MPI_DOUBLE, faces->in, faces->points,
                          MPI_DOUBLE, comm);
    double seconds = MPI_Wtime() - begin;
    for (int side = 0; side < SIDES; side++)
        unpack(box, walk_of(box, side / 2, side % 2 ? n : -1), face_of(faces, faces->in, side),
               field);
    return seconds;
}

/* One iteration. Products with powers of two are exact, so that no compiler's way of multiplying
 * and adding changes a bit; 6 times a number is not, so it is 4 times and 2 times. */
static void step(const struct box *box, const double *restrict now, double *restrict next) {
    size_t row = heat_place(box, 0, 1, 0) - heat_place(box, 0, 0, 0),
           layer = heat_place(box, 1, 0, 0) - heat_place(box, 0, 0, 0);
    for (int i = 0; i < box->size[0]; i++)
        for (int j = 0; j < box->size[1]; j++) {
            const double *here = now + heat_place(box, i, j, 0), *north = here - layer,
                         *south = here + layer;
            const double *west = here - row, *east = here + row;
            double *to = next + heat_place(box, i, j, 0);
            for (int k = 0; k < box->size[2]; k++) {
                double around =
                    (north[k] + south[k]) + (west[k] + east[k]) + (here[k - 1] + here[k + 1]);
                to[k] = here[k] + 0.125 * ((around - 4 * here[k]) - 2 * here[k]);
            }
        }
}

/* All iterations; returns the last field, for the caller to free. heat: NULL when this rank does it
 * alone. */
static double *run(const struct box *box, int iterations, struct heat *heat) {
    double *now = heat_memory(heat_points(box)), *next = heat_memory(heat_points(box));
    heat_start(box, now), heat_start(box, next);
    struct faces faces = heat ? faces_new(box, now) : (struct faces){0};
    if (heat) MPI_Barrier(heat->comm);
    double begin = MPI_Wtime();
    for (int i = 0; i < iterations; i++) {
        if (heat) heat->communication += exchange(box, &faces, now, heat->comm);
        step(box, now, next);
        double *last = now;
        now = next, next = last;
    }
    if (heat) heat->seconds = MPI_Wtime() - begin;
    free(faces.out), free(faces.in), free(next);
    return now;
}

static double *alone(const struct box *whole, int iterations) {
    return run(whole, iterations, NULL);
}

int main(int count, char **words) {
    struct heat heat = heat_begin(&count, &words, "heat3d", 3, 32);
    heat_share(&heat, heat.n * heat.grid[0], heat.n * heat.grid[1], heat.n * heat.grid[2]);
    double *field = run(&heat.box, heat.iterations, &heat);
    int failed = heat_end(&heat, field, alone);
    free(field);
    return failed;
}
