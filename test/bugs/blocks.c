/* SPDX-License-Identifier: BSD-3-Clause */
/* blocks - buffers that were made before MPI_Init, short ones by the C library, long ones in the
 * region, and after it, all but middle ones in the region; on each rank others. They are used in
 * turns by collectives of all lengths on one communicator, beside messages, are made longer and
 * shorter in between, and are freed. Prints how many short blocks, but for middle ones, lay in the
 * region, before and after. */
#include "repeat.h"
#include "test/heap/heap_test.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { blocks = 48, rounds = 1500, kinds = 5 };

static int p, me, errors;
static unsigned long common = 7, own; /* dice: the same on all ranks, and this rank's */
static int *block[blocks];
static size_t ints[blocks]; /* that it has room for */

/* Lengths of bytes to 256 KiB, many of them near a border. */
static size_t some_ints(void) {
    static const int borders[] = {middle_block, middle_end, long_block};
    if (roll(&own, 2)) return (size_t)(borders[roll(&own, 3)] / 4 - 8 + roll(&own, 16));
    return (size_t)1 << roll(&own, 17);
}

static void make(int i) {
    ints[i] = some_ints();
    block[i] = malloc(ints[i] * sizeof(int));
}

/* Of these, those that are short, and not middle ones. */
static void count_short(int from, int until, int *all, int *inside) {
    *all = *inside = 0;
    for (int i = from; i < until; i++) {
        size_t bytes = ints[i] * sizeof(int);
        if (bytes >= long_block || (bytes >= middle_block && bytes < middle_end)) continue;
        ++*all;
        *inside += in_region(block[i]);
    }
}

/* Gives this block room; it may have to grow. */
static int *room(int i, size_t needed) {
    if (roll(&own, 8) == 0) {
        free(block[i]);
        make(i);
    }
    if (ints[i] < needed || roll(&own, 8) == 0) {
        size_t more = needed + (size_t)roll(&own, 100), kept = ints[i] < more ? ints[i] : more;
        memset(block[i], i, kept * sizeof(int));
        block[i] = realloc(block[i], more * sizeof(int));
        ints[i] = more;
        const char *byte = (const char *)block[i];
        for (size_t k = 0; k < kept * sizeof(int); k++) errors += byte[k] != i;
    }
    return block[i];
}

static int value(int kind, int from, int to, int k) { return kind + 3 * from + 100 * to + 7 * k; }

static void call(int kind, int n) {
    size_t all = (size_t)p * (size_t)n;
    int first = roll(&own, blocks), root = roll(&common, p);
    int *send = room(first, all), *recv = room((first + 1 + roll(&own, blocks - 1)) % blocks, all);
    for (int r = 0; r < p; r++)
        for (int k = 0; k < n; k++) send[r * n + k] = value(kind, me, kind == 0 ? r : 0, k);
    if (kind == 0) MPI_Alltoall(send, n, MPI_INT, recv, n, MPI_INT, MPI_COMM_WORLD);
    if (kind == 1) MPI_Allgather(send, n, MPI_INT, recv, n, MPI_INT, MPI_COMM_WORLD);
    if (kind == 2) MPI_Allreduce(send, recv, n, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (kind == 3) {
        memcpy(recv, send, (size_t)n * sizeof(int));
        MPI_Bcast(recv, n, MPI_INT, root, MPI_COMM_WORLD);
    }
    if (kind == 4)
        MPI_Sendrecv(send, n, MPI_INT, (me + 1) % p, 1, recv, n, MPI_INT, (me + p - 1) % p, 1,
                     MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    int parts = kind <= 1 ? p : 1;
    for (int r = 0; r < parts; r++) {
        int from = kind == 3 ? root : kind == 4 ? (me + p - 1) % p : r;
        for (int k = 0; k < n; k++) {
            int right = value(kind, from, kind == 0 ? me : 0, k), sum = 0;
            for (int s = 0; kind == 2 && s < p; s++) sum += value(kind, s, 0, k);
            errors += recv[r * n + k] != (kind == 2 ? sum : right);
        }
    }
}

int main(int argc, char **argv) {
    int calls[kinds] = {0}, all[2], inside[2];
    own = (unsigned long)(uintptr_t)&common ^ (unsigned long)(uintptr_t)argv;
    for (int i = 0; i < blocks / 2; i++) make(i);
    MPI_Init(&argc, &argv);
    count_short(0, blocks / 2, &all[0], &inside[0]);
    for (int i = blocks / 2; i < blocks; i++) make(i);
    count_short(blocks / 2, blocks, &all[1], &inside[1]);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    for (int round = 0; round < rounds; round++) {
        int kind = roll(&common, kinds), n = 1 + roll(&common, 1 << (2 + roll(&common, 12)));
        calls[kind]++;
        call(kind, n);
    }
    for (int i = 0; i < blocks; i++) free(block[i]);
    if (me == 0)
        printf("short: before %d of %d, after %d of %d in the region\n", inside[0], all[0],
               inside[1], all[1]);
    return repeat_end(NULL, errors, calls, kinds);
}
