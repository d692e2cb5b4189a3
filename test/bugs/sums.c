/* SPDX-License-Identifier: BSD-3-Clause */
/* sums - the same floating-point reductions again and again: each must give the same bits as the
 * first time, whatever was measured in between. Prints the bits of all results as one number, which
 * must not change from run to run either.
 * usage: sums CALLS */
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most = 6000, kinds = 6, sizes = 3 };
static const int lengths[sizes] = {3, 500, 6000};
static double mine[most], result[most], first[kinds][sizes][most];

static void call(int kind, int n, int p, int root) {
    int counts[64];
    for (int i = 0; i < p; i++) counts[i] = n / p + (i < n % p);
    switch (kind) {
    case 0: MPI_Allreduce(mine, result, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
    case 1: MPI_Reduce(mine, result, n, MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD); break;
    case 2: MPI_Scan(mine, result, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
    case 3: MPI_Reduce_scatter(mine, result, counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); break;
    case 4: /* in place */
        memcpy(result, mine, (size_t)n * sizeof *mine);
        MPI_Allreduce(MPI_IN_PLACE, result, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
        break;
    default: MPI_Exscan(mine, result, n, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

int main(int argc, char **argv) {
    int p, me, calls = argc > 1 ? atoi(argv[1]) : 1000, changed = 0, all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    srand(7 + (unsigned)me);
    for (int i = 0; i < most; i++) mine[i] = (rand() - RAND_MAX / 2.0) * (1 + 1e9 * (rand() % 3));
    uint64_t bits = 0, sum = 0;
    for (int c = 0; c < calls; c++)
        for (int kind = 0; kind < kinds; kind++)
            for (int s = 0; s < sizes; s++) {
                int n = lengths[s];
                if (s == sizes - 1 && c % 8) continue;
                memset(result, 0, sizeof result);
                call(kind, n, p, 0);
                if (c == 0) memcpy(first[kind][s], result, sizeof result);
                else if (memcmp(first[kind][s], result, sizeof result) != 0 && changed++ < 3)
                    fprintf(stderr,
                            "rank %d: kind %d of %d doubles, call %d: other bits than in call 0\n",
                            me, kind, n, c);
            }
    for (size_t i = 0; i < sizeof first / 8; i++)
        memcpy(&sum, (char *)first + 8 * i, 8), bits = bits * 1000003 + sum;
    bits *= (uint64_t)me + 1;
    MPI_Allreduce(&bits, &sum, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    MPI_Allreduce(&changed, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("bits %016llx\n%d ranks, %d errors\n", (unsigned long long)sum, p, all);
    MPI_Finalize();
    return all != 0;
}
