/* SPDX-License-Identifier: BSD-3-Clause */
/* settings - short, middling and long calls of several kinds; comms.py starts ranks with different
 * settings. `parts`: first on communicators that overlap and of which none has all ranks, then on
 * all, then on the parts again. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

static int errors;

static void use(MPI_Comm comm) {
    int p, me;
    MPI_Comm_size(comm, &p);
    MPI_Comm_rank(comm, &me);
    for (int n = 1; n <= 1 << 14; n *= 16) {
        size_t all = (size_t)n * (size_t)p;
        int *send = malloc(all * sizeof *send), *recv = malloc(all * sizeof *recv);
        for (int k = 0; k < 6; k++) {
            int root = k % p, sum = 0;
            for (size_t i = 0; i < all; i++) send[i] = me * 1000 + k + (int)i / n, recv[i] = -1;
            MPI_Alltoall(send, n, MPI_INT, recv, n, MPI_INT, comm);
            for (size_t i = 0; i < all; i++) errors += recv[i] != (int)i / n * 1000 + k + me;
            MPI_Bcast(send, n, MPI_INT, root, comm);
            for (int i = 0; i < n; i++) errors += send[i] != root * 1000 + k;
            MPI_Allreduce(&me, &sum, 1, MPI_INT, MPI_SUM, comm);
            errors += sum != p * (p - 1) / 2;
            MPI_Reduce(send, recv, n, MPI_INT, MPI_SUM, root, comm);
            for (int i = 0; i < n && me == root; i++) errors += recv[i] != p * (root * 1000 + k);
            MPI_Gather(send, n, MPI_INT, recv, n, MPI_INT, root, comm);
            for (size_t i = 0; i < all && me == root; i++)
                errors += recv[i] != root * 1000 + k + (int)(i % (size_t)n) / n;
            MPI_Barrier(comm);
        }
        free(send);
        free(recv);
    }
}

int main(int argc, char **argv) {
    int p, me;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm low, high;
    if (argc > 1) {
        MPI_Comm_split(MPI_COMM_WORLD, me / 2, me, &low);
        MPI_Comm_split(MPI_COMM_WORLD, (me + 1) / 2, me, &high);
        use(low), use(high), use(MPI_COMM_WORLD), use(high), use(low);
        MPI_Comm_free(&low);
        MPI_Comm_split(MPI_COMM_WORLD, me / 2, me, &low);
        use(low);
        MPI_Comm_free(&low);
        MPI_Comm_free(&high);
    }
    use(MPI_COMM_WORLD);
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, errors);
    MPI_Finalize();
    return errors > 0;
}
