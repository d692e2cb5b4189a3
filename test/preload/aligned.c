/* SPDX-License-Identifier: BSD-3-Clause */
/* aligned - MPI_Alloc_mem with the info key mpi_minimum_memory_alignment, and of more than the
 * heap's region may have room for. */
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *take(MPI_Aint bytes, const char *alignment, int *error) {
    void *memory = NULL;
    MPI_Info info;
    MPI_Info_create(&info);
    MPI_Info_set(info, "mpi_minimum_memory_alignment", alignment);
    *error = MPI_Alloc_mem(bytes, info, &memory);
    MPI_Info_free(&info);
    return memory;
}

/* First some of the program's own, which are free then for whoever asks malloc. */
static int take_many(void) {
    enum { own = 10, all = 64, bytes = 1 << 20 };
    char *blocks[all];
    int error, errors = 0;
    for (int i = 0; i < own; i++)
        if ((blocks[i] = malloc(bytes))) memset(blocks[i], 1, bytes);
    for (int i = 0; i < own; i++) free(blocks[i]);
    for (int i = 0; i < all; i++) {
        blocks[i] = take(bytes, "16384", &error);
        if (error == MPI_SUCCESS) memset(blocks[i], i, bytes);
        else blocks[i] = NULL, errors++;
    }
    for (int i = 0; i < all; i++) {
        errors += blocks[i] && (blocks[i][0] != i || blocks[i][bytes - 1] != i);
        if (blocks[i]) MPI_Free_mem(blocks[i]);
    }
    return errors;
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
            blocks[shift][i] = take(1000, text, &error);
            errors += error != MPI_SUCCESS || (uintptr_t)blocks[shift][i] % (1u << shift) != 0;
        }
    }
    void *odd = take(1000, "48", &error);
    if (error == MPI_SUCCESS) MPI_Free_mem(odd);
    int *send = blocks[12][0], *recv = blocks[12][1];
    for (int j = 0; j < p; j++) send[j] = 100 * me + j;
    MPI_Alltoall(send, 1, MPI_INT, recv, 1, MPI_INT, MPI_COMM_WORLD);
    for (int j = 0; j < p; j++) errors += recv[j] != 100 * j + me;
    for (int shift = 0; shift <= most; shift++)
        for (int i = 0; i < rounds; i++) MPI_Free_mem(blocks[shift][i]);
    errors += take_many();
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, errors);
    MPI_Finalize();
    return errors > 0;
}
