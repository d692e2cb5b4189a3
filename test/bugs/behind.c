/* SPDX-License-Identifier: BSD-3-Clause */
/* behind - what ranks find behind a collective that others have entered after sending: all
 * messages, by looks that are not repeated (argv[1]: looks; many: a hundred to each rank), room in
 * the buffer of MPI_Bsend (buffers), and receives that cannot be cancelled any more (cancels).
 * argv[2]: rounds. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_ranks = 64, bytes = 20000, some = 100 };

static int me, p, wrong;

/* One rank after the other comes last, and so waits for nobody. */
static void linger(int round) {
    double start = MPI_Wtime();
    while (me == round % p && MPI_Wtime() < start + 50e-6) continue;
}

static void meet(int round) {
    int one = 1, all, ones[most_ranks], others[most_ranks];
    for (int r = 0; r < p; r++) ones[r] = 1;
    if (round % 3 == 0) MPI_Barrier(MPI_COMM_WORLD);
    else if (round % 3 == 1) MPI_Allreduce(&one, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    else MPI_Alltoall(ones, 1, MPI_INT, others, 1, MPI_INT, MPI_COMM_WORLD);
}

/* Each rank sends to some others, here to those behind it. */
static int sends_to(int rank, int other, int round) { return (other - rank + p) % p > round % p; }

/* Until a look finds nothing. */
static void receive(int expected) {
    int came = 0, number;
    for (int flag = 1; flag;) {
        MPI_Status status;
        MPI_Iprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &flag, &status);
        int from = status.MPI_SOURCE;
        if (flag) MPI_Recv(&number, 1, MPI_INT, from, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE), came++;
    }
    wrong += expected - came;
    for (; came < expected; came++)
        MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void looks(int round) {
    int flag, expected = 0;
    MPI_Request awaited;
    char early;
    MPI_Irecv(&early, 1, MPI_CHAR, (me + p - 1) % p, 1, MPI_COMM_WORLD, &awaited);
    MPI_Send("x", 1, MPI_CHAR, (me + 1) % p, 1, MPI_COMM_WORLD);
    for (int r = 0; r < p; r++) {
        if (sends_to(me, r, round)) MPI_Send(&round, 1, MPI_INT, r, 2, MPI_COMM_WORLD);
        expected += sends_to(r, me, round);
    }
    linger(round);
    meet(round);
    if (round % 2) {
        MPI_Test(&awaited, &flag, MPI_STATUS_IGNORE);
        wrong += !flag;
    }
    receive(expected);
    MPI_Wait(&awaited, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void buffers(int round) {
    static char send[bytes], recv[bytes];
    memset(send, me + round, bytes);
    MPI_Bsend(send, bytes, MPI_BYTE, (me + 1) % p, 0, MPI_COMM_WORLD);
    MPI_Recv(recv, bytes, MPI_BYTE, (me + p - 1) % p, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wrong += recv[bytes / 2] != (char)((me + p - 1) % p + round);
    linger(round);
    meet(round);
}

static void send_some(int tag) {
    for (int k = 0; k < some; k++) MPI_Send(&k, 1, MPI_INT, (me + 1) % p, tag, MPI_COMM_WORLD);
}

/* By one look after the other, and by a single one. The looks before find nothing, which makes
 * mortar drive less. */
static void many(int round) {
    int numbers[some], flag, from = (me + p - 1) % p;
    MPI_Request requests[some];
    MPI_Status statuses[some];
    for (int k = 0; k < some; k++)
        MPI_Irecv(&numbers[k], 1, MPI_INT, from, 1, MPI_COMM_WORLD, &requests[k]);
    for (int k = 0; k < 20; k++) {
        MPI_Barrier(MPI_COMM_WORLD);
        MPI_Test(&requests[0], &flag, MPI_STATUS_IGNORE);
        wrong += flag;
    }
    send_some(2);
    linger(round);
    meet(round);
    receive(some);
    send_some(1);
    linger(round);
    meet(round);
    MPI_Testall(some, requests, &flag, statuses);
    wrong += !flag;
    MPI_Waitall(some, requests, statuses);
}

static void cancels(int round) {
    int number, cancelled;
    MPI_Request request;
    MPI_Status status;
    MPI_Irecv(&number, 1, MPI_INT, (me + p - 1) % p, 3, MPI_COMM_WORLD, &request);
    MPI_Send(&round, 1, MPI_INT, (me + 1) % p, 3, MPI_COMM_WORLD);
    linger(round);
    meet(round);
    MPI_Cancel(&request);
    MPI_Wait(&request, &status);
    MPI_Test_cancelled(&status, &cancelled);
    wrong += cancelled;
    if (cancelled) MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
    MPI_Barrier(MPI_COMM_WORLD);
}

int main(int argc, char **argv) {
    int all, size, rounds = argc > 2 ? atoi(argv[2]) : 1000;
    const char *word = argc > 1 ? argv[1] : "buffers";
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Pack_size(bytes, MPI_BYTE, MPI_COMM_WORLD, &size);
    size += MPI_BSEND_OVERHEAD; /* room for one message */
    char *buffer = malloc((size_t)size);
    MPI_Buffer_attach(buffer, size);
    for (int round = 0; round < rounds; round++)
        if (strcmp(word, "looks") == 0) looks(round);
        else if (strcmp(word, "many") == 0) many(round);
        else if (strcmp(word, "cancels") == 0) cancels(round);
        else buffers(round);
    MPI_Buffer_detach(&buffer, &size);
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    /* Of many messages a rank that loses its processor meanwhile may overlook some. */
    if (strcmp(word, "many") == 0 && all <= rounds * p * some / 100) all = 0;
    if (me == 0) printf("%d ranks, %d overlooked\n", p, all);
    free(buffer);
    MPI_Finalize();
    return 0;
}
