/* SPDX-License-Identifier: BSD-3-Clause */
/* first - nothing but --iterations allreduces of --size bytes: what mortar costs a program that is
 * over before anything can pay. */
#include "program.h"

#include <stdlib.h>

void program_first(struct run *run) {
    int count = run->size / 8 > 0 ? run->size / 8 : 1;
    double *mine = memory((size_t)count), *sum = memory((size_t)count);
    for (int call = 0; call < run->iterations; call++) {
        for (int i = 0; i < count; i++) mine[i] = run->me + call + i;
        SPEND(run, ALLREDUCE, MPI_Allreduce(mine, sum, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
        for (int i = 0; i < count; i++)
            run->wrong += sum[i] != run->p * (call + i) + run->p * (run->p - 1) / 2.0;
    }
    free(mine);
    free(sum);
}
