/* SPDX-License-Identifier: BSD-3-Clause */
/* communicators.h - `mortar bench communicators`: what a communicator costs that is made, used for
 * a few calls and freed. Codes make hundreds of them: pools, bands and grids that are split at
 * every step. communicators.c reads in the order of the work. */
#ifndef MORTAR_COMMUNICATORS_H
#define MORTAR_COMMUNICATORS_H

#include "bench/common/bench.h"

struct communicators_settings {
    struct settings calls;  /* only its sizes: how many calls on each communicator */
    struct settings groups; /* only its sizes: ranks of a group; none: duplicates */
    size_t bytes;           /* of a vector, and of a block */
    const char *csv;        /* NULL: none */
    double seconds;         /* of measuring, per row */
    int repetitions;        /* 0: what fits into seconds */
};

/* ---- settings.c ---- */
/* As settings_read. */
int communicators_settings_read(int count, char **words, struct communicators_settings *settings);

/* ---- lives.c: the lives of communicators ---- */
/* Which functions run: the MPI library's own, past mortar, or those that any program gets. */
struct maker {
    const char *name; /* "native" or "mortar" */
    const struct functions *functions;
    int (*comm_dup)(MPI_Comm comm, MPI_Comm *made);
    int (*comm_split)(MPI_Comm comm, int color, int key, MPI_Comm *made);
    int (*comm_free)(MPI_Comm *comm);
};
/* A row of the table. */
struct life {
    const struct world *world;
    int group;  /* ranks of a group, the last one has what is left; 0: a duplicate of all */
    long calls; /* on each communicator: allreduce and alltoall in turns */
    int count;  /* doubles of the vector, and of a block */
    double *send, *recv, *sum; /* [count * p], [count * p], [count] */
};
/* Buffers of a life; false on all ranks when one has no memory. Collective. */
bool life_open(struct life *life, size_t bytes);
void life_close(struct life *life);
/* So many communicators, one after the other: seconds for each, of the slowest rank, the same on
 * all ranks. *wrong grows by the results that were not what they must be; local. */
double live(const struct life *life, const struct maker *maker, long communicators, long *wrong);

/* ---- communicators.c ---- */
/* The whole command, with its MPI_Init and MPI_Finalize; words[0] is "communicators". Returns an
 * exit code. */
int communicators(int count, char **words);

#endif
