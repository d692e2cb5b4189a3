/* SPDX-License-Identifier: BSD-3-Clause */
/* planewave - electronic structure in plane waves. A band is a grid of --size doubles, shared out
 * among the ranks. At each of --iterations steps eight bands go through two transposes
 * (MPI_Alltoall of size / p / p doubles per pair, of p * p words at least), with computing between
 * them. Then come small matrices that one rank has and all need: six bcasts of 8 to 1024 bytes,
 * from changing roots, a little computing before each. A band ends with a barrier; a step ends
 * with a split into pools of 2 to 8 ranks, which is used for two calls and freed. */
#include "program.h"

#include <stdlib.h>

enum { bands = 8, casts = 6, most_cast = 128 };

static void transpose(struct run *run, double *slab, double *other, int block) {
    SPEND(run, ALLTOALL,
          MPI_Alltoall(slab, block, MPI_DOUBLE, other, block, MPI_DOUBLE, MPI_COMM_WORLD));
}

/* There and back: each block is compared by its first and last word. */
static void band(struct run *run, double *slab, double *other, int block, int mark) {
    for (int j = 0; j < run->p; j++)
        for (int i = 0; i < block; i++) slab[(size_t)j * (size_t)block + (size_t)i] = mark + j;
    transpose(run, slab, other, block);
    for (int j = 0; j < run->p; j++) {
        double *theirs = other + (size_t)j * (size_t)block;
        run->wrong += theirs[0] != mark + run->me || theirs[block - 1] != mark + run->me;
        for (int i = 0; i < block; i++) theirs[i] = 2 * theirs[i] + j;
    }
    transpose(run, other, slab, block);
    for (int j = 0; j < run->p; j++)
        run->wrong += slab[(size_t)(j + 1) * (size_t)block - 1] != 2 * (mark + j) + run->me;
}

static void cast(struct run *run, int number) {
    static const int counts[casts] = {1, 16, 4, 64, 2, 128};
    double words[most_cast] = {0};
    int root = number % run->p, count = counts[number % casts];
    for (int i = 0; i < count && run->me == root; i++) words[i] = number + i;
    compute(run, 10 + drawn(run->me, number, 10));
    SPEND(run, BCAST, MPI_Bcast(words, count, MPI_DOUBLE, root, MPI_COMM_WORLD));
    run->wrong += words[0] != number || words[count - 1] != number + count - 1;
}

static void pools(struct run *run, int step) {
    MPI_Comm pool;
    int p, group = 2 + step % 7;
    double word = step, sum;
    SPEND(run, COMMUNICATORS, MPI_Comm_split(MPI_COMM_WORLD, run->me / group, run->me, &pool));
    MPI_Comm_size(pool, &p);
    SPEND(run, BCAST, MPI_Bcast(&word, 1, MPI_DOUBLE, 0, pool));
    SPEND(run, ALLREDUCE, MPI_Allreduce(&word, &sum, 1, MPI_DOUBLE, MPI_SUM, pool));
    SPEND(run, COMMUNICATORS, MPI_Comm_free(&pool));
    run->wrong += sum != (double)p * step;
}

void program_planewave(struct run *run) {
    int share = run->size / run->p / run->p, block = share > 0 ? share : 1;
    double *slab = memory((size_t)block * (size_t)run->p),
           *other = memory((size_t)block * (size_t)run->p);
    for (int step = 0; step < run->iterations; step++) {
        for (int b = 0; b < bands; b++) {
            compute(run, 200 / run->p + drawn(run->me, step, 20));
            band(run, slab, other, block, step * bands + b);
            for (int i = 0; i < casts; i++) cast(run, (step * bands + b) * casts + i);
            SPEND(run, BARRIER, MPI_Barrier(MPI_COMM_WORLD));
        }
        pools(run, step);
    }
    free(slab);
    free(other);
}
