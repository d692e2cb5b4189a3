/* SPDX-License-Identifier: BSD-3-Clause */
/* fresh - new buffers for each of --iterations calls, as programs and libraries do that allocate
 * where they communicate. The send buffer and the receive buffer have 1, 2, 4 .. --size MiB, in a
 * random order; the calls are alltoall and allreduce in turns. */
#include "program.h"

#include <stdlib.h>

static double sent(int i, int j, int step) { return i + 2 * j + step; }

/* Blocks of so many doubles; rank i sends sent(i, j) to rank j. */
static void exchange(struct run *run, double *send, double *recv, int count, int step) {
    for (int j = 0; j < run->p; j++)
        for (int k = 0; k < count; k++) send[j * count + k] = sent(run->me, j, step);
    SPEND(run, ALLTOALL,
          MPI_Alltoall(send, count, MPI_DOUBLE, recv, count, MPI_DOUBLE, MPI_COMM_WORLD));
    for (int i = 0; i < run->p; i++) {
        const double *block = recv + i * count;
        double expected = sent(i, run->me, step);
        run->wrong += block[0] != expected || block[count - 1] != expected ||
                      block[drawn(step, i, count)] != expected;
    }
}

static void sum_up(struct run *run, double *mine, double *sum, int count, int step) {
    for (int k = 0; k < count; k++) mine[k] = run->me + step;
    SPEND(run, ALLREDUCE, MPI_Allreduce(mine, sum, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    double expected = run->p * (run->p - 1) / 2.0 + run->p * step;
    run->wrong +=
        sum[0] != expected || sum[count - 1] != expected || sum[drawn(step, 0, count)] != expected;
}

void program_fresh(struct run *run) {
    int sizes = 1;
    while (run->size >> sizes) sizes++;
    for (int step = 0; step < run->iterations; step++) {
        int count = (1 << drawn(step / 2, 0, sizes)) * ((1 << 20) / (int)sizeof(double));
        double *mine = untouched((size_t)count * sizeof *mine);
        double *result = untouched((size_t)count * sizeof *result);
        if (step % 2) sum_up(run, mine, result, count, step);
        else exchange(run, mine, result, count / run->p, step);
        if (step == run->iterations - 1) look(run);
        free(mine);
        free(result);
    }
}
