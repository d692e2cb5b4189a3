/* SPDX-License-Identifier: BSD-3-Clause */
/* seen - calls on communicators that the MPI library serves: sums that take turns, from other
 * buffers each time; communicators of a call or two; ranks that do not remember alike, on until
 * mortar runs the calls; and calls that the library refuses on one rank, like those that it does
 * not. Says how many calls rank 0 has examined in the first two parts. */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

enum { turns = 150, communicators = 100, most_ranks = 64 };
static int p, me, errors;

static int examined(void) {
    int (*ask)(uint64_t *);
    uint64_t calls = 0;
    *(void **)&ask = dlsym(RTLD_DEFAULT, "mortar_examined");
    return ask && ask(&calls) == 0 ? (int)calls : 0;
}

/* The sum over ranks of `count` numbers, from a place of its own each time. */
static void sum(MPI_Comm comm, int count, int turn, int root) {
    static double mine[8 * turns], all[8 * turns];
    double *from = mine + turn % 50 * 8, *to = all + turn % 70 * 8;
#ifdef OPEN_MPI /* allows that, though MPI does not */
    if (me == 1 && turn % 3 == 0 && count == 1 && root < 0) from = to;
#endif
    for (int i = 0; i < count; i++) to[i] = -1, from[i] = me + i + turn;
    if (root < 0) MPI_Allreduce(from, to, count, MPI_DOUBLE, MPI_SUM, comm);
    else MPI_Reduce(from, to, count, MPI_DOUBLE, MPI_SUM, root, comm);
    if (root >= 0 && root != me) return;
    for (int i = 0; i < count; i++) errors += to[i] != p * (i + turn) + p * (p - 1) / 2.0;
}

static void take_turns(MPI_Comm comm) {
    for (int turn = 0; turn < turns; turn++) {
        sum(comm, 1, turn, -1);
        sum(comm, 7, turn, -1);
        sum(comm, 2, turn, turn % p);
    }
}

static void exchange(MPI_Comm comm, MPI_Datatype type, int turn) {
    int sent[most_ranks], got[most_ranks], word = me == turn % p ? turn : -1;
    for (int r = 0; r < p; r++) sent[r] = turn + me * p + r, got[r] = -1;
    MPI_Alltoall(sent, 1, type, got, 1, type, comm);
    MPI_Bcast(&word, 1, type, turn % p, comm);
    for (int r = 0; r < p; r++) errors += got[r] != turn + r * p + me;
    errors += word != turn;
}

static void many(void) {
    for (int k = 0; k < communicators; k++) {
        MPI_Comm comm;
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        sum(comm, 1, k, -1);
        exchange(comm, MPI_INT, k);
        MPI_Comm_free(&comm);
    }
}

static void product(void *in, void *inout, int *n, MPI_Datatype *type) {
    (void)type;
    double *a = in, *b = inout;
    for (int i = 0; i < *n; i++) b[i] *= a[i];
}

/* Odd ranks have another operation and another type each time. */
static void unlike(MPI_Comm comm, int calls) {
    MPI_Op op, anew;
    double factorial = 1;
    for (int i = 2; i <= p; i++) factorial *= i;
    MPI_Op_create(product, 1, &op);
    for (int k = 0; k < calls; k++) {
        double mine = me + 1, all;
        MPI_Datatype type = MPI_INT;
        if (me % 2) MPI_Op_create(product, 1, &anew), MPI_Type_contiguous(1, MPI_INT, &type);
        if (me % 2) MPI_Type_commit(&type);
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, me % 2 ? anew : op, comm);
        errors += all != factorial;
        if (k % 5 == 0) exchange(comm, type, k);
        if (me % 2) MPI_Op_free(&anew), MPI_Type_free(&type);
    }
    MPI_Op_free(&op);
}

/* Before some calls rank 1 makes the same one with one vector for both, which its library refuses:
 * for the others there was none. On until mortar runs the calls. */
static void refused(MPI_Comm comm) {
    double mine = me, all = 0;
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    for (int k = 0; k < 1100; k++) {
        if (k % 5 == 4 && me == 1)
            errors += MPI_Reduce(&mine, &mine, 1, MPI_DOUBLE, MPI_SUM, 1, comm) == MPI_SUCCESS;
        errors += MPI_Reduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, 1, comm) != MPI_SUCCESS;
        errors += me == 1 && all != p * (p - 1) / 2;
        MPI_Barrier(comm);
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm comm;
    int total = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    int start = examined();
    take_turns(comm);
    int middle = examined();
    many();
    int end = examined();
    MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    unlike(comm, 1200);
    MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    refused(comm);
    MPI_Reduce(&errors, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0)
        printf("%d ranks, %d errors, examined %d of %d and %d of %d\n", p, total, middle - start,
               3 * turns, end - middle, 3 * communicators);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
