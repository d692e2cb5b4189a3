/* SPDX-License-Identifier: BSD-3-Clause */
/* statics - an ordinary MPI program, which knows nothing of mortar, with its buffers in static
 * arrays: three alltoalls of large blocks and two allgathers, one from initialised data. */
#include <mpi.h>

#include <stdio.h>

enum { n = 1 << 20, most = 2 };
static int sent[most * n], received[most * n];
int constant[n] = {1, [n - 1] = 2};

static int value(int from, int to, int i) { return from * 20000000 + to * 10000000 + i; }

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int p, me, errors = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (p > most) MPI_Abort(MPI_COMM_WORLD, 2);
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < p * n; i++) sent[i] = value(me, i / n, i % n) + k, received[i] = -1;
        MPI_Alltoall(sent, n, MPI_INT, received, n, MPI_INT, MPI_COMM_WORLD);
        for (int i = 0; i < p * n; i++) errors += received[i] != value(i / n, me, i % n) + k;
    }
    for (int k = 0; k < 2; k++) {
        constant[1] = me + k;
        MPI_Allgather(constant, n, MPI_INT, received, n, MPI_INT, MPI_COMM_WORLD);
        for (int j = 0; j < p; j++)
            errors += received[j * n] != 1 || received[j * n + 1] != j + k ||
                      received[j * n + n - 1] != 2 || received[j * n + 2] != 0;
    }
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, errors);
    MPI_Finalize();
    return errors > 0;
}
