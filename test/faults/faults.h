/* SPDX-License-Identifier: BSD-3-Clause */
/* faults.h - how the programs of the campaign end. Each includes it once. */
#ifndef FAULTS_H
#define FAULTS_H

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int ranks, me;

static inline void begin(int *argc, char ***argv) {
    MPI_Init(argc, argv);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
}

/* Says how many errors all ranks have found, and more; the exit code. Collective. */
static inline int end(long errors, const char *more) {
    long all = 0;
    if (errors > 0) fprintf(stderr, "rank %d of %d: %ld errors\n", me, ranks, errors);
    MPI_Reduce(&errors, &all, 1, MPI_LONG, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %ld errors%s\n", ranks, all, more);
    fflush(stdout);
    MPI_Finalize();
    return errors > 0 || all > 0;
}

/* What a byte must be: of the sender's data for a receiver, at a place, in a round. */
static inline unsigned char byte_of(int from, int to, size_t at, int round) {
    unsigned long x = (unsigned long)from * 2654435761u + (unsigned long)to * 40503u +
                      at * 2246822519u + (unsigned long)round * 3266489917u;
    return (unsigned char)(x >> 13 ^ x);
}

static inline void fill(void *memory, size_t bytes, int from, int to, int round) {
    for (size_t i = 0; i < bytes; i++) ((unsigned char *)memory)[i] = byte_of(from, to, i, round);
}

static inline long wrong(const void *memory, size_t bytes, int from, int to, int round) {
    long count = 0;
    for (size_t i = 0; i < bytes; i++)
        count += ((const unsigned char *)memory)[i] != byte_of(from, to, i, round);
    return count;
}

#endif
