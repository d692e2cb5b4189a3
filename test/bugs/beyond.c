/* SPDX-License-Identifier: BSD-3-Clause */
/* beyond - blocks of which each is shorter than 2 GiB, and that begin further from each other than
 * an int can say, between calls with short ones. Only some ranks know that.
 * usage: beyond gatherv|scatterv|alltoallv  (4 ranks or more) */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_ranks = 16, few = 8, many = 144 << 20, apart = 1 << 17 }; /* of doubles */

static int p, me;

/* How many go from one rank to another: many between ranks 1 and 2 and the root. */
static int doubles(int which, int gathers, int from, int to) {
    int end = gathers ? from : to, root = gathers ? to : from;
    return which == 1 && root == 0 && (end == 1 || end == 2) ? many : few + end;
}

static double value(int from, int to, int i) { return from * 1e6 + to * 1e4 + i / apart + i % 7; }

/* Fills or compares some of a block's: a program does not touch what it does not need. Returns how
 * many differ. */
static int touch(double *block, int count, int from, int to, int fills) {
    int differ = 0;
    for (int k = 0; k <= (count - 1) / apart + 1; k++) {
        int i = k <= (count - 1) / apart ? k * apart : count - 1;
        if (fills) block[i] = value(from, to, i);
        differ += block[i] != value(from, to, i);
    }
    return differ;
}

static double *table(int which, int gathers, int sends, int *counts, int *displs) {
    int at = 0;
    for (int r = 0; r < p; r++) {
        displs[r] = at;
        counts[r] = sends ? doubles(which, gathers, me, r) : doubles(which, gathers, r, me);
        at += counts[r];
    }
    double *memory = calloc((size_t)at, sizeof *memory);
    if (!memory) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int r = 0; r < p && sends; r++) touch(memory + displs[r], counts[r], me, r, 1);
    return memory;
}

int main(int argc, char **argv) {
    int errors = 0, all, sent[most_ranks], sent_at[most_ranks], got[most_ranks], got_at[most_ranks];
    MPI_Init(&argc, &argv);
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    const char *name = argc == 2 ? argv[1] : "";
    int gathers = strcmp(name, "scatterv") != 0, everybody = strcmp(name, "alltoallv") == 0;
    if (p > most_ranks) MPI_Abort(MPI_COMM_WORLD, 1);
    for (int which = 0; which < 3; which++) {
        double *out = table(which, gathers, 1, sent, sent_at),
               *in = table(which, gathers, 0, got, got_at);
        if (everybody)
            MPI_Alltoallv(out, sent, sent_at, MPI_DOUBLE, in, got, got_at, MPI_DOUBLE,
                          MPI_COMM_WORLD);
        else if (gathers)
            MPI_Gatherv(out, sent[0], MPI_DOUBLE, in, got, got_at, MPI_DOUBLE, 0, MPI_COMM_WORLD);
        else
            MPI_Scatterv(out, sent, sent_at, MPI_DOUBLE, in, got[0], MPI_DOUBLE, 0, MPI_COMM_WORLD);
        for (int r = 0; r < p; r++)
            if (everybody || (gathers ? me == 0 : r == 0))
                errors += touch(in + got_at[r], got[r], r, me, 0);
        free(out);
        free(in);
    }
    MPI_Reduce(&errors, &all, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me == 0) printf("%d errors\n", all);
    MPI_Finalize();
    return errors != 0;
}
