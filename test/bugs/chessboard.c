/* SPDX-License-Identifier: BSD-3-Clause */
/* chessboard - neighbours that send blocks of another length than they receive; the two are alike
 * edge by edge, and change from call to call. On a ring where each rank sends to the next, with a
 * length of its own; and on a periodic line, where even ranks have one and odd ones another, then
 * by types that are made for a call. For two ranks MPI allows it, for more the libraries do. Then
 * on graphs where some ranks do not know all lengths. */
#include <mpi.h>

#include <stdio.h>
#include <string.h>

enum { longest = 3000, calls = 300, calls_of_types = 1000, calls_on_graphs = 60, most_ranks = 64 };
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

/* Each rank sends one block to all of `to`, and receives one from all of `from`, whose lengths are
 * those of ranks of_mine and of_theirs. */
static void on_graph(const int *from, int ins, const int *to, int outs, int of_mine,
                     int of_theirs) {
    static int send[longest], recv[most_ranks * longest], weights[most_ranks];
    MPI_Comm comm;
    for (int r = 0; r < p; r++) weights[r] = 1;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, ins, from, weights, outs, to, weights,
                                   MPI_INFO_NULL, 0, &comm);
    for (int call = 0; call < calls_on_graphs; call++) {
        int sent = length(of_mine, 1, call), received = length(of_theirs, 1, call);
        for (int i = 0; i < sent; i++) send[i] = value(me, call, i);
        memset(recv, 0, (size_t)(ins * received) * sizeof(int));
        MPI_Neighbor_allgather(send, sent, MPI_INT, recv, received, MPI_INT, comm);
        for (int i = 0; i < ins * received; i++)
            if (recv[i] != value(from[i / received], call, i % received) && errors++ < 3)
                printf("rank %d, call %d on a graph: int %d is wrong\n", me, call, i);
    }
    MPI_Comm_free(&comm);
}

/* Two lengths, of which some ranks know one only: all others send to rank 1, and it sends to rank
 * 2; or, backwards, the other way round. */
static void fan(int backwards) {
    int others[most_ranks], count = 0, one = me == 1 ? 2 : 1;
    for (int r = 0; r < p; r++)
        if (r != 1) others[count++] = r;
    int has_many = me == 1 ? count : me == 2; /* neighbours on this side; on the other one */
    const int *many = me == 1 ? others : &one;
    if (backwards) on_graph(&one, 1, many, has_many, me == 1 ? 1 : 0, me == 1 ? 0 : 1);
    else on_graph(many, has_many, &one, 1, me == 1 ? 1 : 0, me == 1 ? 0 : 1);
}

/* Groups of ranks, each of which knows its own length only; and the last ranks have no
 * neighbours. */
static void groups(int count, int idle) {
    int members[most_ranks], size = 0, mine = me < count ? me : count - 1;
    for (int r = 0; r < p - idle; r++)
        if ((r < count ? r : count - 1) == mine) members[size++] = r;
    if (me >= p - idle) size = 0;
    on_graph(members, size, members, size, mine, mine);
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
    for (int k = 0; k < 2 && p > 2 && p <= most_ranks; k++) {
        fan(k);
        groups(2 + k, 0);
        groups(1, 1 + k);
    }
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, errors);
    MPI_Finalize();
    return errors != 0;
}
