/* SPDX-License-Identifier: BSD-3-Clause */
/* everycall - makes each call that mortar takes as often as its place in this file says, with
 * checked results of a few. With an argument it begins with MPI_Init_thread. */
#include <mpi.h>

#include <stdio.h>

enum { most = 64 };

static int p, me, send[most], recv[most], ones[most], places[most], errors;
static MPI_Comm ring;
static MPI_Aint offsets[most];
static MPI_Datatype types[most];

static void clear(void) {
    for (int i = 0; i < most; i++) send[i] = me + 1, recv[i] = 0;
}

static void exchange(MPI_Comm comm) {
    MPI_Alltoall(send, 1, MPI_INT, recv, 1, MPI_INT, comm);
    for (int i = 0; i < p; i++) errors += recv[i] != i + 1;
    clear();
    MPI_Alltoallv(send, ones, places, MPI_INT, recv, ones, places, MPI_INT, comm);
    for (int i = 0; i < p; i++) errors += recv[i] != i + 1;
    clear();
    int bytes[most];
    for (int i = 0; i < most; i++) bytes[i] = places[i] * (int)sizeof(int);
    MPI_Alltoallw(send, ones, bytes, types, recv, ones, bytes, types, comm);
    for (int i = 0; i < p; i++) errors += recv[i] != i + 1;
    clear();
    MPI_Allgather(send, 1, MPI_INT, recv, 1, MPI_INT, comm);
    MPI_Allgatherv(send, 1, MPI_INT, recv, ones, places, MPI_INT, comm);
    for (int i = 0; i < p; i++) errors += recv[i] != i + 1;
}

static void rooted(MPI_Comm comm) {
    clear();
    MPI_Bcast(send, 1, MPI_INT, 0, comm);
    errors += send[0] != 1;
    MPI_Gather(send, 1, MPI_INT, recv, 1, MPI_INT, 0, comm);
    MPI_Gatherv(send, 1, MPI_INT, recv, ones, places, MPI_INT, 0, comm);
    MPI_Scatter(send, 1, MPI_INT, recv, 1, MPI_INT, 0, comm);
    MPI_Scatterv(send, ones, places, MPI_INT, recv, 1, MPI_INT, 0, comm);
    errors += recv[0] != 1;
}

static void combined(MPI_Comm comm) {
    for (int i = 0; i < most; i++) send[i] = 1;
    MPI_Reduce(send, recv, 1, MPI_INT, MPI_SUM, 0, comm);
    MPI_Allreduce(send, recv, 1, MPI_INT, MPI_SUM, comm);
    errors += recv[0] != p;
    MPI_Reduce_scatter(send, recv, ones, MPI_INT, MPI_SUM, comm);
    errors += recv[0] != p;
    MPI_Reduce_scatter_block(send, recv, 1, MPI_INT, MPI_SUM, comm);
    errors += recv[0] != p;
    MPI_Scan(send, recv, 1, MPI_INT, MPI_SUM, comm);
    errors += recv[0] != me + 1;
    MPI_Exscan(send, recv, 1, MPI_INT, MPI_SUM, comm);
}

static void neighbours(MPI_Comm comm) {
    clear();
    MPI_Neighbor_alltoall(send, 1, MPI_INT, recv, 1, MPI_INT, comm);
    errors += recv[0] != (me + p - 1) % p + 1 || recv[1] != (me + 1) % p + 1;
    MPI_Neighbor_alltoallv(send, ones, places, MPI_INT, recv, ones, places, MPI_INT, comm);
    MPI_Neighbor_alltoallw(send, ones, offsets, types, recv, ones, offsets, types, comm);
    MPI_Neighbor_allgather(send, 1, MPI_INT, recv, 1, MPI_INT, comm);
    MPI_Neighbor_allgatherv(send, 1, MPI_INT, recv, ones, places, MPI_INT, comm);
    errors += recv[0] != (me + p - 1) % p + 1 || recv[1] != (me + 1) % p + 1;
}

static void large(MPI_Comm comm) {
#if MPI_VERSION >= 4
    clear();
    MPI_Alltoall_c(send, 1, MPI_INT, recv, 1, MPI_INT, comm);
    for (int i = 0; i < p; i++) errors += recv[i] != i + 1;
    MPI_Bcast_c(send, 1, MPI_INT, 0, comm);
    MPI_Allreduce_c(send, recv, 1, MPI_INT, MPI_SUM, comm);
#else
    (void)comm;
#endif
}

int main(int argc, char **argv) {
    int given, around = 1;
    if (argc > 1) MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &given);
    else MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int i = 0; i < most; i++)
        ones[i] = 1, places[i] = i, offsets[i] = i * (MPI_Aint)sizeof(int), types[i] = MPI_INT;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &p, &around, 0, &ring);
    for (int k = 0; k < 2; k++) {
        void *memory;
        MPI_Alloc_mem(4096, MPI_INFO_NULL, &memory);
        MPI_Barrier(MPI_COMM_WORLD);
        clear();
        exchange(MPI_COMM_WORLD);
        rooted(MPI_COMM_WORLD);
        combined(MPI_COMM_WORLD);
        large(MPI_COMM_WORLD);
        MPI_Free_mem(memory);
    }
    for (int k = 0; k < 3; k++) neighbours(ring);
    MPI_Comm_free(&ring);
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, errors);
    fflush(stdout);
    MPI_Finalize();
    return errors > 0;
}
