/* SPDX-License-Identifier: BSD-3-Clause */
/* operands - a user's operation on elements of 16 bytes, as __float128 and vectors of the processor
 * are: its operands lie at multiples of 16 if the program's do. All reductions, short and long.
 * usage: operands CALLS */
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { longest = 6000, kinds = 6 };
static const int lengths[] = {1, 2, 3, 7, 100, 601, longest};
static int me, p, errors, odd;

static void add(void *in, void *inout, int *length, MPI_Datatype *type) {
    (void)type;
    if ((uintptr_t)in % 16 || (uintptr_t)inout % 16) odd++;
    const double *from = in;
    double *to = inout;
    for (int i = 0; i < 2 * *length; i++) to[i] += from[i];
}

static void call(int kind, double *send, double *recv, int n, const int *counts, int root,
                 MPI_Datatype type, MPI_Op op) {
    const MPI_Comm world = MPI_COMM_WORLD;
    switch (kind) {
    case 0: MPI_Allreduce(send, recv, n, type, op, world); break;
    case 1: MPI_Reduce(send, recv, n, type, op, root, world); break;
    case 2: MPI_Scan(send, recv, n, type, op, world); break;
    case 3: MPI_Exscan(send, recv, n, type, op, world); break;
    case 4: MPI_Reduce_scatter_block(send, recv, n, type, op, world); break;
    default: MPI_Reduce_scatter(send, recv, counts, type, op, world);
    }
}

static void check(int kind, const double *recv, int n, int number) {
    int ranks = kind == 2 ? me + 1 : kind == 3 ? me : p, first = kind >= 4 ? 2 * n * me : 0;
    if ((kind == 1 && me != number % p) || (kind == 3 && me == 0)) return;
    for (int i = 0; i < 2 * n; i++) {
        double wanted = ranks * (ranks - 1) / 2 + (double)ranks * (first + i + number);
        if (recv[i] != wanted && errors++ < 3)
            printf("rank %d, call %d of kind %d: %g instead of %g\n", me, number, kind, recv[i],
                   wanted);
    }
}

int main(int argc, char **argv) {
    int calls = argc > 1 ? atoi(argv[1]) : 100;
    MPI_Datatype type;
    MPI_Op op;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Type_contiguous(2, MPI_DOUBLE, &type);
    MPI_Type_commit(&type);
    MPI_Op_create(add, 1, &op);
    size_t bytes = (size_t)p * longest * 16;
    double *send = aligned_alloc(64, bytes), *recv = aligned_alloc(64, bytes);
    int *counts = malloc((size_t)p * sizeof *counts);
    if (!send || !recv || !counts) MPI_Abort(MPI_COMM_WORLD, 1);
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++)
        for (int number = 0; number < calls * kinds; number++) {
            int n = lengths[l], kind = number % kinds, all = kind >= 4 ? n * p : n;
            if (n == longest && number >= kinds * 20) break;
            for (int i = 0; i < 2 * all; i++) send[i] = me + i + number;
            for (int r = 0; r < p; r++) counts[r] = n;
            call(kind, send, recv, n, counts, number % p, type, op);
            check(kind, recv, n, number);
        }
    int sums[2] = {errors, odd};
    MPI_Allreduce(MPI_IN_PLACE, sums, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors, %d odd operands\n", p, sums[0], sums[1]);
    MPI_Op_free(&op);
    MPI_Type_free(&type);
    MPI_Finalize();
    return sums[0] + sums[1] != 0;
}
