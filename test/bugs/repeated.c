/* SPDX-License-Identifier: BSD-3-Clause */
/* repeated - neighbours that are neighbours many times: more edges than ranks, to and from each
 * rank, then from rank 0 to rank 1 only. Tables of blocks have to hold all of them. */
#include <mpi.h>

#include <stdio.h>
#include <string.h>

enum { edges = 300, ints = 4, calls = 30 };
static int me, p, errors;

/* Has a block of the call's kind this int? Types of every second one, counts of 1 to 3, all. */
static int has(int kind, int e, int i) {
    return kind == 0 ? i % 2 == 0 : kind == 1 ? i < 1 + e % 3 : 1;
}

static int value(int rank, int e, int i, int call) { return rank * 1000003 + e * 101 + i + call; }

static void run(int all) {
    static int send[edges * ints], recv[edges * ints];
    int from[edges], to[edges], weights[edges], ones[edges], counts[edges], displs[edges];
    MPI_Aint places[edges];
    MPI_Datatype every_second, types[edges];
    MPI_Comm comm;
    int outs = all || me == 0 ? edges : 0, ins = all || me == 1 ? edges : 0;
    MPI_Type_vector(2, 1, 2, MPI_INT, &every_second);
    MPI_Type_commit(&every_second);
    for (int e = 0; e < edges; e++) {
        from[e] = (me + p - 1) % p, to[e] = (me + 1) % p, weights[e] = ones[e] = 1;
        counts[e] = 1 + e % 3, displs[e] = e * ints, places[e] = displs[e] * (int)sizeof(int);
        types[e] = every_second;
    }
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ins, from, weights, outs, to, weights,
                                   MPI_INFO_NULL, 0, &comm);
    for (int call = 0; call < calls; call++) {
        int kind = call % 3;
        for (int k = 0; k < edges * ints; k++) send[k] = value(me, k / ints, k % ints, call);
        memset(recv, -1, sizeof recv);
        if (kind == 0)
            MPI_Neighbor_alltoallw(send, ones, places, types, recv, ones, places, types, comm);
        else if (kind == 1)
            MPI_Neighbor_alltoallv(send, counts, displs, MPI_INT, recv, counts, displs, MPI_INT,
                                   comm);
        else MPI_Neighbor_alltoall(send, ints, MPI_INT, recv, ints, MPI_INT, comm);
        for (int k = 0; k < edges * ints; k++) {
            int e = k / ints, i = k % ints;
            errors += recv[k] != (e < ins && has(kind, e, i) ? value(from[e], e, i, call) : -1);
        }
    }
    MPI_Comm_free(&comm);
    MPI_Type_free(&every_second);
}

int main(int argc, char **argv) {
    int all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    run(1);
    run(0);
    MPI_Allreduce(&errors, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, all);
    MPI_Finalize();
    return all != 0;
}
