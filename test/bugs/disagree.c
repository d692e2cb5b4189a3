/* SPDX-License-Identifier: BSD-3-Clause */
/* disagree - ranks whose calls differ, which the standard forbids: none may wait for ever. Each
 * case has a communicator of its own. usage: disagree bcast|reduce|trains|fatal|kinds|again BYTES
 * OTHERS [late]. bytes of the root, and of the others; late: a rank comes late once; again: calls
 * that repeat, and then differ, unless a rank comes late to one of them */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static char block[1 << 20];

static void late(void) {
    for (double start = MPI_Wtime(); MPI_Wtime() - start < 2.5;) {}
}

/* Short calls that mortar knows by the third time. Returns how many failed or were wrong. */
static int repeat(MPI_Comm comm, int me, int p, int rounds, int late_at) {
    int failed = 0, sum = 0;
    for (int round = 0; round < rounds; round++) {
        int send[64], recv[64] = {0}, word = me == p - 1 ? round : -1;
        for (int j = 0; j < p; j++) send[j] = 100 * round + 10 * me + j;
        failed += MPI_Barrier(comm) != MPI_SUCCESS;
        if (round == late_at && me == p - 1) late();
        failed += MPI_Alltoall(send, 1, MPI_INT, recv, 1, MPI_INT, comm) != MPI_SUCCESS;
        if (round == late_at + 1 && me == p - 1) late();
        failed += MPI_Allreduce(&round, &sum, 1, MPI_INT, MPI_SUM, comm) != MPI_SUCCESS;
        failed += MPI_Bcast(&word, 1, MPI_INT, p - 1, comm) != MPI_SUCCESS || word != round;
        for (int i = 0; i < p; i++) failed += recv[i] != 100 * round + 10 * i + me;
        failed += sum != p * round;
    }
    return failed;
}

int main(int argc, char **argv) {
    int me, p, failed = 0, error, class = MPI_SUCCESS;
    MPI_Comm comm;
    MPI_Init(&argc, &argv);
    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    MPI_Comm_rank(comm, &me);
    MPI_Comm_size(comm, &p);
    if (argc < 4) MPI_Abort(MPI_COMM_WORLD, 2);
    const char *which = argv[1];
    int bytes = atoi(argv[me == 0 ? 2 : 3]);
    if (strcmp(which, "fatal") != 0) MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Barrier(comm);
    /* A rank that is late is not one that disagrees. */
    if (me == p - 1 && argc > 4) late();
    MPI_Barrier(comm);
    int calls = strcmp(which, "trains") == 0 ? 200 : 1;
    if (strcmp(which, "again") == 0) {
        failed = repeat(comm, me, p, 20, argc > 4 ? 15 : -2);
        calls = 0;
        if (argc == 4) /* the ranks wait for each other at different places */
            failed += (me ? MPI_Alltoall(block, 1, MPI_INT, block + 4096, 1, MPI_INT, comm)
                          : MPI_Bcast(block, 1, MPI_INT, p - 1, comm)) != MPI_SUCCESS;
    }
    for (int i = 0; i < calls; i++) {
        int now = i < calls - 1 && calls > 1 ? 16 : bytes;
        if (strcmp(which, "kinds") == 0 && me == 0) error = MPI_Barrier(comm);
        else if (strcmp(which, "reduce") == 0)
            error = MPI_Reduce(block, block + sizeof block / 2, now, MPI_BYTE, MPI_BOR, 0, comm);
        else error = MPI_Bcast(block, now, MPI_BYTE, 0, comm);
        if (error != MPI_SUCCESS) failed++, MPI_Error_class(error, &class);
    }
    for (int i = 0; i < 3; i++) {
        error = MPI_Allgather(&me, 1, MPI_INT, block, 1, MPI_INT, comm);
        if (error != MPI_SUCCESS) failed++;
    }
    int all = 0, told = class == MPI_ERR_TRUNCATE, any = 0;
    MPI_Reduce(&failed, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    MPI_Reduce(&told, &any, 1, MPI_INT, MPI_MAX, 0, MPI_COMM_WORLD);
    if (me == 0)
        printf("%s: errors: %s, truncation: %s\n", which, all > 0 ? "yes" : "no",
               any ? "yes" : "no");
    MPI_Comm_free(&comm);
    /* What was left there must not be found by the next communicators of these ranks. */
    failed = 0;
    for (int round = 0; round < 2; round++) {
        MPI_Comm_dup(MPI_COMM_WORLD, &comm);
        failed += repeat(comm, me, p, 20, -2);
        MPI_Comm_free(&comm);
    }
    MPI_Finalize();
    return failed > 0;
}
