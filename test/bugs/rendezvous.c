/* SPDX-License-Identifier: BSD-3-Clause */
/* rendezvous - would hang without progress: a long message is under way while its sender already
 * waits in the collective and its receiver is not there yet (MPI 4.1 section 2.9).
 * usage: rendezvous BLOCK-BYTES [late]   late: the receiver enters MPI_Recv only after the sender
 * has gone to sleep waiting */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { message = 8 << 20, rounds = 3 };

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int p, me, errors = 0, n = argc > 1 ? atoi(argv[1]) : 8, late = argc > 2;
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    char *letter = malloc(message), *send = malloc((size_t)(p * n)),
         *recv = malloc((size_t)(p * n));
    for (int round = 0; round < rounds; round++) {
        MPI_Request request = MPI_REQUEST_NULL;
        memset(send, me + round, (size_t)(p * n));
        memset(letter, me == 0 ? 7 : 0, message);
        if (me == 0) MPI_Isend(letter, message, MPI_BYTE, 1, 3, MPI_COMM_WORLD, &request);
        if (me == 1) {
            if (late) usleep(100000);
            MPI_Recv(letter, message, MPI_BYTE, 0, 3, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            errors += letter[0] != 7 || letter[message - 1] != 7;
        }
        MPI_Alltoall(send, n, MPI_BYTE, recv, n, MPI_BYTE, MPI_COMM_WORLD);
        for (int i = 0; i < p * n; i++) errors += recv[i] != i / n + round;
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, errors);
    free(letter);
    free(send);
    free(recv);
    MPI_Finalize();
    return errors > 0;
}
