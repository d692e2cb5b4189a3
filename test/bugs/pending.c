/* SPDX-License-Identifier: BSD-3-Clause */
/* pending - communicators that are freed while messages are under way on them; in between and
 * afterwards others are used that may have got the same handle. Pairs of ranks; `threads`:
 * MPI_THREAD_MULTIPLE. */
#include <mpi.h>

#include <stdio.h>

int main(int argc, char **argv) {
    int p, me, got, errors = 0, level;
    MPI_Init_thread(&argc, &argv, argc > 1 ? MPI_THREAD_MULTIPLE : MPI_THREAD_SINGLE, &level);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    int peer = me ^ 1;
    MPI_Status statuses[2];
    for (int k = 0; k < 8; k++) {
        MPI_Comm comm;
        MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
        int sent = 100 * k + me, sum = 0;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int i = 0; i < 3; i++) MPI_Allreduce(&k, &sum, 1, MPI_INT, MPI_SUM, comm);
        errors += sum != k * p;
        got = -1;
        if (peer < p) MPI_Irecv(&got, 1, MPI_INT, peer, 0, comm, &requests[0]);
        /* The sender may come when the receiver has freed the communicator. */
        if (k % 2 && me % 2) MPI_Barrier(MPI_COMM_WORLD);
        if (peer < p) MPI_Isend(&sent, 1, MPI_INT, peer, 0, comm, &requests[1]);
        MPI_Comm_free(&comm);
        if (!(k % 2 && me % 2)) MPI_Barrier(MPI_COMM_WORLD);
        MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &comm);
        MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm);
        errors += sum != p * (p - 1) / 2;
        MPI_Waitall(2, requests, statuses);
        errors += peer < p && got != 100 * k + peer;
        MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm);
        errors += sum != p * (p - 1) / 2;
        MPI_Comm_free(&comm);
    }
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, errors);
    MPI_Finalize();
    return errors > 0;
}
