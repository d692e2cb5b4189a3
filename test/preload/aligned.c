/* SPDX-License-Identifier: BSD-3-Clause */
/* aligned - MPI_Alloc_mem with the info key mpi_minimum_memory_alignment. */
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>

static void *take(const char *alignment, int *error) {
    void *memory = NULL;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", alignment);
    *error = MPI_Alloc_mem(1000, info, &memory);
    MPI_Info_free(&info);
    return memory;
}

int main(int argc, char **argv) {
    enum { most = 20, rounds = 8 };
    MPI_Init(&argc, &argv);
    int p, me, error, errors = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    void *blocks[most + 1][rounds];
    for (int shift = 0; shift <= most; shift++) {
        char text[16];
        snprintf(text, sizeof text, "%d", 1 << shift);
        for (int i = 0; i < rounds; i++) { /* several: one may lie right by chance */
            blocks[shift][i] = take(text, &error);
            errors += error != MPI_SUCCESS || (uintptr_t)blocks[shift][i] % (1u << shift) != 0;
        }
    }
    void *odd = take("48", &error);
    if (error == MPI_SUCCESS) MPI_Free_mem(odd);
    int *send = blocks[12][0], *recv = blocks[12][1];
    for (int j = 0; j < p; j++) send[j] = 100 * me + j;
    MPI_Alltoall(send, 1, MPI_INT, recv, 1, MPI_INT, MPI_COMM_WORLD);
    for (int j = 0; j < p; j++) errors += recv[j] != 100 * j + me;
    for (int shift = 0; shift <= most; shift++)
        for (int i = 0; i < rounds; i++) MPI_Free_mem(blocks[shift][i]);
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, errors);
    MPI_Finalize();
    return errors > 0;
}
