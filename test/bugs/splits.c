/* SPDX-License-Identifier: BSD-3-Clause */
/* splits COUNT - communicators of random ranks in random order, none of all ranks, each used for a
 * few calls and freed; many have the ranks of an earlier one. What ranks remember of each other
 * must be the same on all of them. Prints the ranks and the errors. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

static unsigned seed = 1; /* the same on all ranks */

static int draw(int of) {
    seed = seed * 1103515245u + 12345u;
    return (int)((seed >> 16) % (unsigned)of);
}

int main(int argc, char **argv) {
    int p, me, errors = 0, count = argc > 1 ? atoi(argv[1]) : 300;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int c = 0; c < count; c++) {
        int color = 0, key = 0, few = c % 3 == 0; /* every third time the same halves */
        for (int r = 0; r < p; r++) {
            int drawn_color = draw(3), drawn_key = draw(100);
            if (r == me) color = few ? r % 2 : drawn_color, key = few ? 0 : drawn_key;
        }
        MPI_Comm comm;
        MPI_Comm_split(MPI_COMM_WORLD, color, key, &comm);
        int size, rank;
        MPI_Comm_size(comm, &size);
        MPI_Comm_rank(comm, &rank);
        for (int k = 0; k < 3 && size < p; k++) {
            int sum = 0, mine = rank + c + k, from = rank == k % size ? c : -1;
            MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
            MPI_Bcast(&from, 1, MPI_INT, k % size, comm);
            errors += sum != size * (size - 1) / 2 + size * (c + k) || from != c;
        }
        MPI_Comm_free(&comm);
    }
    int all = 0;
    MPI_Reduce(&errors, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, all);
    MPI_Finalize();
    return errors > 0;
}
