/* SPDX-License-Identifier: BSD-3-Clause */
/* tags - communicators that are made and freed many times over, some of them at once, in an MPI
 * library with few tags. Over several nodes they share them: so each is used again soon, and there
 * may be too few. A communicator is freed as soon as this rank has left its last call.
 * usage: tags ROUNDS BOUND   the highest tag is at most BOUND */
#define _GNU_SOURCE
#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

enum { most = 6, numbers = 3 };
static int p, me, bound, errors;

/* Before the MPI library's. */
int PMPI_Comm_get_attr(MPI_Comm comm, int key, void *value, int *found) {
    int (*next)(MPI_Comm, int, void *, int *) =
        (int (*)(MPI_Comm, int, void *, int *))dlsym(RTLD_NEXT, "PMPI_Comm_get_attr");
    int error = next(comm, key, value, found);
    if (key == MPI_TAG_UB && *found && **(int **)value > bound) *(int **)value = &bound;
    return error;
}

static void use(MPI_Comm comm, int k) {
    int ranks, rank, in[numbers], out[numbers], *all;
    MPI_Comm_size(comm, &ranks);
    MPI_Comm_rank(comm, &rank);
    int root = k % ranks, sum = ranks * (ranks - 1) / 2;
    for (int i = 0; i < numbers; i++) in[i] = rank + i * k;
    MPI_Allreduce(in, out, numbers, MPI_INT, MPI_SUM, comm);
    for (int i = 0; i < numbers; i++) errors += out[i] != sum + ranks * i * k;
    MPI_Bcast(out, 0, MPI_INT, root, comm);
    all = calloc(2 * (size_t)ranks, sizeof *all);
    for (int r = 0; r < ranks; r++) all[r] = k + 100 * rank + r;
    MPI_Alltoall(all, 1, MPI_INT, all + ranks, 1, MPI_INT, comm);
    for (int r = 0; r < ranks; r++) errors += all[ranks + r] != k + 100 * r + rank;
    free(all);
    for (int i = 0; i < 3; i++) {
        int at = (root + i) % ranks;
        MPI_Reduce(in, out, numbers, MPI_INT, MPI_SUM, at, comm);
        for (int j = 0; rank == at && j < numbers; j++) errors += out[j] != sum + ranks * j * k;
    }
}

/* All ranks, in another order, or some of them. */
static MPI_Comm make(int k) {
    MPI_Comm comm;
    if (k % 3 == 0) MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    else if (k % 3 == 1) MPI_Comm_split(MPI_COMM_WORLD, 0, -me, &comm);
    else MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &comm);
    return comm;
}

int main(int argc, char **argv) {
    int all, rounds = argc > 1 ? atoi(argv[1]) : 20;
    MPI_Comm comms[most];
    bound = argc > 2 ? atoi(argv[2]) : 32767;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int k = 0; k < rounds + most; k++) {
        if (k >= most) MPI_Comm_free(&comms[k % most]);
        if (k >= rounds) continue;
        comms[k % most] = make(k);
        use(comms[k % most], k);
        if (k > 0 && k % 4 == 0) use(comms[(k - 1) % most], k);
    }
    MPI_Allreduce(&errors, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, all);
    MPI_Finalize();
    return all != 0;
}
