/* SPDX-License-Identifier: BSD-3-Clause */
/* early - a communicator's first sums, which the MPI library runs: one again and again on rank 0,
 * from two buffers in turns on the others, so that ranks do not remember alike; short, longer than
 * a piece, by an operation that is freed and made anew, on until mortar runs them; and among other
 * traffic. Says how many of 300 equal sums rank 0 has examined. */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>

enum { most = 1000 };
static int p, me, errors;

static uint64_t examined(void) {
    int (*ask)(uint64_t *);
    uint64_t calls = 0;
    *(void **)&ask = dlsym(RTLD_DEFAULT, "mortar_examined");
    return ask && ask(&calls) == 0 ? calls : 0;
}

static void larger(void *in, void *inout, int *n, MPI_Datatype *type) {
    (void)type;
    double *a = in, *b = inout;
    for (int i = 0; i < *n; i++) b[i] = a[i] > b[i] ? a[i] : b[i];
}

static void product(void *in, void *inout, int *n, MPI_Datatype *type) {
    (void)type;
    double *a = in, *b = inout;
    for (int i = 0; i < *n; i++) b[i] *= a[i];
}

static void sums(MPI_Comm comm, int calls, int count, MPI_Op op, double expected) {
    static double mine[2][most], all[2][most];
    for (int k = 0; k < calls; k++) {
        int which = me ? k % 2 : 0;
        for (int i = 0; i < count; i++) mine[which][i] = me + 1, all[which][i] = -1;
        if (k % 10 == 9) MPI_Reduce(mine[which], all[which], count, MPI_DOUBLE, op, k % p, comm);
        else MPI_Allreduce(mine[which], all[which], count, MPI_DOUBLE, op, comm);
        if (k % 10 == 9 && me != k % p) continue;
        for (int i = 0; i < count; i++) errors += all[which][i] != expected;
    }
}

/* Sums beside messages and a nonblocking collective that are pending, and between calls that pay
 * for mortar, which so begins among the first sums. */
static void mixed(MPI_Comm comm, int calls, double expected) {
    static double mine[most], all[most];
    for (int k = 0; k < calls; k++) {
        int count = k % 2 ? 1 : most, sent = k * p + me, word = me == k % p ? k : -1, got = -1;
        MPI_Request pending[3];
        MPI_Irecv(&got, 1, MPI_INT, (me + p - 1) % p, k, comm, &pending[0]);
        MPI_Ibarrier(comm, &pending[1]);
        for (int i = 0; i < count; i++) mine[i] = me + 1;
        MPI_Allreduce(mine, all, count, MPI_DOUBLE, MPI_SUM, comm);
        MPI_Isend(&sent, 1, MPI_INT, (me + 1) % p, k, comm, &pending[2]);
        MPI_Bcast(&word, 1, MPI_INT, k % p, comm);
        for (int i = 0; i < 3; i++) MPI_Wait(&pending[i], MPI_STATUS_IGNORE);
        for (int i = 0; i < count; i++) errors += all[i] != expected;
        errors += (word != k) + (got != k * p + (me + p - 1) % p);
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm comm;
    MPI_Op op;
    int total = 0;
    double factorial = 1;
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int i = 2; i <= p; i++) factorial *= i;
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    double sum = p * (p + 1) / 2.0;
    static double mine = 1, all;
    uint64_t before = examined();
    for (int k = 0; k < 300; k++) {
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, comm);
        errors += all != p;
    }
    uint64_t equal = examined() - before;
    sums(comm, 100, 1, MPI_SUM, sum);
    sums(comm, 100, most, MPI_SUM, sum); /* of several pieces */
    for (int k = 0; k < 4; k++) {        /* mostly the same handle */
        MPI_Op_create(k % 2 ? larger : product, 1, &op);
        sums(comm, 20, 2, op, k % 2 ? p : factorial);
        MPI_Op_free(&op);
    }
    sums(comm, 1000, 1, MPI_SUM, sum);
    MPI_Comm_free(&comm);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    mixed(comm, 600, sum);
    MPI_Reduce(&errors, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors, %d of 300 examined\n", p, total, (int)equal);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
