/* SPDX-License-Identifier: BSD-3-Clause */
/* elimination.h - which of several runners is the fastest, from times measured in rounds. Knows no
 * MPI. Everything is local, and draws the same numbers everywhere: whoever sees the same times
 * judges alike. */
#ifndef MORTAR_ELIMINATION_H
#define MORTAR_ELIMINATION_H

#include <stdbool.h>

enum { most_rounds = 400 };

/* One that takes part: seconds[round] of its rounds 0 .. rounds-1. Who is out runs no more. */
struct runner {
    double *seconds;
    int rounds; /* > 0 */
    bool out;
};

/* A median and the interval that holds the true one with 95 %, by bootstrap. */
struct estimate {
    double median, low, high;
};
/* Of a[i] / b[i], or of a[i] where b is NULL. 0 < count <= most_rounds. */
struct estimate estimate_ratio(const double *a, const double *b, int count);

/* Puts out all whose ratio to the fastest one lies above 1 with its whole interval; above 1.02 for
 * those that come before the fastest one. True: nothing is left to find out, because one is left,
 * or because all that are left are within 2 % of the fastest one. *best is then the first of them,
 * else the fastest one. All that are in have run the same rounds, one of them at least is in. */
bool eliminate(struct runner *runners, int count, int *best);

int runners_in(const struct runner *runners, int count);

#endif
