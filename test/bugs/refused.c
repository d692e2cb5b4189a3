/* SPDX-License-Identifier: BSD-3-Clause */
/* refused - what the MPI library refuses on one rank is no call to mortar either, and nothing else
 * is. usage: refused MODE
 *   empty  alltoalls of no bytes whose two buffers are the same on rank 0, and broadcasts of
 *          elements without data that have a buffer on rank 0 only; all libraries run these
 *   part   sums of which the last rank receives no part, and has no buffer for one
 *   alone  neighbours of whom the last rank has none, and no buffers: MPICH refuses its calls there
 *   gap    the last rank gathers its own block from where it receives it, of a type with a gap, in
 *          which MPICH does not see that
 *   left   a gather that the root is refused, and then gathers on the next communicator */
#include <mpi.h>

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { most_ranks = 64, calls = 300, rounds = 4 };

static int me, p, errors;

static void sum(int i) {
    int mine = i + me, all = 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    errors += all != i * p + p * (p - 1) / 2;
}

static void empty(void) {
    int other;
    MPI_Datatype nothing;
    MPI_Type_contiguous(0, MPI_INT, &nothing);
    MPI_Type_commit(&nothing);
    for (int i = 0; i < calls; i++) {
        MPI_Alltoall(me ? &me : NULL, 0, MPI_INT, me ? &other : NULL, 0, MPI_INT, MPI_COMM_WORLD);
        sum(i);
        MPI_Bcast(me ? NULL : &other, 3, nothing, 0, MPI_COMM_WORLD);
        sum(i);
    }
    MPI_Type_free(&nothing);
}

static void part(void) {
    int counts[most_ranks], terms[most_ranks], mine;
    bool gets = me < p - 1;
    for (int r = 0; r < p; r++) counts[r] = r < p - 1;
    for (int i = 0; i < calls; i++) {
        for (int r = 0; r < p; r++) terms[r] = i + me + r;
        MPI_Reduce_scatter(terms, gets ? &mine : NULL, counts, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        errors += gets && mine != (i + me) * p + p * (p - 1) / 2;
        sum(i);
    }
}

static void alone(void) {
    MPI_Comm graph;
    bool among_others = me < p - 1;
    int neighbour = p - 2 - me, mine, got = -1; /* in pairs, or oneself */
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, among_others, &neighbour, MPI_UNWEIGHTED,
                                   among_others, &neighbour, MPI_UNWEIGHTED, MPI_INFO_NULL, 0,
                                   &graph);
    MPI_Comm_set_errhandler(graph, MPI_ERRORS_RETURN);
    for (int i = 0; i < calls; i++) {
        mine = i + me;
        MPI_Neighbor_allgather(among_others ? &mine : NULL, 1, MPI_INT, among_others ? &got : NULL,
                               1, MPI_INT, graph);
        errors += among_others && got != i + neighbour;
        sum(i);
    }
    MPI_Comm_free(&graph);
}

static void gap(void) {
    MPI_Datatype spread;
    int all[2 * most_ranks], mine, root = p - 1;
    int *from = me == root ? &all[2 * root] : &mine;
    MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &spread);
    MPI_Type_commit(&spread);
    for (int i = 0; i < calls; i++) {
        *from = i + me;
        MPI_Gather(from, 1, spread, all, 1, spread, root, MPI_COMM_WORLD);
        for (int r = 0; r < p && me == root; r++) errors += all[2 * r] != i + r;
        sum(i);
    }
    MPI_Type_free(&spread);
}

static void left(void) {
    int all[most_ranks], root = p - 1;
    for (int i = 0; i < rounds * calls; i += calls) {
        MPI_Comm comm;
        MPI_Comm_split(MPI_COMM_WORLD, 0, me, &comm);
        MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
        for (int k = i; k < i + calls; k++) {
            int mine = k + me;
            MPI_Gather(&mine, 1, MPI_INT, all, 1, MPI_INT, root, comm);
            for (int r = 0; r < p && me == root; r++) errors += all[r] != k + r;
        }
        int fine = MPI_Gather(&i, 1, MPI_INT, all, me == root ? -1 : 1, MPI_INT, root, comm);
        errors += (fine == MPI_SUCCESS) == (me == root);
        MPI_Comm_free(&comm);
    }
}

int main(int argc, char **argv) {
    int all;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    const char *mode = argc == 2 ? argv[1] : "";
    if (strcmp(mode, "empty") == 0) empty();
    else if (strcmp(mode, "part") == 0) part();
    else if (strcmp(mode, "alone") == 0) alone();
    else if (strcmp(mode, "gap") == 0) gap();
    else if (strcmp(mode, "left") == 0) left();
    else errors++;
    MPI_Reduce(&errors, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, all);
    MPI_Finalize();
    return 0;
}
