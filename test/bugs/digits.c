/* SPDX-License-Identifier: BSD-3-Clause */
/* digits - long sums of floating-point numbers have the same digits wherever the vectors lie: in
 * mappings that others share, which mortar cannot move, and in malloc'ed memory, before its pages
 * have moved and after. When they move depends on what else uses them, and on time.
 * digits row: alltoalls, then the same sums again and again; prints a letter for each that tells
 * which digits it had. */
#define _GNU_SOURCE
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { count = 48 * 1024, bytes = count * 8, rounds = 24, kinds = 5 };
static const char *const names[kinds] = {"allreduce", "reduce", "reduce_scatter_block", "scan",
                                         "exscan"};
static int me, p, errors;

static double *mapped(void) {
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    return map == MAP_FAILED ? NULL : map;
}

/* Ranks' numbers differ by up to 2^20, so that each association has digits of its own. */
static void fill(double *vector) {
    unsigned long state = (unsigned long)me + 1;
    for (int i = 0; i < count; i++) {
        state = state * 6364136223846793005ul + 1442695040888963407ul;
        vector[i] = (double)(state >> 40) / (double)(1ul << (state >> 20 & 31));
    }
}

static void call(int kind, const double *send, double *recv) {
    MPI_Comm all = MPI_COMM_WORLD;
    switch (kind) {
    case 0: MPI_Allreduce(send, recv, count, MPI_DOUBLE, MPI_SUM, all); break;
    case 1: MPI_Reduce(send, recv, count, MPI_DOUBLE, MPI_SUM, 0, all); break;
    case 2: MPI_Reduce_scatter_block(send, recv, count / p, MPI_DOUBLE, MPI_SUM, all); break;
    case 3: MPI_Scan(send, recv, count, MPI_DOUBLE, MPI_SUM, all); break;
    default: MPI_Exscan(send, recv, count, MPI_DOUBLE, MPI_SUM, all);
    }
}

static void compare(int kind, const double *send, double *recv, const double *should, int round) {
    memset(recv, 0, bytes);
    call(kind, send, recv);
    if (memcmp(recv, should, bytes) != 0 && errors++ < 3)
        printf("rank %d, round %d: the digits of %s differ\n", me, round, names[kind]);
}

static void row(void) {
    enum { alltoalls = 20, sums = 40 };
    double *mine = malloc(bytes), *result = malloc(bytes), *other = malloc(bytes);
    static double *known[sums];
    char letters[sums + 1] = "";
    fill(mine);
    for (int k = 0; k < alltoalls; k++)
        MPI_Alltoall(mine, count / p, MPI_DOUBLE, other, count / p, MPI_DOUBLE, MPI_COMM_WORLD);
    for (int k = 0; k < sums; k++) {
        int which = 0;
        MPI_Allreduce(mine, result, count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        while (known[which] && memcmp(known[which], result, bytes) != 0) which++;
        if (!known[which]) known[which] = memcpy(malloc(bytes), result, bytes);
        letters[k] = (char)('a' + which);
    }
    if (me == 0) printf("%s\n", letters);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    if (argc > 1) {
        row();
        MPI_Finalize();
        return 0;
    }
    double *send = mapped(), *recv = mapped(), *should = mapped(), *mine[kinds], *result[kinds];
    for (int kind = 0; kind < kinds; kind++) {
        mine[kind] = malloc(bytes), result[kind] = malloc(bytes);
        if (!send || !recv || !should || !mine[kind] || !result[kind]) MPI_Abort(MPI_COMM_WORLD, 3);
        fill(mine[kind]);
    }
    fill(send);
    for (int kind = 0; kind < kinds; kind++) {
        memset(should, 0, bytes);
        call(kind, send, should);
        for (int round = 0; round < rounds; round++) {
            compare(kind, mine[kind], result[kind], should, round);
            compare(kind, send, result[kind], should, round);
            compare(kind, mine[kind], recv, should, round);
        }
    }
    int all = 0;
    MPI_Reduce(&errors, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, all);
    MPI_Finalize();
    return errors != 0;
}
