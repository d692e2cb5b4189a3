/* SPDX-License-Identifier: BSD-3-Clause */
/* crowded - 400 sums on MPI_COMM_WORLD, and as many on a communicator of all ranks but the last,
 * which was used before MPI_COMM_WORLD was. */
#include <mpi.h>

#include <stdio.h>

enum { calls = 400 };
static int p, me, errors;

static void sums(MPI_Comm comm, int first, int many, double expected) {
    for (int k = first; k < many; k++) {
        double mine = me + k, all = -1;
        MPI_Allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, comm);
        errors += all != expected + (p - (comm != MPI_COMM_WORLD)) * (double)k;
    }
}

int main(int argc, char **argv) {
    enum { before = 100 };
    MPI_Group world, most;
    MPI_Comm some;
    int total = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_group(MPI_COMM_WORLD, &world);
    MPI_Group_excl(world, 1, &(int){p - 1}, &most);
    if (me < p - 1) MPI_Comm_create_group(MPI_COMM_WORLD, most, 0, &some);
    double each = (p - 1) * (p - 2) / 2.0;
    if (me < p - 1) sums(some, 0, before, each);
    sums(MPI_COMM_WORLD, 0, calls, each + p - 1);
    if (me < p - 1) sums(some, before, calls, each), MPI_Comm_free(&some);
    MPI_Reduce(&errors, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, total);
    MPI_Group_free(&most);
    MPI_Group_free(&world);
    MPI_Finalize();
    return 0;
}
