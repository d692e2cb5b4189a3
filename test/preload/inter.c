/* SPDX-License-Identifier: BSD-3-Clause */
/* inter - the collectives on an intercommunicator of a lower and an upper part of the world. */
#include <mpi.h>

#include <stdio.h>

int main(int argc, char **argv) {
    enum { most = 64 };
    int p, me, mine, theirs, errors = 0, send[most], recv[most];
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm part, inter;
    int cut = p / 2, low = me < cut;
    MPI_Comm_split(MPI_COMM_WORLD, low, me, &part);
    MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, low ? cut : 0, 1, &inter);
    MPI_Comm_rank(inter, &mine);
    MPI_Comm_remote_size(inter, &theirs);
    for (int j = 0; j < theirs; j++) send[j] = 100 * me + j;
    MPI_Alltoall(send, 1, MPI_INT, recv, 1, MPI_INT, inter);
    for (int i = 0; i < theirs; i++) errors += recv[i] != 100 * (low ? cut + i : i) + mine;
    MPI_Allgather(&me, 1, MPI_INT, recv, 1, MPI_INT, inter);
    for (int i = 0; i < theirs; i++) errors += recv[i] != (low ? cut + i : i);
    MPI_Comm_free(&inter);
    MPI_Comm_free(&part);
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, errors);
    MPI_Finalize();
    return errors > 0;
}
