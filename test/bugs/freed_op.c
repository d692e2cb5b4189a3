/* SPDX-License-Identifier: BSD-3-Clause */
/* freed_op - a thread frees the operation of a reduction in which another one waits for rank 0, and
 * makes other operations and blocks where that one was. The reduction completes normally (MPI 4.1
 * section 2.5.1).
 * usage: freed_op NUMBERS WARM   so many are added; so many calls before */
#define _GNU_SOURCE
#include <mpi.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most = 40000, others = 50, blocks = 4000 };

static void add(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < *count; i++) ((int *)inout)[i] += ((int *)in)[i];
}

static void spoil(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)in, (void)type;
    for (int i = 0; i < *count; i++) ((int *)inout)[i] = -1;
}

static void *free_it(void *op) {
    static char *block[blocks];
    static MPI_Op other[others];
    usleep(100000);
    MPI_Op_free(op);
    for (int k = 0; k < others; k++) MPI_Op_create(spoil, k % 2, &other[k]);
    for (size_t k = 0; k < blocks; k++) {
        size_t bytes = 32 + k % 32 * 16;
        block[k] = malloc(bytes);
        memset(block[k], 0x77, bytes);
    }
    for (int k = 0; k < blocks; k++) free(block[k]);
    for (int k = 0; k < others; k++) MPI_Op_free(&other[k]);
    return NULL;
}

static int p, me;

/* Returns the errors. */
static int add_up(int scan, int count, MPI_Op op, MPI_Comm comm) {
    static int mine[most], sums[most];
    int errors = 0, ranks = scan ? me + 1 : p;
    for (int i = 0; i < count; i++) mine[i] = me + i;
    if (scan) MPI_Scan(mine, sums, count, MPI_INT, op, comm);
    else MPI_Allreduce(mine, sums, count, MPI_INT, op, comm);
    for (int i = 0; i < count; i++) errors += sums[i] != ranks * i + ranks * (ranks - 1) / 2;
    return errors;
}

int main(int argc, char **argv) {
    int level, errors = 0, all, count = argc > 1 ? atoi(argv[1]) : 1,
               warm = argc > 2 ? atoi(argv[2]) : 0;
    MPI_Comm comm;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int scan = 0; scan < 2 && level == MPI_THREAD_MULTIPLE; scan++) {
        MPI_Op op, same;
        pthread_t thread;
        MPI_Comm_split(MPI_COMM_WORLD, 0, me, &comm);
        MPI_Op_create(add, 1, &op);
        for (int k = 0; k < warm; k++) errors += add_up(scan, count, op, comm);
        same = op;
        if (me == 0) usleep(300000);
        else pthread_create(&thread, NULL, free_it, &same);
        errors += add_up(scan, count, op, comm);
        if (me == 0) MPI_Op_free(&op);
        else pthread_join(thread, NULL), errors += same != MPI_OP_NULL;
        MPI_Comm_free(&comm);
    }
    MPI_Allreduce(&errors, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, all);
    MPI_Finalize();
    return all != 0;
}
