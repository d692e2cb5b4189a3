/* SPDX-License-Identifier: BSD-3-Clause */
/* rooted - MPI_Bcast, Gather, Scatter and MPI_Neighbor_alltoall in a random sequence on several
 * communicators, with other collectives in between and communicators that are freed at once: the
 * ranks run ahead of each other as far as they may. Buffers from malloc and on the stack; a rank
 * writes over them as soon as a call returns.
 * rooted SEED CALLS */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most = 60000, most_ranks = 64, in_row = 70 };

static int errors;

static unsigned draw(unsigned *seed) { return (*seed = *seed * 1664525u + 1013904223u) >> 8; }

static char value(unsigned call, int source, int dest, int i) {
    return (char)(call * 7u + source * 31 + dest * 17 + i * 3 + 1);
}
static void fill(char *at, int n, unsigned call, int source, int dest) {
    for (int i = 0; i < n; i++) at[i] = value(call, source, dest, i);
}
static void check(const char *at, int n, unsigned call, int source, int dest) {
    for (int i = 0; i < n; i++)
        if (at[i] != value(call, source, dest, i)) {
            errors++;
            return;
        }
}

static void gather(MPI_Comm comm, unsigned call, int root, char *one, char *all, int n) {
    int me, p;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &p);
    fill(one, n, call, me, root);
    MPI_Gather(one, n, MPI_CHAR, all, n, MPI_CHAR, root, comm);
    for (int r = 0; me == root && r < p; r++) check(all + (size_t)r * n, n, call, r, root);
}

static void scatter(MPI_Comm comm, unsigned call, int root, char *one, char *all, int n) {
    int me, p;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &p);
    for (int r = 0; me == root && r < p; r++) fill(all + (size_t)r * n, n, call, root, r);
    MPI_Scatter(all, n, MPI_CHAR, one, n, MPI_CHAR, root, comm);
    check(one, n, call, root, me);
    if (me == root) memset(all, 0x55, (size_t)p * n);
}

static void bcast(MPI_Comm comm, unsigned call, int root, char *one, int n) {
    int me;
    MPI_Comm_rank(comm, &me);
    if (me == root) fill(one, n, call, root, 0);
    MPI_Bcast(one, n, MPI_CHAR, root, comm);
    check(one, n, call, root, 0);
}

/* On a ring that is directed: each rank sends to the next one, and to itself. */
static void neighbours(MPI_Comm ring, unsigned call, char *all, int n) {
    int me, p;
    char *send = all, *recv = all + 2 * (size_t)n;
    MPI_Comm_rank(ring, &me);
    MPI_Comm_size(ring, &p);
    for (int d = 0; d < 2; d++) fill(send + (size_t)d * n, n, call, me, d);
    MPI_Neighbor_alltoall(send, n, MPI_CHAR, recv, n, MPI_CHAR, ring);
    memset(send, 0x55, 2 * (size_t)n);
    check(recv, n, call, (me + p - 1) % p, 0);
    check(recv + n, n, call, me, 1);
}

static MPI_Comm ring_of(MPI_Comm comm) {
    int me, p;
    MPI_Comm ring;
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &p);
    int to[] = {(me + 1) % p, me}, from[] = {(me + p - 1) % p, me}, weights[] = {1, 1};
    MPI_Dist_graph_create_adjacent(comm, 2, from, weights, 2, to, weights, MPI_INFO_NULL, 0, &ring);
    return ring;
}

int main(int count, char **words) {
    static char all[most_ranks * most], stack[most];
    MPI_Init(&count, &words);
    int world, p, sum;
    MPI_Comm_rank(MPI_COMM_WORLD, &world);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    unsigned common = count > 1 ? (unsigned)atoi(words[1]) : 1,
             own = common + 77u * (unsigned)world;
    unsigned calls = count > 2 ? (unsigned)atoi(words[2]) : 100;
    char *heap = malloc((size_t)p * most), *one = malloc(most);
    MPI_Comm comms[3] = {MPI_COMM_WORLD}, ring = ring_of(MPI_COMM_WORLD);
    MPI_Comm_split(MPI_COMM_WORLD, world % 2, -world, &comms[1]);
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[2]);
    for (unsigned call = 0; call < calls; call++) {
        unsigned what = draw(&common) % 8, where = draw(&common) % 3;
        int n = 1 + (int)(draw(&common) % (draw(&common) % 16 ? 300 : most / 4)), size,
            root = (int)(draw(&common) % most);
        char *many = draw(&own) % 4 ? heap : all, *mine = draw(&own) % 4 ? one : stack;
        MPI_Comm comm = comms[where];
        MPI_Comm_size(comm, &size);
        root %= size;
        if (draw(&own) % 100 == 0) usleep(draw(&own) % 2000);
        if (what == 0) gather(comm, call, root, mine, many, n);
        else if (what == 1) scatter(comm, call, root, mine, many, n);
        else if (what <= 3) bcast(comm, call, root, mine, n);
        else if (what == 4) neighbours(ring, call, many, n / 2 + 1);
        else if (what == 5) MPI_Barrier(comm);
        else if (what == 6) MPI_Alltoall(MPI_IN_PLACE, 0, MPI_CHAR, many, 1, MPI_CHAR, comm);
        for (int k = 0; what == 7 && k < in_row; k++)
            bcast(comm, call + (unsigned)k, root, mine, 8);
        if (what == 7 && where == 2) { /* the root may be far ahead */
            MPI_Comm_free(&comms[2]);
            MPI_Comm_dup(MPI_COMM_WORLD, &comms[2]);
        }
        memset(mine, 0x66, (size_t)n);
    }
    MPI_Reduce(&errors, &sum, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (world == 0) printf("%d ranks, %d errors\n", p, sum);
    MPI_Finalize();
    return 0;
}
