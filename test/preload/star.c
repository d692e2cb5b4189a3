/* SPDX-License-Identifier: BSD-3-Clause */
/* star - rank 0 shares a communicator of two with each other rank, and comes to 21 alltoalls in
 * each, to all after 5 ms of sleep. So each rank waits longer than the one before it. */
#include <mpi.h>

#include <stdio.h>
#include <time.h>

enum { rounds = 21, most = 64 };

int main(int argc, char **argv) {
    int p, me, errors = 0;
    MPI_Comm pairs[most];
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int i = 1; i < p; i++)
        MPI_Comm_split(MPI_COMM_WORLD, me == 0 || me == i ? 0 : MPI_UNDEFINED, me, &pairs[i]);
    for (int k = 0; k < rounds; k++)
        for (int i = 1; i < p; i++) {
            int send[2] = {me, me}, recv[2] = {-1, -1};
            if (pairs[i] == MPI_COMM_NULL) continue;
            if (me == 0) nanosleep(&(struct timespec){.tv_nsec = 5000000}, NULL);
            MPI_Alltoall(send, 1, MPI_INT, recv, 1, MPI_INT, pairs[i]);
            errors += recv[0] != 0 || recv[1] != i;
        }
    for (int i = 1; i < p; i++)
        if (pairs[i] != MPI_COMM_NULL) MPI_Comm_free(&pairs[i]);
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, errors);
    MPI_Finalize();
    return errors > 0;
}
