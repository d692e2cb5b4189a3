/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange - an ordinary MPI program, which knows nothing of mortar: three alltoalls and two
 * allgathers with checked results. With an argument it takes its buffers from MPI_Alloc_mem. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

enum { n = 5 };

static int *take(int alloc_mem, int count) {
    void *memory = NULL;
    if (!alloc_mem) return malloc((size_t)count * sizeof(int));
    MPI_Alloc_mem((MPI_Aint)count * (MPI_Aint)sizeof(int), MPI_INFO_NULL, &memory);
    return memory;
}

static void give(int alloc_mem, int *memory) {
    if (alloc_mem) MPI_Free_mem(memory);
    else free(memory);
}

static int value(int from, int to, int i) { return from * 10000 + to * 100 + i; }

static int wrong(const int *recv, int p, int to) {
    for (int j = 0; j < p; j++)
        for (int i = 0; i < n; i++)
            if (recv[j * n + i] != value(j, to, i)) return 1;
    return 0;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int p, me, errors = 0, alloc_mem = argc > 1;
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    int *send = take(alloc_mem, p * n), *recv = take(alloc_mem, p * n);
    for (int k = 0; k < 3; k++) {
        for (int j = 0; j < p * n; j++)
            send[j] = value(me, j / n, j % n), recv[j] = k == 2 ? send[j] : -1;
        MPI_Alltoall(k == 2 ? MPI_IN_PLACE : send, n, MPI_INT, recv, n, MPI_INT, MPI_COMM_WORLD);
        errors += wrong(recv, p, me);
    }
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < p * n; i++) recv[i] = -1;
        for (int i = 0; i < n; i++) send[i] = recv[me * n + i] = value(me, 0, i);
        MPI_Allgather(k == 1 ? MPI_IN_PLACE : send, n, MPI_INT, recv, n, MPI_INT, MPI_COMM_WORLD);
        errors += wrong(recv, p, 0);
    }
    give(alloc_mem, send);
    give(alloc_mem, recv);
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, errors);
    MPI_Finalize();
    return errors > 0;
}
