/* SPDX-License-Identifier: BSD-3-Clause */
/* calls - blocking collectives of several kinds with growing blocks, every byte checked.
 * usage: calls ROUNDS BYTES [sample] [hold MIB]
 * BYTES: the longest block. sample: a signal a millisecond of processor time walks the stack, as
 * sampling profilers do. hold: so much memory of each rank takes part in alltoalls first, so that
 * it moves, and is checked at the end. */
#define _GNU_SOURCE
#include "faults.h"

#include <execinfo.h>
#include <signal.h>
#include <sys/time.h>

static volatile sig_atomic_t samples;

static void on_sample(int number) {
    void *frames[64];
    (void)number;
    samples += backtrace(frames, 64) > 0;
}

static void sample(void) {
    void *frame;
    backtrace(&frame, 1); /* the first one loads a library */
    struct sigaction action = {.sa_handler = on_sample, .sa_flags = SA_RESTART};
    sigaction(SIGPROF, &action, NULL);
    struct itimerval often = {.it_interval = {.tv_usec = 1000}, .it_value = {.tv_usec = 1000}};
    setitimer(ITIMER_PROF, &often, NULL);
}

static unsigned char *send, *recv;

static long blocks(size_t n, int round) {
    long errors = 0;
    int count = (int)n, root = round % ranks;
    for (int r = 0; r < ranks; r++) fill(send + (size_t)r * n, n, me, r, round);
    memset(recv, 0, n * (size_t)ranks);
    MPI_Alltoall(send, count, MPI_BYTE, recv, count, MPI_BYTE, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++) errors += wrong(recv + (size_t)r * n, n, r, me, round);
    MPI_Allgather(send, count, MPI_BYTE, recv, count, MPI_BYTE, MPI_COMM_WORLD);
    for (int r = 0; r < ranks; r++) errors += wrong(recv + (size_t)r * n, n, r, 0, round);
    memcpy(recv, send, n);
    MPI_Bcast(recv, count, MPI_BYTE, root, MPI_COMM_WORLD);
    errors += wrong(recv, n, root, 0, round);
    MPI_Gather(send, count, MPI_BYTE, recv, count, MPI_BYTE, root, MPI_COMM_WORLD);
    for (int r = 0; me == root && r < ranks; r++)
        errors += wrong(recv + (size_t)r * n, n, r, 0, round);
    MPI_Scatter(send, count, MPI_BYTE, recv, count, MPI_BYTE, root, MPI_COMM_WORLD);
    return errors + wrong(recv, n, root, me, round);
}

static long sums(int round) {
    long errors = 0, mine[3] = {me, round, 1}, all[3] = {0, 0, 0};
    long expected = (long)ranks * (ranks - 1) / 2;
    MPI_Allreduce(mine, all, 3, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    errors += all[0] != expected || all[1] != (long)ranks * round || all[2] != ranks;
    memset(all, 0, sizeof all);
    MPI_Reduce(mine, all, 3, MPI_LONG, MPI_SUM, round % ranks, MPI_COMM_WORLD);
    if (me == round % ranks) errors += all[0] != expected || all[2] != ranks;
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Scan(mine, all, 3, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    return errors + (all[0] != (long)me * (me + 1) / 2 || all[2] != me + 1);
}

/* Memory of this many bytes that alltoalls have used: its first half is sent to the second. */
static unsigned char *hold(size_t bytes) {
    size_t half = bytes / 2, block = half / (size_t)ranks;
    unsigned char *held = malloc(bytes);
    if (!held) MPI_Abort(MPI_COMM_WORLD, 3);
    memset(held + half, 0, half);
    for (int r = 0; r < ranks; r++) fill(held + (size_t)r * block, block, me, r, 1);
    for (int i = 0; i < 3; i++)
        MPI_Alltoall(held, (int)block, MPI_BYTE, held + half, (int)block, MPI_BYTE, MPI_COMM_WORLD);
    return held;
}

static long check_held(const unsigned char *held, size_t bytes) {
    size_t half = bytes / 2, block = half / (size_t)ranks;
    long errors = 0;
    for (int r = 0; r < ranks; r++) {
        errors += wrong(held + (size_t)r * block, block, me, r, 1);
        errors += wrong(held + half + (size_t)r * block, block, r, me, 1);
    }
    return errors;
}

int main(int argc, char **argv) {
    begin(&argc, &argv);
    int rounds = argc > 1 ? atoi(argv[1]) : 10;
    size_t most = argc > 2 ? (size_t)atol(argv[2]) : 1000, held_bytes = 0;
    long errors = 0;
    char more[64] = "";
    for (int i = 3; i < argc; i++) {
        if (strcmp(argv[i], "sample") == 0) sample();
        if (strcmp(argv[i], "hold") == 0 && i + 1 < argc)
            held_bytes = (size_t)atol(argv[i + 1]) << 20;
    }
    unsigned char *held = held_bytes ? hold(held_bytes) : NULL;
    send = malloc(most * (size_t)ranks);
    recv = malloc(most * (size_t)ranks);
    for (int round = 0; round < rounds; round++) {
        for (size_t n = 1; n < most; n = 7 * n + 1) errors += blocks(n, round);
        errors += blocks(most, round) + sums(round);
    }
    if (held) errors += check_held(held, held_bytes);
    if (samples > 0) snprintf(more, sizeof more, ", sampled");
    struct itimerval never = {.it_value = {0}};
    setitimer(ITIMER_PROF, &never, NULL);
    free(held);
    free(send);
    free(recv);
    return end(errors, more);
}
