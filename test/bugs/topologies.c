/* SPDX-License-Identifier: BSD-3-Clause */
/* topologies FIRST SECOND - a ring, made from a communicator that is a ring already: c, Cartesian;
 * g, a graph; a, a distributed one whose ranks know their neighbours; d, one whose ranks know whom
 * they send to. Prints what the neighbourhood calls give. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

static int p, me;

static MPI_Comm make(MPI_Comm from, char kind) {
    MPI_Comm made = MPI_COMM_NULL;
    int before = (me + p - 1) % p, after = (me + 1) % p, one = 1,
        *index = malloc(3 * sizeof(int) * (size_t)p), *edges = index + p;
    for (int i = 0; i < p; i++)
        index[i] = 2 * (i + 1), edges[2 * i] = (i + p - 1) % p, edges[2 * i + 1] = (i + 1) % p;
    if (kind == 'c') MPI_Cart_create(from, 1, &p, &one, 0, &made);
    if (kind == 'g') MPI_Graph_create(from, p, index, edges, 0, &made);
    if (kind == 'a')
        MPI_Dist_graph_create_adjacent(from, 1, &before, &one, 1, &after, &one, MPI_INFO_NULL, 0,
                                       &made);
    if (kind == 'd')
        MPI_Dist_graph_create(from, 1, &me, &one, &after, &one, MPI_INFO_NULL, 0, &made);
    free(index);
    return made;
}

int main(int argc, char **argv) {
    if (argc < 3) return 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm first = make(MPI_COMM_WORLD, *argv[1]), second = make(first, *argv[2]);
    MPI_Comm_set_errhandler(second, MPI_ERRORS_RETURN);
    for (int k = 0; k < 3; k++) {
        int send[2] = {me * 10, me * 10 + 1}, recv[2] = {-1, -1};
        int error = MPI_Neighbor_allgather(send, 1, MPI_INT, recv, 1, MPI_INT, second);
        printf("rank %d: allgather %d: %d %d\n", me, error, recv[0], recv[1]);
        recv[0] = recv[1] = -1;
        error = MPI_Neighbor_alltoall(send, 1, MPI_INT, recv, 1, MPI_INT, second);
        printf("rank %d: alltoall %d: %d %d\n", me, error, recv[0], recv[1]);
    }
    MPI_Finalize();
    return 0;
}
