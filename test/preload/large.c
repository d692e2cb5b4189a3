/* SPDX-License-Identifier: BSD-3-Clause */
/* large - the large-count forms of MPI 4. */
#include <mpi.h>

#include <stdio.h>

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int p, me, errors = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
#if MPI_VERSION >= 4
    enum { most = 64 };
    double send[most], recv[most];
    for (int j = 0; j < p; j++) send[j] = 100 * me + j;
    MPI_Alltoall_c(send, (MPI_Count)1, MPI_DOUBLE, recv, (MPI_Count)1, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int i = 0; i < p; i++) errors += recv[i] != 100 * i + me;
    MPI_Allgather_c(send, (MPI_Count)1, MPI_DOUBLE, recv, (MPI_Count)1, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int i = 0; i < p; i++) errors += recv[i] != 100 * i;
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, errors);
#else
    if (me == 0) printf("no large counts\n");
#endif
    MPI_Finalize();
    return errors > 0;
}
