/* SPDX-License-Identifier: BSD-3-Clause */
/* lengths - MPI_Alltoallv, Gatherv, Scatterv and Neighbor_alltoallv (on a ring), each many times
 * with short blocks, then many times with long ones; no two ranks' blocks are equally long, and no
 * rank knows the others'.
 * lengths CALLS SHORT LONG */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_ranks = 64 };

static int p, me, errors;
static int counts[2][most_ranks], displs[2][most_ranks]; /* of what is sent and received */
static char *buffers[2];

static int length(int usual, int source, int dest) { return usual + (3 * source + dest) % 5 - 2; }
static char value(int call, int source, int dest) {
    return (char)(call * 7 + source * 31 + dest * 17 + 1);
}

/* Blocks sent to or received from these ranks, one after the other. */
static void lay(int usual, int side, const int *peers, int peer_count) {
    for (int i = 0, at = 0; i < peer_count; at += counts[side][i++]) {
        counts[side][i] = side == 0 ? length(usual, me, peers[i]) : length(usual, peers[i], me);
        displs[side][i] = at;
    }
}
static void fill(int call, const int *peers, int peer_count) {
    for (int i = 0; i < peer_count; i++)
        memset(buffers[0] + displs[0][i], value(call, me, peers[i]), (size_t)counts[0][i]);
}
static void check(int call, const int *peers, int peer_count) {
    for (int i = 0; i < peer_count; i++)
        for (int b = 0; b < counts[1][i]; b++)
            errors += buffers[1][displs[1][i] + b] != value(call, peers[i], me);
}

static void many(MPI_Comm ring, int calls, int usual) {
    int all[most_ranks], root = p - 1, beside[2] = {(me + p - 1) % p, (me + 1) % p};
    for (int r = 0; r < p; r++) all[r] = r;
    for (int call = 0; call < calls; call++) {
        int *sent = counts[0], *received = counts[1];
        lay(usual, 0, all, p), lay(usual, 1, all, p), fill(call, all, p);
        MPI_Alltoallv(buffers[0], sent, displs[0], MPI_CHAR, buffers[1], received, displs[1],
                      MPI_CHAR, MPI_COMM_WORLD);
        check(call, all, p);

        lay(usual, 0, &root, 1), fill(call, &root, 1);
        MPI_Gatherv(buffers[0], sent[0], MPI_CHAR, buffers[1], received, displs[1], MPI_CHAR, root,
                    MPI_COMM_WORLD);
        if (me == root) check(call, all, p);

        lay(usual, 0, all, p), lay(usual, 1, &root, 1), fill(call, all, me == root ? p : 0);
        MPI_Scatterv(buffers[0], sent, displs[0], MPI_CHAR, buffers[1], received[0], MPI_CHAR, root,
                     MPI_COMM_WORLD);
        check(call, &root, 1);

        lay(usual, 0, beside, 2), lay(usual, 1, beside, 2), fill(call, beside, 2);
        MPI_Neighbor_alltoallv(buffers[0], sent, displs[0], MPI_CHAR, buffers[1], received,
                               displs[1], MPI_CHAR, ring);
        /* Else which block is whose is a matter of their order. */
        if (p > 2) check(call, beside, 2);
    }
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (argc < 4 || p > most_ranks) MPI_Abort(MPI_COMM_WORLD, 2);
    int calls = atoi(argv[1]), sizes[2] = {atoi(argv[2]), atoi(argv[3])}, periodic = 1, total;
    for (int i = 0; i < 2; i++) buffers[i] = malloc((size_t)p * (size_t)(sizes[1] + 2));
    MPI_Comm ring;
    MPI_Cart_create(MPI_COMM_WORLD, 1, &p, &periodic, 0, &ring);
    for (int i = 0; i < 2; i++) many(ring, calls, sizes[i]);
    MPI_Allreduce(&errors, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, total);
    MPI_Comm_free(&ring);
    for (int i = 0; i < 2; i++) free(buffers[i]);
    MPI_Finalize();
    return total != 0;
}
