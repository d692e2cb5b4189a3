/* SPDX-License-Identifier: BSD-3-Clause */
/* alive - many communicators alive at the same time, all of them used, then freed in another order.
 * usage: alive COMMUNICATORS. Says how many there were: as many as the MPI library grants. */
#include "faults.h"

static long use(MPI_Comm comm, int number) {
    int p, rank;
    long errors = 0;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &rank);
    int sent[16], got[16], value = rank == number % p ? number : -1, last = p < 16 ? p : 16;
    if (p <= 16) {
        for (int i = 0; i < last; i++) sent[i] = number * 31 + rank * 16 + i;
        MPI_Alltoall(sent, 1, MPI_INT, got, 1, MPI_INT, comm);
        for (int i = 0; i < last; i++) errors += got[i] != number * 31 + i * 16 + rank;
    }
    MPI_Bcast(&value, 1, MPI_INT, number % p, comm);
    return errors + (value != number);
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int wanted = argc > 1 ? atoi(argv[1]) : 100, made = 0;
    long errors = 0;
    char more[64];
    MPI_Comm *comms = malloc((size_t)wanted * sizeof *comms);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    for (; made < wanted; made++) {
        int fine = made % 3 == 0
                       ? MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &comms[made]) == MPI_SUCCESS
                       : MPI_Comm_dup(MPI_COMM_WORLD, &comms[made]) == MPI_SUCCESS;
        if (!fine) break;
        errors += use(comms[made], made);
    }
    for (int i = 0; i < made; i++) errors += use(comms[i], i + 1);
    for (int i = 0; i < made; i++) errors += use(comms[made - 1 - i], i);
    for (int i = 0; i < made; i += 2) MPI_Comm_free(&comms[i]);
    for (int i = 1; i < made; i += 2) MPI_Comm_free(&comms[i]);
    snprintf(more, sizeof more, ", %d communicators", made);
    free(comms);
    return end(errors, more);
}
