/* SPDX-License-Identifier: BSD-3-Clause */
/* hungry - rank 0 has a long message to rank 2 under way, and makes collectives with rank 1 until
 * that has heard of its end. It is always the last to come, so that it never waits. Each call must
 * still get the message on. Prints how many calls it took.
 * usage: hungry WARM BYTES; WARM: calls before */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most = 8000 };

int main(int argc, char **argv) {
    int me, number = 0, stop = 0, all = 0, heard = 0;
    MPI_Comm pair;
    MPI_Request request = MPI_REQUEST_NULL;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_split(MPI_COMM_WORLD, me == 2 ? MPI_UNDEFINED : 0, me, &pair);
    int warm = argc > 2 ? atoi(argv[1]) : 0, bytes = argc > 2 ? atoi(argv[2]) : 1 << 20;
    char *message = malloc((size_t)bytes);
    if (!message) MPI_Abort(MPI_COMM_WORLD, 1);
    memset(message, me == 0 ? 7 : 0, (size_t)bytes);
    for (int i = 0; i < warm && me < 2; i++)
        MPI_Allreduce(&stop, &all, 1, MPI_INT, MPI_MAX, pair);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 2) {
        usleep(100000);
        MPI_Recv(message, bytes, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(&me, 1, MPI_INT, 1, 2, MPI_COMM_WORLD);
    } else {
        if (me == 0) MPI_Isend(message, bytes, MPI_BYTE, 2, 1, MPI_COMM_WORLD, &request);
        if (me == 1) MPI_Irecv(&heard, 1, MPI_INT, 2, 2, MPI_COMM_WORLD, &request);
        for (; number < most && !all; number++) {
            if (me == 0) usleep(2000);
            if (me == 1 && !stop) MPI_Test(&request, &stop, MPI_STATUS_IGNORE);
            MPI_Allreduce(&stop, &all, 1, MPI_INT, MPI_MAX, pair);
        }
        MPI_Wait(&request, MPI_STATUS_IGNORE);
        MPI_Comm_free(&pair);
    }
    if (me == 0) printf("%d calls\n", number);
    int wrong = me == 2 && (message[0] != 7 || message[bytes - 1] != 7);
    free(message);
    MPI_Finalize();
    return wrong;
}
