/* SPDX-License-Identifier: BSD-3-Clause */
/* dynamics - molecular dynamics with a mesh for the long forces. Ranks form a periodic grid in
 * three dimensions. At each of --iterations steps a rank swaps --size bytes with each of its six
 * neighbours, first positions, then forces, with computing between; every fourth step a small mesh
 * is transposed (MPI_Alltoall), and every tenth one energies are added up (MPI_Allreduce of 32
 * bytes). */
#include "program.h"

#include <stdlib.h>

static void swap(struct run *run, MPI_Comm grid, double *send, double *recv, int count, int step) {
    for (int k = 0; k < 3; k++)
        for (int way = -1; way <= 1; way += 2) {
            int from, to;
            MPI_Cart_shift(grid, k, way, &from, &to);
            send[0] = run->me + step, send[count - 1] = run->me - step;
            SPEND(run, POINT_TO_POINT,
                  MPI_Sendrecv(send, count, MPI_DOUBLE, to, k, recv, count, MPI_DOUBLE, from, k,
                               grid, MPI_STATUS_IGNORE));
            run->wrong += count > 1 && (recv[0] != from + step || recv[count - 1] != from - step);
            compute(run, 50 + drawn(run->me, step + k, 10));
        }
}

static void mesh(struct run *run, double *send, double *recv, int block, int step) {
    for (int j = 0; j < run->p * block; j++) send[j] = run->me + step;
    SPEND(run, ALLTOALL,
          MPI_Alltoall(send, block, MPI_DOUBLE, recv, block, MPI_DOUBLE, MPI_COMM_WORLD));
    for (int j = 0; j < run->p; j++) run->wrong += recv[j * block] != j + step;
}

static void energies(struct run *run, int step) {
    double mine[4] = {1, run->me, step, 0}, sums[4];
    SPEND(run, ALLREDUCE, MPI_Allreduce(mine, sums, 4, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD));
    run->wrong += sums[0] != run->p || sums[1] != run->p * (run->p - 1) / 2.0;
    run->wrong += sums[2] != (double)run->p * step;
}

void program_dynamics(struct run *run) {
    int shape[3] = {0, 0, 0}, count = run->size / 8 > 2 ? run->size / 8 : 2, block = 32;
    size_t room = (size_t)(count > run->p * block ? count : run->p * block);
    double *send = memory(room), *recv = memory(room);
    MPI_Comm grid;
    MPI_Dims_create(run->p, 3, shape);
    /* Ranks keep their numbers. */
    SPEND(run, COMMUNICATORS,
          MPI_Cart_create(MPI_COMM_WORLD, 3, shape, (int[3]){1, 1, 1}, 0, &grid));
    for (int step = 0; step < run->iterations; step++) {
        swap(run, grid, send, recv, count, 2 * step);
        swap(run, grid, send, recv, count, 2 * step + 1);
        if (step % 4 == 0) mesh(run, send, recv, block, step);
        if (step % 10 == 0) energies(run, step);
    }
    SPEND(run, COMMUNICATORS, MPI_Comm_free(&grid));
    free(send);
    free(recv);
}
