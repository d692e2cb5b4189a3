/* SPDX-License-Identifier: BSD-3-Clause */
/* repeat.h - for programs that repeat calls: their dice, and how they end. */
#ifndef REPEAT_H
#define REPEAT_H

#include <mpi.h>

#include <dlfcn.h>
#include <stdio.h>

/* 0 to of - 1, the same on all ranks that begin with the same state. */
static inline int roll(unsigned long *state, int of) {
    *state = *state * 6364136223846793005ul + 1442695040888963407ul;
    return (int)((*state >> 33) % (unsigned long)of);
}

/* Writes the report of mortar, and prints how many ranks and errors there were, and calls of each
 * kind. path: of the report; NULL: none. Returns what main returns, after MPI_Finalize.
 * Collective. */
static inline int repeat_end(const char *path, int errors, const int *calls, int kinds) {
    int (*report)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "mortar_report");
    int all = 0, p, me;
    if (path) errors += !report || report(path) != 0;
    MPI_Allreduce(&errors, &all, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    if (me == 0) {
        printf("%d ranks, %d errors; calls", p, all);
        for (int k = 0; k < kinds; k++) printf(" %d", calls[k]);
        printf("\n");
    }
    MPI_Finalize();
    return all > 0;
}

#endif
