/* SPDX-License-Identifier: BSD-3-Clause */
/* pencils.h - a grid of complex numbers that is shared out among the ranks so that the lines of one
 * direction are whole, and transposing: going over to the lines of another direction.
 *
 * The ranks form rows and columns. x and y change places within a row, y and z within a column:
 *     lines of      x whole               y whole               z whole
 *     shared by     y: row, z: column     x: row, z: column     x: row, y: column
 * As slabs, all ranks form one column: x and y are whole at the same time, and their transpose has
 * nothing to do. Any number of ranks will do: parts may differ by a layer, and be empty. */
#include <mpi.h>

#include <complex.h>
#include <stdbool.h>
#include <stddef.h>

enum { X, Y, Z, DIRECTIONS };
enum { ROW, COLUMN };       /* of ranks */
enum { FORTH, BACK, WAYS }; /* from x to z, from z to x */

/* The points first[k] ... first[k] + size[k] - 1 in direction k. In memory x runs fastest. */
struct box {
    int first[DIRECTIONS], size[DIRECTIONS];
};

/* One side of a transpose: this rank's box, and for each rank of the row or column the block of it
 * that is exchanged with that rank. A block's `first` counts from the box's, counts and places from
 * the first block's first point. */
struct side {
    struct box box, *block;
    int *count, *place;
    MPI_Datatype *type; /* the block within the box */
    int *types;         /* of these: 1, or 0 where the block is empty */
};

struct transpose {
    MPI_Comm comm; /* the row, or the column */
    int ranks;
    bool alike;          /* all blocks of all ranks have the same size */
    struct side side[2]; /* of lower and higher direction */
    int *nowhere;        /* displacements for MPI_Alltoallw: zeros, the types say where */
};

struct pencils {
    int n[DIRECTIONS];
    bool types; /* subarrays instead of packed blocks */
    int ranks, me;
    int grid[2], at[2];                /* ranks in a row, in a column; this one's place in both */
    MPI_Comm comm;                     /* Cartesian */
    struct box box[DIRECTIONS];        /* this rank's while the lines of that direction are whole */
    struct transpose transposes[2];    /* in a row, x and y; in a column, y and z */
    double complex *field, *spare;     /* each has room for the largest box */
    double transposing, communicating; /* seconds; the second are those within MPI's calls */
};

/* Shares n[k] points in direction k among all ranks. Collective. */
struct pencils pencils_new(const int n[DIRECTIONS], bool slab, bool types);
void pencils_free(struct pencils *p);

/* Memory of the program's own, not zeroed; ends the program when there is none. */
double complex *pencils_memory(const struct pencils *p);

/* Goes over from p->field with the lines of direction `across` (X or Y) whole to one with those of
 * the next direction, or BACK from that. Collective among the ranks of the row or column. */
void pencils_transpose(struct pencils *p, int across, int way);

static inline size_t box_points(const struct box *box) {
    return (size_t)box->size[X] * (size_t)box->size[Y] * (size_t)box->size[Z];
}

/* Where the points with these y and z begin, which count from the box's first. */
static inline size_t box_row(const struct box *box, int y, int z) {
    return ((size_t)z * (size_t)box->size[Y] + (size_t)y) * (size_t)box->size[X];
}
