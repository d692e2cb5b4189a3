/* SPDX-License-Identifier: BSD-3-Clause */
/* imbalance - 21 alltoalls, or bcasts, on a communicator whose ranks are numbered otherwise than
 * the world's. Rank 2 of the world, which is the root, comes late to 20 of them: it sleeps 20 ms
 * after it has heard that all others are about to enter. Then an allgather, on time.
 * imbalance [alltoall|bcast [keep|turns]]   keep: the communicator lives until the report is
 * written; turns: in the first half another rank comes late, the last one, or 0 of 2 */
#include <mpi.h>

#include <stdio.h>
#include <string.h>
#include <time.h>

enum { rounds = 20, most = 64 };

static void be_late(int p, int me, int late) {
    int ready;
    if (me != late) {
        MPI_Send(&me, 1, MPI_INT, late, 0, MPI_COMM_WORLD);
        return;
    }
    for (int i = 1; i < p; i++)
        MPI_Recv(&ready, 1, MPI_INT, MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
}

int main(int argc, char **argv) {
    int p, me, turned_me, errors = 0, send[most], recv[most];
    int bcast = argc > 1 && strcmp(argv[1], "bcast") == 0;
    int turns = argc > 2 && strcmp(argv[2], "turns") == 0;
    MPI_Comm turned;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    int late = p > 2 ? 2 : 1, first = p > 2 ? p - 1 : 0;
    MPI_Comm_split(MPI_COMM_WORLD, 0, (me + 1) % p, &turned);
    MPI_Comm_rank(turned, &turned_me);
    for (int k = 0; k <= rounds; k++) { /* the first one sets the team up */
        for (int j = 0; j < p; j++) send[j] = 100 * turned_me + j, recv[j] = -1;
        if (k > 0) be_late(p, me, turns && k <= rounds / 2 ? first : late);
        if (bcast) {
            int root = (late + 1) % p, value = turned_me == root ? k : -1;
            MPI_Bcast(&value, 1, MPI_INT, root, turned);
            errors += value != k;
            continue;
        }
        MPI_Alltoall(send, 1, MPI_INT, recv, 1, MPI_INT, turned);
        for (int i = 0; i < p; i++) errors += recv[i] != 100 * i + turned_me;
    }
    MPI_Allgather(&turned_me, 1, MPI_INT, recv, 1, MPI_INT, turned);
    for (int i = 0; i < p; i++) errors += recv[i] != i;
    if (argc < 3) MPI_Comm_free(&turned);
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, errors);
    MPI_Finalize();
    return errors > 0;
}
