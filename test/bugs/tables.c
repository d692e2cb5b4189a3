/* SPDX-License-Identifier: BSD-3-Clause */
/* tables - counts, displacements and types of long blocks in memory that the program has mapped,
 * which peers cannot read: mortar copies them to where they can (src/mpi/parts.c). They change from
 * call to call. */
#define _GNU_SOURCE
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { calls = 30, longest = 40000, ranks = 64 };
static int me, p, errors, *send, *recv;
static struct tables {
    int sent[ranks], send_at[ranks], received[ranks], recv_at[ranks];
    MPI_Datatype types[ranks];
} *t;

static int length(int from, int to, int call) {
    return 1000 + (from * 7 + to * 13 + call * 101) % 900 * 40;
}

static int value(int from, int to, int i, int call) {
    return from * 1000003 + to * 10007 + i + call;
}

static void fill(int call, int step) {
    for (int r = 0; r < p; r++) {
        t->sent[r] = length(me, r, call), t->send_at[r] = r * longest + call % 5;
        t->received[r] = length(r, me, call), t->recv_at[r] = r * longest + call % 3;
        for (int i = 0; i < t->sent[r]; i++)
            send[(t->send_at[r] + i) * step] = value(me, r, i, call);
    }
    memset(recv, -1, (size_t)(p * longest * 2) * sizeof(int));
}

static void check(int call, int step) {
    for (int r = 0; r < p; r++)
        for (int i = 0; i < longest - 2; i++) {
            const int *at = &recv[(r * longest + call % 3 + i) * step];
            errors += at[0] != (i < t->received[r] ? value(r, me, i, call) : -1);
            errors += step == 2 && at[1] != -1;
        }
}

int main(int argc, char **argv) {
    int all;
    MPI_Datatype every_second, gap;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    t = mmap(NULL, sizeof *t, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    send = malloc((size_t)(p * longest * 2) * sizeof(int));
    recv = malloc((size_t)(p * longest * 2) * sizeof(int));
    if (p > ranks || t == MAP_FAILED || !send || !recv) return 2;
    MPI_Type_vector(1, 1, 2, MPI_INT, &gap);
    MPI_Type_create_resized(gap, 0, 2 * sizeof(int), &every_second);
    MPI_Type_commit(&every_second);
    MPI_Type_free(&gap);
    for (int call = 0; call < calls; call++) {
        int step = 1 + call % 2;
        fill(call, step);
        if (step == 1)
            MPI_Alltoallv(send, t->sent, t->send_at, MPI_INT, recv, t->received, t->recv_at,
                          MPI_INT, MPI_COMM_WORLD);
        else {
            for (int r = 0; r < p; r++)
                t->types[r] = every_second, t->send_at[r] *= 8, t->recv_at[r] *= 8;
            MPI_Alltoallw(send, t->sent, t->send_at, t->types, recv, t->received, t->recv_at,
                          t->types, MPI_COMM_WORLD);
        }
        check(call, step);
    }
    MPI_Type_free(&every_second);
    MPI_Allreduce(&errors, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, all);
    MPI_Finalize();
    return all != 0;
}
