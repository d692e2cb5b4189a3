/* SPDX-License-Identifier: BSD-3-Clause */
/* handler - an error handler frees the communicator of the call that has failed, and makes blocks
 * where what belonged to it may have been. Nothing writes into them when the call comes back.
 * usage: handler BEFORE   so many broadcasts that do not fail before the one that does */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { numbers = 1000, rounds = 8, blocks = 4000, mark = 0x77 };

static MPI_Comm comm;
static unsigned char *block[blocks];
static int handled;

static size_t bytes_of(int k) { return 32 + (size_t)k % 64 * 16; }

static void handle(MPI_Comm *failed, int *error, ...) {
    (void)error;
    handled += *failed == comm;
    MPI_Barrier(MPI_COMM_SELF); /* a call inside of the one that has failed */
    MPI_Comm_free(&comm);
    for (int k = 0; k < blocks; k++) {
        block[k] = malloc(bytes_of(k));
        memset(block[k], mark, bytes_of(k));
    }
}

static int spoilt_blocks(void) {
    int spoilt = 0;
    for (int k = 0; k < blocks; k++) {
        size_t at = 0;
        while (at < bytes_of(k) && block[k][at] == mark) at++;
        spoilt += at < bytes_of(k);
        free(block[k]);
    }
    return spoilt;
}

int main(int argc, char **argv) {
    int p, me, errors = 0, all, vector[numbers] = {0}, before = argc > 1 ? atoi(argv[1]) : 0;
    MPI_Errhandler handler;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_create_errhandler(handle, &handler);
    for (int round = 0; round < rounds; round++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        MPI_Comm_set_errhandler(comm, handler);
        for (int k = 0; k < before; k++) MPI_Bcast(vector, numbers, MPI_INT, 0, comm);
        handled = 0;
        MPI_Bcast(vector, me == 0 ? numbers : numbers * 3 / 4, MPI_INT, 0, comm);
        errors += handled != (me > 0);
        if (comm == MPI_COMM_NULL) errors += spoilt_blocks();
        else MPI_Comm_free(&comm);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    MPI_Errhandler_free(&handler);
    MPI_Allreduce(&errors, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, all);
    MPI_Finalize();
    return all != 0;
}
