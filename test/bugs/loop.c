/* SPDX-License-Identifier: BSD-3-Clause */
/* loop - alltoalls for ever, for the test that kills a rank. Prints "running" when the first have
 * been made. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv) {
    enum { n = 1 << 16, ballast_bytes = 24 << 20 };
    MPI_Init(&argc, &argv);
    int p, me;
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    char *send = malloc((size_t)p * n), *recv = malloc((size_t)p * n);
    char *ballast = malloc(ballast_bytes), *other = malloc(ballast_bytes);
    memset(send, me, (size_t)p * n);
    memset(ballast, 1, ballast_bytes); /* shared memory that would be missed */
    MPI_Alltoall(ballast, ballast_bytes / p, MPI_BYTE, other, ballast_bytes / p, MPI_BYTE,
                 MPI_COMM_WORLD);
    for (long call = 0;; call++) {
        MPI_Alltoall(send, n, MPI_BYTE, recv, n, MPI_BYTE, MPI_COMM_WORLD);
        MPI_Alltoall(send, 8, MPI_BYTE, recv, 8, MPI_BYTE, MPI_COMM_WORLD);
        if (me == 0 && call == 10) puts("running"), fflush(stdout);
    }
}
