/* SPDX-License-Identifier: BSD-3-Clause */
/* slow_readers - long broadcasts on fresh communicators, from changing roots, and nothing else. A
 * library may let its ranks leave a broadcast before the last has read it. What mortar says to its
 * ranks between the program's calls must not get among those bytes. Every byte is checked. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

enum { communicators = 60, broadcasts = 24, most_words = 1 << 13 };

static unsigned seed = 1;

static int chance(int of) {
    seed = seed * 1103515245u + 12345u;
    return (int)((seed >> 16) % (unsigned)of);
}

int main(int argc, char **argv) {
    static long long words[most_words];
    int me, p, errors = 0, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    for (int c = 0; c < communicators; c++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        for (int b = 0; b < broadcasts; b++) {
            int root = chance(p), count = (most_words >> chance(7)) - chance(60);
            for (int i = 0; i < count; i++) words[i] = me == root ? 1000000 * c + 10000 * b + i : 0;
            MPI_Bcast(words, count, MPI_LONG_LONG, root, comm);
            for (int i = 0; i < count; i++) errors += words[i] != 1000000 * c + 10000 * b + i;
        }
        MPI_Comm_free(&comm);
    }
    MPI_Reduce(&errors, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, all);
    MPI_Finalize();
    return errors != 0;
}
