/* SPDX-License-Identifier: BSD-3-Clause */
/* density - electronic structure with local orbitals. At each of --iterations steps a rank
 * computes its part, blocks of sizes of their own go to all ranks (MPI_Alltoallv, size / p / p
 * doubles on average), and allreduces sum up the density in pieces of 4 KiB and the energies in 24
 * bytes. */
#include "program.h"

#include <stdlib.h>

enum { pieces = 4, piece = 512, energies = 3 };

struct exchange {
    int *counts, *places; /* [2 * p]: what this rank sends, then what it gets */
    double *send, *recv;
};

/* Doubles from rank i to rank j: 0 to twice the mean. */
static int count_of(const struct run *run, int i, int j) {
    int mean = run->size / run->p / run->p;
    return drawn(i, j, 2 * mean + 1);
}

static struct exchange open(const struct run *run) {
    int p = run->p, sums[2] = {0, 0};
    struct exchange x = {.counts = malloc(4 * (size_t)p * sizeof(int))};
    x.places = x.counts + 2 * p;
    for (int side = 0; side < 2; side++)
        for (int j = 0; j < p; j++) {
            int n = side ? count_of(run, j, run->me) : count_of(run, run->me, j);
            x.counts[side * p + j] = n, x.places[side * p + j] = sums[side];
            sums[side] += n;
        }
    x.send = memory((size_t)sums[0] + 1), x.recv = memory((size_t)sums[1] + 1);
    return x;
}

static void exchange(struct run *run, struct exchange *x, int step) {
    int p = run->p, *places = x->places;
    for (int j = 0; j < p; j++)
        for (int i = 0; i < x->counts[j]; i++) x->send[places[j] + i] = step + run->me + i;
    SPEND(run, ALLTOALL,
          MPI_Alltoallv(x->send, x->counts, places, MPI_DOUBLE, x->recv, x->counts + p, places + p,
                        MPI_DOUBLE, MPI_COMM_WORLD));
    for (int j = 0; j < p; j++) {
        int n = x->counts[p + j];
        run->wrong += n > 0 && x->recv[places[p + j] + n - 1] != step + j + n - 1;
    }
}

static void sum_up(struct run *run, double *mine, double *sum, int count, int step) {
    for (int i = 0; i < count; i++) mine[i] = run->me + step + i;
    SPEND(run, ALLREDUCE, MPI_Allreduce(mine, sum, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    double ranks = run->p * (run->p - 1) / 2.0;
    run->wrong += sum[0] != ranks + run->p * step;
    run->wrong += sum[count - 1] != ranks + run->p * (step + count - 1);
}

void program_density(struct run *run) {
    struct exchange x = open(run);
    double *mine = memory(piece), *sum = memory(piece);
    for (int step = 0; step < run->iterations; step++) {
        compute(run, 120000 / run->p + drawn(run->me, step, 600));
        exchange(run, &x, step);
        for (int i = 0; i < pieces; i++) {
            compute(run, 14000 / run->p + drawn(run->me, i, 60));
            sum_up(run, mine, sum, piece, step + i);
        }
        sum_up(run, mine, sum, energies, step);
    }
    free(x.counts);
    free(x.send);
    free(x.recv);
    free(mine);
    free(sum);
}
