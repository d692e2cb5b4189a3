/* SPDX-License-Identifier: BSD-3-Clause */
/* freed_op - a thread frees the operation, and the type, of a reduction in which another one waits
 * for rank 0, and makes others, and blocks, where these were. The reduction completes normally (MPI
 * 4.1 sections 2.5.1, 5.1.9).
 * usage: freed_op PAIRS WARM   so many are added; so many calls before */
#define _GNU_SOURCE
#include <mpi.h>

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most = 80000, others = 50, blocks = 4000 };

static void add(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)type;
    for (int i = 0; i < 2 * *count; i++) ((int *)inout)[i] += ((int *)in)[i];
}

static void spoil(void *in, void *inout, int *count, MPI_Datatype *type) {
    (void)in, (void)type;
    for (int i = 0; i < 2 * *count; i++) ((int *)inout)[i] = -1;
}

struct used {
    MPI_Op op;
    MPI_Datatype pair; /* of ints */
};

static void free_used(struct used *both) {
    MPI_Op_free(&both->op);
    MPI_Type_free(&both->pair);
}

static void *free_it(void *both) {
    static char *block[blocks];
    static struct used other[others];
    usleep(100000);
    free_used(both);
    for (int k = 0; k < others; k++) {
        MPI_Op_create(spoil, k % 2, &other[k].op);
        MPI_Type_vector(3, 1, 5 + k, MPI_DOUBLE, &other[k].pair);
        MPI_Type_commit(&other[k].pair);
    }
    for (size_t k = 0; k < blocks; k++) {
        size_t bytes = 32 + k % 32 * 16;
        block[k] = malloc(bytes);
        memset(block[k], 0x77, bytes);
    }
    for (int k = 0; k < blocks; k++) free(block[k]);
    for (int k = 0; k < others; k++) free_used(&other[k]);
    return NULL;
}

static int p, me;

/* Returns the errors. */
static int add_up(int scan, int pairs, const struct used *both, MPI_Comm comm) {
    static int mine[most], sums[most];
    int errors = 0, ranks = scan ? me + 1 : p, count = 2 * pairs;
    for (int i = 0; i < count; i++) mine[i] = me + i;
    if (scan) MPI_Scan(mine, sums, pairs, both->pair, both->op, comm);
    else MPI_Allreduce(mine, sums, pairs, both->pair, both->op, comm);
    for (int i = 0; i < count; i++) errors += sums[i] != ranks * i + ranks * (ranks - 1) / 2;
    return errors;
}

int main(int argc, char **argv) {
    int level, errors = 0, all, pairs = argc > 1 ? atoi(argv[1]) : 1,
               warm = argc > 2 ? atoi(argv[2]) : 0;
    MPI_Comm comm;
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int scan = 0; scan < 2 && level == MPI_THREAD_MULTIPLE; scan++) {
        struct used both, same;
        pthread_t thread;
        MPI_Comm_split(MPI_COMM_WORLD, 0, me, &comm);
        MPI_Op_create(add, 1, &both.op);
        MPI_Type_contiguous(2, MPI_INT, &both.pair);
        MPI_Type_commit(&both.pair);
        for (int k = 0; k < warm; k++) errors += add_up(scan, pairs, &both, comm);
        same = both;
        if (me == 0) usleep(300000);
        else pthread_create(&thread, NULL, free_it, &same);
        errors += add_up(scan, pairs, &both, comm);
        if (me == 0) free_used(&both);
        else pthread_join(thread, NULL);
        errors += me != 0 && (same.op != MPI_OP_NULL || same.pair != MPI_DATATYPE_NULL);
        MPI_Comm_free(&comm);
    }
    MPI_Allreduce(&errors, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, all);
    MPI_Finalize();
    return all != 0;
}
