/* SPDX-License-Identifier: BSD-3-Clause */
/* characters - sums of MPI_CHAR, which the standard does not know and every library makes. */
#include <mpi.h>

#include <stdio.h>

int main(int argc, char **argv) {
    int me, p, errors = 0, all = 0;
    char send[100], recv[100];
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    for (int i = 0; i < 100; i++) send[i] = (char)(me + i % 20);
    for (int k = 0; k < 20; k++) {
        MPI_Reduce(send, recv, 100, MPI_CHAR, MPI_SUM, k % p, MPI_COMM_WORLD);
        for (int i = 0; me == k % p && i < 100; i++)
            errors += recv[i] != (char)(p * (p - 1) / 2 + p * (i % 20));
    }
    MPI_Allreduce(&errors, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, all);
    MPI_Finalize();
    return all != 0;
}
