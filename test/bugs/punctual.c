/* SPDX-License-Identifier: BSD-3-Clause */
/* punctual - sums of doubles on changing roots, of lengths on both sides of the borders of size
 * classes, on one communicator: ranks come together for some steps, then one late, then all at
 * different times. A message to a neighbour is under way meanwhile, and other collectives come in
 * between. As soon as a rank is back it writes over what it has sent. Vectors lie in memory that
 * can move and in static memory; some are reduced in place. Every result is checked. In every
 * second step the numbers are the same ones, whose sum rounds: it must have the same bits whoever
 * was late, and whichever rank was the root.
 * usage: punctual STEPS [exact]     exact: no sums that round */
#define _POSIX_C_SOURCE 199309L
#include "repeat.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { most = 150000, lengths = 12, kinds = 3 };
static const int length_of[lengths] = {1,     4095,  4096,  8191,  8192,  8193,
                                       16384, 40000, 65535, 65536, 65537, most};
static double same[most], still[most], first[lengths][most];
static int errors, calls[kinds], known[lengths], p, me;
static unsigned long seed = 5, own;

static void come(int step) {
    enum { phase = 12, most_ms = 4 };
    int way = step / phase % 3, late = roll(&own, most_ms * 1000);
    if (way == 0 || (way == 1 && me != step / 4 % p)) return;
    struct timespec time = {.tv_nsec = 1000L * late};
    nanosleep(&time, NULL);
}

static double draw(void) { return (roll(&own, 1 << 30) - 5e8) * (1 + 1e9 * roll(&own, 3)); }

/* Number i of what rank r sends in a step; small, so that sums are exact. */
static double number(int step, int r, int i) { return step % 50 * 1000 + r * 10 + i % 7; }

static double sum(int step, int i) {
    double all = 0;
    for (int r = 0; r < p; r++) all += number(step, r, i);
    return all;
}

/* The bits that came first are those that must come again: rank 0 tells them to all. */
static void compare_bits(int which, const double *result, int n, int root) {
    size_t bytes = (size_t)n * sizeof *result;
    if (known[which]) {
        errors += me == root && memcmp(first[which], result, bytes) != 0;
        return;
    }
    if (me == root) memcpy(first[which], result, bytes);
    MPI_Bcast(first[which], n, MPI_DOUBLE, root, MPI_COMM_WORLD);
    calls[1]++;
    known[which] = 1;
}

static void reduce(int step, int which, int exact, double *send, double *recv) {
    int n = length_of[which], root = roll(&seed, p), in_place = roll(&seed, 3) == 0;
    for (int i = 0; i < n; i++) send[i] = exact ? number(step, me, i) : same[i];
    if (in_place && me == root) memcpy(recv, send, (size_t)n * sizeof *recv);
    else memset(recv, -1, (size_t)n * sizeof *recv);
    come(step);
    MPI_Reduce(in_place && me == root ? MPI_IN_PLACE : send, me == root ? recv : NULL, n,
               MPI_DOUBLE, MPI_SUM, root, MPI_COMM_WORLD);
    calls[0]++;
    memset(send, 0x55, (size_t)n * sizeof *send);
    for (int i = 0; i < n && exact && me == root; i++) errors += recv[i] != sum(step, i);
    if (!exact) compare_bits(which, recv, n, root);
}

int main(int argc, char **argv) {
    int steps = argc > 1 ? atoi(argv[1]) : 300, exact = argc > 2;
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    own = 77 + (unsigned long)me;
    double *memory = malloc(2 * most * sizeof *memory);
    for (int i = 0; i < most; i++) same[i] = draw();
    for (int step = 0; step < steps; step++) {
        int next = (me + 1) % p, before = (me + p - 1) % p, comes = -1, goes = 1000 * step + me;
        MPI_Request requests[2];
        MPI_Irecv(&comes, 1, MPI_INT, before, step, MPI_COMM_WORLD, &requests[0]);
        MPI_Isend(&goes, 1, MPI_INT, next, step, MPI_COMM_WORLD, &requests[1]);
        int which = roll(&seed, lengths), moves = roll(&own, 2);
        reduce(step, which, exact || step % 2, moves ? memory : still, memory + most);
        for (int r = 0; r < 2; r++) MPI_Wait(&requests[r], MPI_STATUS_IGNORE);
        errors += comes != 1000 * step + before;
        if (roll(&seed, 4) == 0) {
            int least = me + step;
            MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
            calls[2]++;
            errors += least != step;
        }
    }
    free(memory);
    return repeat_end(NULL, errors, calls, kinds);
}
