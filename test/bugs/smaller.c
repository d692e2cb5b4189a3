/* SPDX-License-Identifier: BSD-3-Clause */
/* smaller - mortar's private communicators have the ranks of the communicator that they are for,
 * also where its topology leaves ranks of its parent out: MPICH 5.0.2 says that the group of such a
 * communicator is the parent's. */
#include "reach/host.h"

#include "reach/reach.h"

#include <stdio.h>

struct host host; /* of the whole library only private.c is here */
static int errors;

static void look(MPI_Comm comm) {
    int me, p, its_me, its_p;
    MPI_Comm own;
    if (comm == MPI_COMM_NULL) return;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &p);
    if (comm_private(comm, &own) != 0) {
        errors++;
        return;
    }
    MPI_Comm_rank(own, &its_me);
    MPI_Comm_size(own, &its_p);
    errors += its_me != me || its_p != p;
    MPI_Comm_free(&own);
    if (comm != MPI_COMM_WORLD) MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
    int me, p, all = 0;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    host.errors_return = MPI_ERRORS_RETURN;
    host.comm_create = PMPI_Comm_create;
    host.comm_split = PMPI_Comm_split;
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    look(MPI_COMM_WORLD);
    for (int ranks = 1; ranks <= p; ranks++) {
        MPI_Cart_create(MPI_COMM_WORLD, 1, &ranks, (int[]){0}, 0, &comm);
        look(comm);
        MPI_Comm_split(MPI_COMM_WORLD, me < ranks, -me, &comm);
        look(comm);
    }
    MPI_Reduce(&errors, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, all);
    MPI_Finalize();
    return 0;
}
