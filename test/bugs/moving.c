/* SPDX-License-Identifier: BSD-3-Clause */
/* moving - buffers that move into shared memory while the program lives with them: all ranks at the
 * same time, two communicators, slices that overlap, a send buffer that is read-only, signals that
 * write beside the buffers, fork, realloc, free. Every byte of every result is checked, and every
 * byte beside the buffers. */
#define _GNU_SOURCE
#include <mpi.h>

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

enum { rounds = 40, span = 512 << 10, rim = 256, untouched = 0x5a, round_of_fork = 31 };

static int me, p, errors;
static volatile unsigned char *volatile beside, written; /* the handler counts in *beside */

static void tick(int signal) {
    (void)signal;
    if (beside) *beside = ++written;
}

static unsigned char value(int round, int from, int to, size_t i) {
    return (unsigned char)(round * 31 + from * 7 + to * 3 + (int)(i % 253));
}

static void expect(int wrong, int round, const char *what) {
    if (wrong && errors++ < 3) printf("rank %d, round %d: %s\n", me, round, what);
}

/* A block whose buffer of `bytes` begins at an odd place behind a rim, and has one behind. */
struct block {
    unsigned char *start, *buffer;
};

static void lay(struct block *block, size_t offset, size_t bytes) {
    block->buffer = block->start + rim + offset;
    memset(block->buffer - rim, untouched, bytes + 2 * rim);
}

static int rims_intact(const struct block *block, size_t bytes) {
    for (int i = 1; i < rim; i++) /* byte rim before the buffer is the handler's */
        if (block->buffer[-i] != untouched || block->buffer[bytes + (size_t)i - 1] != untouched)
            return 0;
    return 1;
}

static void exchange(MPI_Comm comm, struct block *send, struct block *recv, int round) {
    size_t each = (size_t)(span / p) - 16 * (size_t)(round % 5), all = each * (size_t)p;
    size_t offset = (size_t)(round % 3) * 1000;
    lay(send, offset, all);
    lay(recv, offset, all);
    for (int to = 0; to < p; to++)
        for (size_t i = 0; i < each; i++)
            send->buffer[(size_t)to * each + i] = value(round, me, to, i);
    written = untouched;
    beside = recv->buffer - rim;
    if (round % 4 == 1) mprotect(send->start, span, PROT_READ);
    MPI_Alltoall(send->buffer, (int)each, MPI_BYTE, recv->buffer, (int)each, MPI_BYTE, comm);
    if (round % 4 == 1) mprotect(send->start, span, PROT_READ | PROT_WRITE);
    beside = NULL;
    int wrong = 0;
    for (int from = 0; from < p; from++)
        for (size_t i = 0; i < each; i++)
            wrong += recv->buffer[(size_t)from * each + i] != value(round, from, me, i) ||
                     send->buffer[(size_t)from * each + i] != value(round, me, from, i);
    expect(wrong, round, "wrong bytes");
    expect(recv->buffer[-rim] != written, round, "a signal handler's byte");
    expect(!rims_intact(send, all) || !rims_intact(recv, all), round, "bytes beside a buffer");
}

/* A child sees the buffer as it was, and what it writes is its own. */
static void forks(struct block *block) {
    unsigned char *buffer = block->buffer, first = buffer[0], last = buffer[span / 2];
    pid_t child = fork();
    if (child == 0) {
        int same = buffer[0] == first && buffer[span / 2] == last;
        memset(buffer, 99, span / 2);
        _exit(same ? 0 : 1);
    }
    int status = -1;
    waitpid(child, &status, 0);
    expect(status != 0, round_of_fork, "a forked child");
    expect(buffer[0] != first || buffer[span / 2] != last, round_of_fork, "a child's bytes");
}

static struct block block_new(void) {
    return (struct block){.start = aligned_alloc(4096, span + (16 << 10))};
}

int main(int argc, char **argv) {
    int all = 0;
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm comms[2] = {MPI_COMM_WORLD};
    MPI_Comm_dup(MPI_COMM_WORLD, &comms[1]);
    struct sigaction action = {.sa_handler = tick, .sa_flags = SA_RESTART};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval often = {{0, 20000}, {0, 20000}};
    setitimer(ITIMER_REAL, &often, NULL);
    struct block send = block_new(), recv = block_new();
    for (int round = 0; round < rounds; round++) {
        exchange(comms[round % 2], &send, &recv, round);
        if (round == round_of_fork && me % 8 == 0) forks(&recv);
        if (round % 20 == 19) {
            send.start = realloc(send.start, (size_t)(span + (16 << 10)) * 2);
            free(recv.start);
            recv = block_new();
        }
    }
    setitimer(ITIMER_REAL, &(struct itimerval){{0, 0}, {0, 0}}, NULL);
    MPI_Reduce(&errors, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %d errors\n", p, all);
    MPI_Comm_free(&comms[1]);
    MPI_Finalize();
    return errors != 0;
}
