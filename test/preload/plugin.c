/* SPDX-License-Identifier: BSD-3-Clause */
/* plugin - the part of late.c that uses MPI. */
#include <mpi.h>

#include <stdio.h>

int run(void);
int run(void) {
    enum { most = 64 };
    int p, me, errors = 0, send[most], recv[most];
    MPI_Init(NULL, NULL);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int j = 0; j < p; j++) send[j] = 100 * me + j;
    MPI_Alltoall(send, 1, MPI_INT, recv, 1, MPI_INT, MPI_COMM_WORLD);
    for (int i = 0; i < p; i++) errors += recv[i] != 100 * i + me;
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, errors);
    MPI_Finalize();
    return errors > 0;
}
