/* SPDX-License-Identifier: BSD-3-Clause */
/* communicators - --iterations communicators, one after the other, each used for --size calls: an
 * allreduce of 8 bytes and an alltoall of 8 bytes per rank, in turns. They are duplicates of
 * MPI_COMM_WORLD, or with --split groups of 2 to 8 ranks, of another size each time, as codes make
 * them that split pools, bands and processor grids at each step. */
#include "program.h"

#include <stdlib.h>

static void use(struct run *run, MPI_Comm comm, double *send, double *recv) {
    int p, me;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &me);
    for (int call = 0; call < run->size; call++)
        if (call % 2 == 0) {
            double mine = me + call, sum;
            SPEND(run, ALLREDUCE, MPI_Allreduce(&mine, &sum, 1, MPI_DOUBLE, MPI_SUM, comm));
            run->wrong += sum != p * call + p * (p - 1) / 2.0;
        } else {
            for (int i = 0; i < p; i++) send[i] = me * p + i + call;
            SPEND(run, ALLTOALL, MPI_Alltoall(send, 1, MPI_DOUBLE, recv, 1, MPI_DOUBLE, comm));
            for (int i = 0; i < p; i++) run->wrong += recv[i] != i * p + me + call;
        }
}

void program_communicators(struct run *run) {
    double *send = memory((size_t)run->p), *recv = memory((size_t)run->p);
    for (int i = 0; i < run->iterations; i++) {
        MPI_Comm comm;
        int group = 2 + drawn(i, 0, 7);
        if (run->split)
            SPEND(run, COMMUNICATORS,
                  MPI_Comm_split(MPI_COMM_WORLD, run->me / group, run->me, &comm));
        else SPEND(run, COMMUNICATORS, MPI_Comm_dup(MPI_COMM_WORLD, &comm));
        use(run, comm, send, recv);
        SPEND(run, COMMUNICATORS, MPI_Comm_free(&comm));
    }
    free(send);
    free(recv);
}
