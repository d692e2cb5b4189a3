/* SPDX-License-Identifier: BSD-3-Clause */
/* nodes - which ranks share a node. The only place of the bench that finds out. */
#include "bench.h"

#include "reach/messages.h"

#include <stdlib.h>

void nodes_split(MPI_Comm comm, bool pretend, MPI_Comm *node) {
    int p, me;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &me);
    int pretended = pretend ? places_pretended(p, me) : -1;
    if (pretended >= 0) MPI_Comm_split(comm, pretended, me, node);
    else MPI_Comm_split_type(comm, MPI_COMM_TYPE_SHARED, me, MPI_INFO_NULL, node);
}

bool nodes_pretended(void) { return places_pretended(1, 0) >= 0; }

bool nodes_unreadable(void) { return places_pretended(1, 0) < -1; }

int *nodes_of(MPI_Comm comm, MPI_Comm node, int *nodes) {
    int p, me, first;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &me);
    first = me;
    /* Ranks of a node are in the order of comm: its lowest one. */
    library.bcast(&first, 1, MPI_INT, 0, node);
    int *of = malloc((size_t)p * sizeof *of);
    int fine = of != NULL, all;
    library.allreduce(&fine, &all, 1, MPI_INT, MPI_MIN, comm);
    if (!all) return free(of), NULL;
    library.allgather(&first, 1, MPI_INT, of, 1, MPI_INT, comm);
    *nodes = 0;
    /* A node's lowest rank comes before its others. */
    for (int r = 0; r < p; r++) of[r] = of[r] == r ? (*nodes)++ : of[of[r]];
    return of;
}
