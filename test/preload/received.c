/* SPDX-License-Identifier: BSD-3-Clause */
/* received - 10 calls of each kind of collective, with blocks of 1000 bytes. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

enum { rounds = 10, n = 1000, most = 64 };

int main(int argc, char **argv) {
    int p, counts[most], places[most];
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(world, &p);
    char *a = calloc((size_t)p, n), *b = calloc((size_t)p, n);
    for (int i = 0; i < p; i++) counts[i] = n, places[i] = i * n;
    for (int k = 0; k < rounds; k++) {
        int root = k % p;
        MPI_Alltoall(a, n, MPI_CHAR, b, n, MPI_CHAR, world);
        MPI_Allgather(a, n, MPI_CHAR, b, n, MPI_CHAR, world);
        MPI_Bcast(a, n, MPI_CHAR, root, world);
        MPI_Gather(a, n, MPI_CHAR, b, n, MPI_CHAR, root, world);
        MPI_Scatter(a, n, MPI_CHAR, b, n, MPI_CHAR, root, world);
        MPI_Reduce(a, b, n, MPI_CHAR, MPI_BOR, root, world);
        MPI_Allreduce(a, b, n, MPI_CHAR, MPI_BOR, world);
        MPI_Scan(a, b, n, MPI_CHAR, MPI_BOR, world);
        MPI_Exscan(a, b, n, MPI_CHAR, MPI_BOR, world);
        MPI_Reduce_scatter_block(a, b, n, MPI_CHAR, MPI_BOR, world);
        MPI_Reduce_scatter(a, b, counts, MPI_CHAR, MPI_BOR, world);
        MPI_Alltoallv(a, counts, places, MPI_CHAR, b, counts, places, MPI_CHAR, world);
        MPI_Allgatherv(a, n, MPI_CHAR, b, counts, places, MPI_CHAR, world);
        MPI_Gatherv(a, n, MPI_CHAR, b, counts, places, MPI_CHAR, root, world);
        MPI_Scatterv(a, counts, places, MPI_CHAR, b, n, MPI_CHAR, root, world);
        MPI_Barrier(world);
    }
    free(a);
    free(b);
    MPI_Finalize();
    return 0;
}
