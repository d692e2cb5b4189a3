/* SPDX-License-Identifier: BSD-3-Clause */
/* remote - an intercommunicator of all ranks but one, and that one. An allgatherv has a count for
 * each rank of the other group, and behind them lies no memory. */
#define _GNU_SOURCE
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

/* Memory for so many ints, behind which there is none. */
static int *at_the_end(int ints) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    char *memory = mmap(NULL, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED || mprotect(memory + page, page, PROT_NONE) != 0) abort();
    return (int *)(void *)(memory + page) - ints;
}

int main(int argc, char **argv) {
    enum { calls = 5, most = 64 };
    int p, me, theirs, errors = 0, recv[2 * most];
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm part, inter;
    int cut = p - 1, low = me < cut;
    MPI_Comm_split(MPI_COMM_WORLD, low, me, &part);
    MPI_Intercomm_create(part, 0, MPI_COMM_WORLD, low ? cut : 0, 1, &inter);
    MPI_Comm_remote_size(inter, &theirs);
    int *counts = at_the_end(theirs), *displs = at_the_end(theirs);
    for (int i = 0; i < theirs; i++) counts[i] = 1, displs[i] = 2 * i;
    for (int k = 0; k < calls; k++) {
        int mine = 100 * me + k;
        MPI_Allgatherv(&mine, 1, MPI_INT, recv, counts, displs, MPI_INT, inter);
        for (int i = 0; i < theirs; i++) errors += recv[2 * i] != 100 * (low ? cut : i) + k;
    }
    MPI_Comm_free(&inter);
    MPI_Comm_free(&part);
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, errors);
    MPI_Finalize();
    return errors > 0;
}
