/* SPDX-License-Identifier: BSD-3-Clause */
/* late - sums of --size doubles on rank 0, to which ranks come late: before each of --iterations
 * MPI_Reduces a rank sleeps for up to 2 ms, another time in each. It sleeps rather than computes,
 * so that ranks that share a processor do not come in a row. Nothing else keeps them together; in
 * the end all get the last sums. */
#define _POSIX_C_SOURCE 199309L
#include "program.h"

#include <stdlib.h>
#include <time.h>

static void check(struct run *run, const double *sums, int k) {
    run->wrong += run->size > 1 && sums[0] != run->p * (run->p - 1) / 2.0;
    run->wrong += sums[run->size - 1] != (double)run->p * k;
}

void program_late(struct run *run) {
    enum { most_us = 2000 };
    double *mine = memory((size_t)run->size), *sums = memory((size_t)run->size);
    for (int k = 0; k < run->iterations; k++) {
        struct timespec time = {.tv_nsec = 1000L * drawn(run->me, k, most_us)};
        nanosleep(&time, NULL);
        mine[0] = run->me, mine[run->size - 1] = k;
        SPEND(run, REDUCE,
              MPI_Reduce(mine, sums, run->size, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD));
        if (run->me == 0) check(run, sums, k);
    }
    SPEND(run, BCAST, MPI_Bcast(sums, run->size, MPI_DOUBLE, 0, MPI_COMM_WORLD));
    check(run, sums, run->iterations - 1);
    free(mine);
    free(sums);
}
