/* SPDX-License-Identifier: BSD-3-Clause */
/* heat.h - what heat2d and heat3d share: their options, who computes what, how it starts, and what
 * is done with the result.
 *
 * Heat spreads through a plate or a block of points. Each rank of a Cartesian communicator has a
 * box of them, with a layer of ghost points around it: copies of the neighbours' outermost points,
 * or the walls, which keep their temperature. */
#include <mpi.h>

#include <stdbool.h>
#include <stddef.h>

/* The points first[k] ... first[k] + size[k] - 1 of a grid of whole[k] in direction k. In two
 * dimensions size[2] is 1. */
struct box {
    int dimensions, whole[3], first[3], size[3];
};

struct heat {
    const char *name, *image; /* of the program; of the file that gets the result, or NULL */
    int n, iterations;
    bool verify;
    int ranks, me, dimensions, grid[3]; /* grid: ranks in each direction */
    MPI_Comm comm;                      /* Cartesian, no direction is periodic */
    struct box box;                     /* this rank's */
    /* Of this rank: all iterations; within that the neighbour calls. */
    double seconds, communication;
};

/* MPI_Init, options, the grid of ranks. A wrong option ends the program. */
struct heat heat_begin(int *count, char ***words, const char *name, int dimensions, int n);

/* Shares a grid of whole[k] points in direction k among the ranks, as evenly as it goes.
 * Collective; ends the program when there are fewer points than ranks in a direction, or more in a
 * box than an int can count. */
void heat_share(struct heat *heat, int n0, int n1, int n2);

/* Memory of the program's own; ends the program when there is none. */
double *heat_memory(size_t doubles);

/* A field's rows, columns and layers: there are ghost points in the directions that have
 * neighbours. */
static inline size_t heat_width(const struct box *box, int k) {
    return k < box->dimensions ? (size_t)box->size[k] + 2 : 1;
}

/* Where the point (i, j, k) of the box is in its field, counted from 0; -1 and size[] are ghost
 * points. */
static inline size_t heat_place(const struct box *box, int i, int j, int k) {
    size_t row = (size_t)(i + 1) * heat_width(box, 1) + (size_t)(j + 1);
    return row * heat_width(box, 2) + (size_t)(box->dimensions == 3 ? k + 1 : 0);
}

/* How many doubles a field has. */
static inline size_t heat_points(const struct box *box) {
    return heat_width(box, 0) * heat_width(box, 1) * heat_width(box, 2);
}

/* The temperatures at the start, walls included. They depend on the place in the whole grid
 * only. */
void heat_start(const struct box *box, double *field);

/* Prints times and what identifies the result, writes the picture, has `alone` compute everything
 * on rank 0 and compares. MPI_Finalize. Returns what main returns: 1 when a point differs. */
int heat_end(struct heat *heat, const double *field,
             double *(*alone)(const struct box *whole, int iterations));
