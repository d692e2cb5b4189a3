/* SPDX-License-Identifier: BSD-3-Clause */
/* apart - send and receive buffers that begin at the same address and share no byte: the types of
 * one side have their data behind those of the other. Who takes equal addresses for MPI_IN_PLACE
 * forgets to copy a rank's own blocks. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>

/* width: doubles from one block to the next, two of which are data. */
enum { most = 64, width = 4, rounds = 3 };
static double memory[2 * most * width]; /* blocks to send, then blocks that were received */
static int errors, p, me, counts[most], displs[most];
static MPI_Datatype near, far;

/* The two doubles of a block, `at` doubles from its address. */
static MPI_Datatype block_at(int at) {
    int two = 2;
    MPI_Datatype pair, block;
    MPI_Type_indexed(1, &two, &at, MPI_DOUBLE, &pair);
    MPI_Type_create_resized(pair, 0, width * sizeof(double), &block);
    MPI_Type_commit(&block);
    MPI_Type_free(&pair);
    return block;
}

static double value(int round, int source, int dest, int k) {
    return round * 1e6 + source * 1e3 + dest * 2 + k;
}

static void begin(int round, int all) {
    for (int i = 0; i < 2 * p * width; i++) memory[i] = -1;
    for (int i = 0; i < p; i++)
        for (int k = 0; k < 2; k++) memory[i * width + k] = value(round, me, all ? 0 : i, k);
}

static void end(const char *what, int round, int first, int count, int all) {
    for (int i = first; i < first + count; i++)
        for (int k = 0; k < 2; k++)
            if (memory[(p + i) * width + k] != value(round, i, all ? 0 : me, k)) {
                errors++;
                fprintf(stderr, "rank %d: %s: wrong block from rank %d\n", me, what, i);
                return;
            }
}

static void exchange(int round) {
    MPI_Datatype from[most], to[most];
    int bytes[most];
    double *mine = memory + me * width;
    for (int i = 0; i < p; i++)
        from[i] = near, to[i] = far, bytes[i] = i * width * (int)sizeof(double);
    begin(round, 0);
    MPI_Alltoall(memory, 1, near, memory, 1, far, MPI_COMM_WORLD);
    end("alltoall", round, 0, p, 0);
    begin(round, 0);
    MPI_Alltoallv(memory, counts, displs, near, memory, counts, displs, far, MPI_COMM_WORLD);
    end("alltoallv", round, 0, p, 0);
    begin(round, 0);
    MPI_Alltoallw(memory, counts, bytes, from, memory, counts, bytes, to, MPI_COMM_WORLD);
    end("alltoallw", round, 0, p, 0);
    begin(round, 1);
    MPI_Allgather(mine, 1, near, memory, 1, far, MPI_COMM_WORLD);
    end("allgather", round, 0, p, 1);
    begin(round, 1);
    MPI_Allgatherv(mine, 1, near, memory, counts, displs, far, MPI_COMM_WORLD);
    end("allgatherv", round, 0, p, 1);
}

static void from_and_to_root(int round, int root) {
    double *mine = memory + me * width;
    begin(round, 1);
    MPI_Gather(mine, 1, near, memory, 1, far, root, MPI_COMM_WORLD);
    if (me == root) end("gather", round, 0, p, 1);
    begin(round, 1);
    MPI_Gatherv(mine, 1, near, memory, counts, displs, far, root, MPI_COMM_WORLD);
    if (me == root) end("gatherv", round, 0, p, 1);
    begin(round, 0);
    MPI_Scatter(memory, 1, near, memory + root * width, 1, far, root, MPI_COMM_WORLD);
    end("scatter", round, root, 1, 0);
    begin(round, 0);
    MPI_Scatterv(memory, counts, displs, near, memory + root * width, 1, far, root, MPI_COMM_WORLD);
    end("scatterv", round, root, 1, 0);
}

/* Everybody is its own only neighbour. */
static void with_myself(int round, MPI_Comm loops) {
    int one = 1, zero = 0;
    MPI_Aint none = 0;
    double *mine = memory + me * width;
    begin(round, 0);
    MPI_Neighbor_alltoall(mine, 1, near, mine, 1, far, loops);
    end("neighbor_alltoall", round, me, 1, 0);
    begin(round, 0);
    MPI_Neighbor_alltoallv(mine, &one, &zero, near, mine, &one, &zero, far, loops);
    end("neighbor_alltoallv", round, me, 1, 0);
    begin(round, 0);
    MPI_Neighbor_alltoallw(mine, &one, &none, &near, mine, &one, &none, &far, loops);
    end("neighbor_alltoallw", round, me, 1, 0);
    begin(round, 1);
    MPI_Neighbor_allgather(mine, 1, near, mine, 1, far, loops);
    end("neighbor_allgather", round, me, 1, 1);
    begin(round, 1);
    MPI_Neighbor_allgatherv(mine, 1, near, mine, &one, &zero, far, loops);
    end("neighbor_allgatherv", round, me, 1, 1);
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm loops;
    int weight = 1;
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, &me, &weight, 1, &me, &weight, MPI_INFO_NULL,
                                   0, &loops);
    near = block_at(0);
    far = block_at(p * width);
    for (int i = 0; i < p; i++) counts[i] = 1, displs[i] = i;
    for (int round = 0; round < rounds; round++) {
        exchange(round);
        from_and_to_root(round, round % p);
        with_myself(round, loops);
    }
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, errors);
    MPI_Comm_free(&loops);
    MPI_Type_free(&near);
    MPI_Type_free(&far);
    MPI_Finalize();
    return errors > 0;
}
