/* SPDX-License-Identifier: BSD-3-Clause */
/* program - what the whole programs of this folder share. Each stands for an application: it
 * computes and calls MPI in its proportions, and nothing in it knows of mortar. One executable
 * holds all of them; main.c has MPI_Init, the options and the clock. measure/programs.py runs them
 * natively and under `mortar run` in turns. A program is a function and a row of list.h; those
 * that use memory alike share a file, the others have one each. */
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
    REDUCE,
    POINT_TO_POINT,
    ONE_SIDED,
    COMMUNICATORS,
    KINDS_OF_SPENDING
};

enum { most_words = 4096 };

/* Of this process at one moment, in MiB. huge: of rss, in huge pages. */
struct figures {
    double rss, pss, private, huge;
};

struct run {
    int p, me;
    int size, iterations; /* as the program's own file explains them */
    bool split;           /* communicators: MPI_Comm_split instead of MPI_Comm_dup */
    bool advise;          /* gather, triad, touch: ask for huge pages, as numpy does */
    bool shares;          /* take the time of MPI calls */
    double seconds[KINDS_OF_SPENDING];
    long wrong;               /* results that were not what they must be */
    struct figures figures;   /* of the last look() */
    const char *answer;       /* what must be the same under mortar, a word; NULL: nothing */
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
/* The same from malloc, neither zeroed nor touched. Local. */
void *untouched(size_t bytes);
/* Notes how much memory this process has now. A program calls it where it has most, or where it
 * matters. Local. */
void look(struct run *run);
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
