/* SPDX-License-Identifier: BSD-3-Clause */
/* sanitized - built with a sanitizer, which has a malloc of its own: allocates by more than one of
 * its family, and exchanges by collectives. With a word it writes behind a buffer. */
#define _GNU_SOURCE
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { rounds = 20, each = 512 };

int main(int count, char **words) {
    int p, me, errors = 0, all = 0;
    MPI_Init(&count, &words);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int round = 0; round < rounds; round++) {
        int *out = malloc((size_t)p * each * sizeof *out),
            *in = reallocarray(NULL, (size_t)p * each, sizeof *in);
        for (int i = 0; i < p * each; i++) out[i] = me * p * each + i + round;
        MPI_Alltoall(out, each, MPI_INT, in, each, MPI_INT, MPI_COMM_WORLD);
        for (int i = 0; i < p * each; i++)
            errors += in[i] != i / each * p * each + me * each + i % each + round;
        if (count > 1) out[p * each] = round; /* wrong, on purpose */
        free(out);
        free(in);
    }
    MPI_Allreduce(&errors, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, all);
    MPI_Finalize();
    return all != 0;
}
