/* SPDX-License-Identifier: BSD-3-Clause */
/* program - what the whole programs of this folder share. Each stands for an application: it
 * computes and calls MPI in its proportions, and nothing in it knows of mortar. One executable
 * holds all of them; main.c has MPI_Init, the options and the clock. measure/programs.py runs them
 * natively and under `mortar run` in turns. A program is a file, with one function, and a row of
 * list.h. */
#ifndef MORTAR_BENCH_PROGRAM_H
#define MORTAR_BENCH_PROGRAM_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* What a program spends its time on. */
enum spent {
    ALLREDUCE,
    ALLTOALL,
    BCAST,
    BARRIER,
    POINT_TO_POINT,
    ONE_SIDED,
    COMMUNICATORS,
    KINDS_OF_SPENDING
};

enum { most_words = 4096 };

struct run {
    int p, me;
    int size, iterations; /* as the program's own file explains them */
    bool split;           /* communicators: MPI_Comm_split instead of MPI_Comm_dup */
    bool shares;          /* take the time of MPI calls */
    double seconds[KINDS_OF_SPENDING];
    long wrong;               /* results that were not what they must be */
    double words[most_words]; /* what compute() computes with */
};

/* The programs. Each adds its mistakes to run->wrong. Collective over MPI_COMM_WORLD. */
#define PROGRAM(name, size, iterations, about) void program_##name(struct run *run);
#include "list.h"
#undef PROGRAM

/* Computes: so many passes of about a microsecond over 32 KiB. Local. */
void compute(struct run *run, int passes);
/* Zeroed memory; ends the program where there is none. Local. */
double *memory(size_t doubles);
/* A number below `below` that depends on a and b only. Local. */
int drawn(int a, int b, int below);

static inline double spent_begin(const struct run *run) { return run->shares ? MPI_Wtime() : 0; }
static inline void spent_end(struct run *run, enum spent what, double begin) {
    if (run->shares) run->seconds[what] += MPI_Wtime() - begin;
}

/* Runs an MPI call, and takes its time if that is wanted. */
#define SPEND(run, what, call)                                                                     \
    do {                                                                                           \
        double spend_begin = spent_begin(run);                                                     \
        call;                                                                                      \
        spent_end(run, what, spend_begin);                                                         \
    } while (0)

#endif
