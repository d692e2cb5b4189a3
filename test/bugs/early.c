/* SPDX-License-Identifier: BSD-3-Clause */
/* early - a communicator's first sums, which the MPI library runs: one again and again on rank 0,
 * from two buffers in turns on the others, so that ranks do not remember alike; short, longer than
 * a piece, by an operation that is freed and made anew, on until mortar runs them. Says how many of
 * 300 equal sums rank 0 has examined. */
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
    MPI_Reduce(&errors, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors, %d of 300 examined\n", p, total, (int)equal);
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
