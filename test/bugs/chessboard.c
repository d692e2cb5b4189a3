/* SPDX-License-Identifier: BSD-3-Clause */
/* chessboard - neighbours that send blocks of another length than they receive; the two are alike
 * edge by edge, and change from call to call. On a ring where each rank sends to the next, with a
 * length of its own; and on a periodic line, where even ranks have one and odd ones another, then
 * by types that are made for a call. For two ranks MPI allows it, for more the libraries do. */
#include <mpi.h>

#include <stdio.h>
#include <string.h>

enum { longest = 3000, calls = 300, calls_of_types = 1000 };
static int me, p, errors;

/* Ints that a rank sends. own: each its own, else of two. */
static int length(int rank, int own, int call) {
    static const int lengths[] = {1, longest, 2, 700, 60};
    int which = own ? rank : rank % 2;
    return lengths[(call / (1 + which % 3) + which) % 5];
}

static int value(int from, int call, int i) { return from * 1000003 + call * 101 + i; }

static void one(MPI_Comm comm, const int *from, int degree, int own, int call, int all) {
    static int send[2 * longest], recv[2 * longest];
    int sent = length(me, own, call), received = length(from[0], own, call);
    for (int b = 0; b < degree; b++)
        for (int i = 0; i < sent; i++) send[b * sent + i] = value(me, call, i);
    memset(recv, 0, sizeof recv);
    if (all) MPI_Neighbor_alltoall(send, sent, MPI_INT, recv, received, MPI_INT, comm);
    else MPI_Neighbor_allgather(send, sent, MPI_INT, recv, received, MPI_INT, comm);
    for (int i = 0; i < degree * received; i++)
        if (recv[i] != value(from[i / received], call, i % received) && errors++ < 3)
            printf("rank %d, call %d: int %d is wrong\n", me, call, i);
}

/* Even ranks send one int, and receive one element of a type; odd ranks the other way round. */
static void one_of_type(MPI_Comm comm, const int *from, int degree, int call, int all) {
    static int send[2 * longest], recv[2 * longest];
    int elements = call / 20 % 2 ? longest : 2, even = me % 2 == 0;
    int sent = even ? 1 : elements, received = even ? elements : 1;
    MPI_Datatype type;
    MPI_Type_contiguous(elements, MPI_INT, &type);
    MPI_Type_commit(&type);
    for (int b = 0; b < degree; b++)
        for (int i = 0; i < sent; i++) send[b * sent + i] = value(me, call, i);
    memset(recv, 0, sizeof recv);
    MPI_Datatype of_send = even ? MPI_INT : type, of_recv = even ? type : MPI_INT;
    if (all) MPI_Neighbor_alltoall(send, 1, of_send, recv, 1, of_recv, comm);
    else MPI_Neighbor_allgather(send, 1, of_send, recv, 1, of_recv, comm);
    for (int i = 0; i < degree * received; i++)
        if (recv[i] != value(from[i / received], call, i % received) && errors++ < 3)
            printf("rank %d, call %d of types: int %d is wrong\n", me, call, i);
    MPI_Type_free(&type);
}

static void many(MPI_Comm comm, const int *from, int degree, int own) {
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    int characters;
    MPI_Get_library_version(library, &characters);
    int both = strncmp(library, "Open MPI", 8) != 0; /* it refuses two lengths in alltoall */
    for (int all = 0; all <= both; all++) {
        for (int call = 0; call < calls; call++) one(comm, from, degree, own, call, all);
        for (int call = 0; !own && call < calls_of_types; call++)
            one_of_type(comm, from, degree, call, all);
    }
    MPI_Comm_free(&comm);
}

int main(int argc, char **argv) {
    int weight = 1, periodic = 1;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    int next = (me + 1) % p, from[2] = {(me + p - 1) % p, next};
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, from, &weight, 1, &next, &weight,
                                   MPI_INFO_NULL, 0, &comm);
    many(comm, from, 1, 1);
    if (p % 2 == 0) {
        MPI_Cart_create(MPI_COMM_WORLD, 1, &p, &periodic, 0, &comm);
        many(comm, from, 2, 0);
    }
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, errors);
    MPI_Finalize();
    return errors != 0;
}
