/* SPDX-License-Identifier: BSD-3-Clause */
/* behind - what ranks find behind a collective that others have entered after sending: all
 * messages, by looks that are not repeated (argv[1]: looks; many: a hundred to each rank), room in
 * the buffer of MPI_Bsend (buffers), and receives that cannot be cancelled any more (cancels). And
 * how often a rank gives its processor away in a look: natively once at most (yields).
 * argv[2]: rounds. */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { most_ranks = 64, bytes = 20000, some = 100 };

static int me, p, wrong;
static MPI_Request again = MPI_REQUEST_NULL; /* of a buffered send */

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

/* By each kind of look in turn. */
static int receives_next(int turn) {
    int number, flag;
    MPI_Status status;
    MPI_Message message;
    if (turn % 2) MPI_Improbe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &flag, &message, &status);
    else MPI_Iprobe(MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, &flag, &status);
    if (flag && turn % 2) MPI_Mrecv(&number, 1, MPI_INT, &message, MPI_STATUS_IGNORE);
    else if (flag)
        MPI_Recv(&number, 1, MPI_INT, status.MPI_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return flag;
}

static int has_come(MPI_Request *request, int turn) {
    int flag = 0, which, count = 0;
    MPI_Status status;
    if (turn % 5 == 0) MPI_Test(request, &flag, MPI_STATUS_IGNORE);
    if (turn % 5 == 1) MPI_Testall(1, request, &flag, &status);
    if (turn % 5 == 2) MPI_Testany(1, request, &which, &flag, MPI_STATUS_IGNORE);
    if (turn % 5 == 3) MPI_Testsome(1, request, &count, &which, &status);
    if (turn % 5 == 4) MPI_Request_get_status(*request, &flag, MPI_STATUS_IGNORE);
    return flag || count > 0;
}

/* Until a look finds nothing. */
static void receive(int expected, int turn) {
    int came = 0, number;
    while (receives_next(turn)) came++;
    wrong += expected - came;
    for (; came < expected; came++)
        MPI_Recv(&number, 1, MPI_INT, MPI_ANY_SOURCE, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void looks(int round) {
    int expected = 0;
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
    if (round % 2) wrong += !has_come(&awaited, round / 2);
    receive(expected, round / 4);
    MPI_Wait(&awaited, MPI_STATUS_IGNORE);
    MPI_Barrier(MPI_COMM_WORLD);
}

static void buffers(int round) {
    static char send[bytes], recv[bytes];
    int to = (me + 1) % p, way = round / 2 % 4;
    memset(send, me + round, bytes);
    /* What Open MPI 4 sends by a persistent one is not what is there. */
    if (again == MPI_REQUEST_NULL)
        MPI_Bsend_init(send, bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD, &again);
    MPI_Request request = again;
    if (way == 0) MPI_Bsend(send, bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD);
    if (way == 1) MPI_Ibsend(send, bytes, MPI_BYTE, to, 0, MPI_COMM_WORLD, &request);
    if (way == 2) MPI_Start(&request);
    if (way == 3) MPI_Startall(1, &request);
    if (way > 0) MPI_Wait(&request, MPI_STATUS_IGNORE);
    MPI_Recv(recv, bytes, MPI_BYTE, (me + p - 1) % p, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wrong += way < 2 && recv[bytes / 2] != (char)((me + p - 1) % p + round);
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
    receive(some, round);
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

static long yielded;

int sched_yield(void);
/* The MPI library calls this one. */
int sched_yield(void) {
    yielded++;
    return (int)syscall(SYS_sched_yield);
}

/* A first look mostly finds that the message has not left; the next one that it has. So 1 or 2
 * yields a look; 8 to 16 where a look ends only with its time. */
static void yields(int round) {
    static char send[3000], recv[3000];
    static long in_looks;
    int flag;
    MPI_Request request;
    MPI_Status status;
    MPI_Isend(send, sizeof send, MPI_BYTE, (me + 1) % p, 4, MPI_COMM_WORLD, &request);
    meet(round);
    in_looks -= yielded;
    MPI_Testall(1, &request, &flag, &status);
    in_looks += yielded;
    wrong = (int)in_looks - 4 * (round + 1);
    MPI_Recv(recv, sizeof recv, MPI_BYTE, (me + p - 1) % p, 4, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (!flag) MPI_Wait(&request, MPI_STATUS_IGNORE);
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
        else if (strcmp(word, "yields") == 0) yields(round);
        else buffers(round);
    if (again != MPI_REQUEST_NULL) MPI_Request_free(&again);
    MPI_Buffer_detach(&buffer, &size);
    MPI_Reduce(&wrong, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    /* Of many messages a rank that loses its processor meanwhile may overlook some. */
    if (strcmp(word, "many") == 0 && all <= rounds * p * some / 100) all = 0;
    if (strcmp(word, "yields") == 0 && all < 0) all = 0;
    if (me == 0) printf("%d ranks, %d overlooked\n", p, all);
    free(buffer);
    MPI_Finalize();
    return 0;
}
