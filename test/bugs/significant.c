/* SPDX-License-Identifier: BSD-3-Clause */
/* significant - arguments that the standard says are not looked at on some ranks, given there as
 * nothing, or as rubbish: all ranks must turn the same way nevertheless. usage: significant [null:
 * rank 0's receive buffer of an exscan is NULL] */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 5000 };
static int me, p, errors;

static void check(int fine, const char *what, int count) {
    if (!fine && errors++ == 0) printf("rank %d: %s of %d is wrong\n", me, what, count);
}

static void exscan(int count, int null) {
    static int send[most], recv[most];
    for (int i = 0; i < count; i++) send[i] = me + i, recv[i] = -1;
    MPI_Exscan(send, me == 0 && null ? NULL : recv, count, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    int fine = 1;
    for (int i = 0; me > 0 && i < count; i++) fine &= recv[i] == me * (me - 1) / 2 + me * i;
    check(fine, "exscan", count);
}

static void rooted(int count, int root) {
    static int send[most];
    int *all = calloc((size_t)(count * p), sizeof *all), at_root = me == root, fine = 1;
    int *counts = malloc(2 * (size_t)p * sizeof *counts);
    for (int r = 0; r < p; r++) counts[r] = count, counts[p + r] = r * count;
    for (int i = 0; i < count; i++) send[i] = me * 10000 + i;
    /* elsewhere than at the root: no buffer, no type, no counts */
    MPI_Gather(send, count, MPI_INT, at_root ? all : NULL, at_root ? count : -7,
               at_root ? MPI_INT : MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
    for (int k = 0; at_root && k < count * p; k++) fine &= all[k] == k / count * 10000 + k % count;
    check(fine, "gather", count);
    memset(all, 0, (size_t)(count * p) * sizeof *all);
    MPI_Gatherv(at_root ? MPI_IN_PLACE : send, at_root ? -1 : count,
                at_root ? MPI_DATATYPE_NULL : MPI_INT, at_root ? all : MPI_IN_PLACE,
                at_root ? counts : NULL, at_root ? counts + p : NULL,
                at_root ? MPI_INT : MPI_DATATYPE_NULL, root, MPI_COMM_WORLD);
    for (int k = 0; at_root && k < count * p; k++)
        fine &= all[k] == (k / count == root ? 0 : k / count * 10000 + k % count);
    check(fine, "gatherv", count);
    for (int k = 0; at_root && k < count * p; k++) all[k] = k;
    MPI_Scatter(at_root ? all : NULL, at_root ? count : -3, at_root ? MPI_INT : MPI_DATATYPE_NULL,
                at_root ? MPI_IN_PLACE : send, at_root ? -1 : count,
                at_root ? MPI_DATATYPE_NULL : MPI_INT, root, MPI_COMM_WORLD);
    for (int i = 0; !at_root && i < count; i++) fine &= send[i] == me * count + i;
    check(fine, "scatter", count);
    MPI_Scatterv(at_root ? all : MPI_IN_PLACE, at_root ? counts : NULL, at_root ? counts + p : NULL,
                 at_root ? MPI_INT : MPI_DATATYPE_NULL, send, count, MPI_INT, root, MPI_COMM_WORLD);
    for (int i = 0; i < count; i++) fine &= send[i] == me * count + i;
    check(fine, "scatterv", count);
    MPI_Reduce(send, at_root ? all : NULL, count, MPI_INT, MPI_MAX, root, MPI_COMM_WORLD);
    for (int i = 0; at_root && i < count; i++) fine &= all[i] == (p - 1) * count + i;
    check(fine, "reduce", count);
    free(counts);
    free(all);
}

/* Nothing at all, from nowhere, on some or on all ranks. */
static void nothing(void) {
    int none[64] = {0}, ones[64], zeros[64] = {0}, x = me, got[64] = {0};
    for (int r = 0; r < p; r++) ones[r] = r == 0 ? 1 : 0;
    MPI_Alltoall(NULL, 0, MPI_INT, NULL, 0, MPI_INT, MPI_COMM_WORLD);
    MPI_Allreduce(NULL, NULL, 0, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD);
    MPI_Allgatherv(me == 0 ? &x : NULL, me == 0, MPI_INT, got, ones, none, MPI_INT, MPI_COMM_WORLD);
    check(got[0] == 0, "allgatherv", 1);
    for (int r = 0; r < p; r++) ones[r] = me == 0;
    for (int r = 0; r < p; r++) zeros[r] = r == 0;
    /* rank 0 sends to all; who sends nothing has no buffer */
    MPI_Alltoallv(me == 0 ? &x : NULL, ones, none, MPI_INT, got, zeros, none, MPI_INT,
                  MPI_COMM_WORLD);
    check(got[0] == 0, "alltoallv", 1);
    /* absolute addresses: the buffer is MPI_BOTTOM, which is 0 */
    MPI_Datatype there;
    MPI_Aint address;
    int one = 1;
    MPI_Get_address(&x, &address);
    MPI_Type_create_hindexed(1, &one, &address, MPI_INT, &there);
    MPI_Type_commit(&there);
    MPI_Bcast(me % 2 ? (void *)&x : MPI_BOTTOM, 1, me % 2 ? MPI_INT : there, 0, MPI_COMM_WORLD);
    check(x == 0, "bcast", 1);
    x = me;
    MPI_Allgather(MPI_BOTTOM, 1, there, got, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < p; r++) check(got[r] == r, "allgather", r);
    MPI_Type_free(&there);
}

/* Displacements that are addresses, of predefined types: odd ranks give MPI_BOTTOM, the others a
 * buffer. */
static void from_bottom(void) {
    int ring[2] = {(me + p - 1) % p, (me + 1) % p}, sent[2] = {10 * me, 10 * me + 1},
        got[2] = {-1, -1}, ones[2] = {1, 1};
    MPI_Datatype types[2] = {MPI_INT, MPI_INT};
    MPI_Aint to[2] = {0, sizeof *sent}, from[2] = {0, sizeof *got};
    MPI_Comm comm;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, ring, ones, 2, ring, ones, MPI_INFO_NULL, 0,
                                   &comm);
    for (int i = 0; i < 2 && me % 2; i++)
        MPI_Get_address(&sent[i], &to[i]), MPI_Get_address(&got[i], &from[i]);
    MPI_Neighbor_alltoallw(me % 2 ? MPI_BOTTOM : sent, ones, to, types, me % 2 ? MPI_BOTTOM : got,
                           ones, from, types, comm);
    if (p > 2) check(got[0] == 10 * ring[0] + 1 && got[1] == 10 * ring[1], "neighbor_alltoallw", 1);
    MPI_Comm_free(&comm);
}

/* Too scattered to be anything but a list of addresses, from MPI_BOTTOM. */
static void scattered(void) {
    enum { pieces = 70000 };
    static int memory[3 * pieces], plain[pieces];
    static MPI_Aint there[pieces];
    MPI_Datatype type;
    int fine = 1;
    unsigned random = 1;
    for (int i = 0; i < pieces; i++) {
        random = random * 1103515245 + 12345;
        MPI_Get_address(&memory[3 * i + (random >> 16) % 3], &there[i]);
        plain[i] = me == 0 ? 5 * i : -1;
    }
    MPI_Type_create_hindexed_block(pieces, 1, there, MPI_INT, &type);
    MPI_Type_commit(&type);
    MPI_Bcast(me == 0 ? (void *)plain : MPI_BOTTOM, me == 0 ? pieces : 1, me == 0 ? MPI_INT : type,
              0, MPI_COMM_WORLD);
    for (int i = 0; me > 0 && i < pieces; i++) fine = fine && *(int *)there[i] == 5 * i;
    check(fine, "bcast of scattered pieces", pieces);
    MPI_Type_free(&type);
}

/* A count that does not count, longer than an int. Where the MPI library has no such call mortar
 * has. */
static void in_place(void) {
    int all[64];
    int (*call)(const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype, MPI_Comm);
    *(void **)&call = dlsym(RTLD_DEFAULT, "MPI_Alltoall_c");
    if (!call || p > 64) return;
    for (int r = 0; r < p; r++) all[r] = me * 100 + r;
    call(MPI_IN_PLACE, (MPI_Count)1 << 40, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < p; r++) check(all[r] == r * 100 + me, "alltoall in place", r);
    *(void **)&call = dlsym(RTLD_DEFAULT, "MPI_Allgather_c");
    for (int r = 0; r < p; r++) all[r] = r == me ? me : -1;
    call(MPI_IN_PLACE, (MPI_Count)1 << 40, MPI_DATATYPE_NULL, all, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 0; r < p; r++) check(all[r] == r, "allgather in place", r);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    int null = argc > 1 && strcmp(argv[1], "null") == 0, counts[] = {1, 2, 25, 100, 700, most},
        all = 0;
    for (int round = 0; round < 2; round++)
        for (size_t c = 0; c < sizeof counts / sizeof *counts; c++) {
            exscan(counts[c], null);
            rooted(counts[c], (int)c % p);
            nothing();
        }
    from_bottom();
    scattered();
    in_place();
    MPI_Allreduce(&errors, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, all);
    MPI_Finalize();
    return all != 0;
}
