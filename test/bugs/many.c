/* SPDX-License-Identifier: BSD-3-Clause */
/* many - N alltoalls of 8 bytes in a row, each checked. usage: many CALLS */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv) {
    enum { most = 64 };
    MPI_Init(&argc, &argv);
    int p, me, calls = argc > 1 ? atoi(argv[1]) : 1000;
    long errors = 0, send[most], recv[most];
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int call = 0; call < calls; call++) {
        for (int j = 0; j < p; j++) send[j] = (call * 64L + me) * 64 + j;
        MPI_Alltoall(send, 1, MPI_LONG, recv, 1, MPI_LONG, MPI_COMM_WORLD);
        for (int i = 0; i < p; i++) errors += recv[i] != (call * 64L + i) * 64 + me;
    }
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %ld errors\n", p, errors);
    MPI_Finalize();
    return errors > 0;
}
