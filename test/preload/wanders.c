/* SPDX-License-Identifier: BSD-3-Clause */
/* wanders - goes to another folder, then calls 20 alltoalls in pairs of ranks.
 * wanders [early]   early: goes there before MPI_Init */
#include <mpi.h>

#include <stdio.h>
#include <unistd.h>

int main(int argc, char **argv) {
    int p, me, errors = argc > 1 && chdir("/") != 0;
    MPI_Comm pair;
    MPI_Init(&argc, &argv);
    errors += chdir("/") != 0;
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_split(MPI_COMM_WORLD, me / 2, me, &pair);
    for (int k = 0; k < 20; k++) {
        int send[2] = {me, me}, recv[2] = {-1, -1};
        MPI_Alltoall(send, 1, MPI_INT, recv, 1, MPI_INT, pair);
        errors += recv[0] != me / 2 * 2 || recv[1] != me / 2 * 2 + 1;
    }
    MPI_Comm_free(&pair);
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, errors);
    MPI_Finalize();
    return errors > 0;
}
