/* SPDX-License-Identifier: BSD-3-Clause */
/* processors.h - ranks that compute and meet in barriers on the processors of a simulated node,
 * alone or beside threads of other programs that compute all the time. patience.c says how they
 * wait. Time is simulated, so the figures are the same in every run. Times are in seconds. */
#ifndef MORTAR_PROCESSORS_H
#define MORTAR_PROCESSORS_H

#include "reach/patience.h"

enum { processors = 2, most_threads = 66, late_every = 21 };
extern const double tick; /* of the kernel's clock */

struct thread {
    bool rank, ready;
    int processor;
    double used, deadline, slice; /* in the virtual time of the processor */
    double owed;                  /* of a sleeper: its unused share */
    double picked;                /* when it began to run */
    double left;                  /* of what it does now */
    double nap, alarm;            /* when a sleeper wakes by itself; 0: not asleep */
    enum { COMPUTES, LOOKS, WATCHES, YIELDS, YIELDS_TO_NAP, HAS_YIELDED, DOZES, SLEEPS } doing;
    struct patience patience;
    struct vigil vigil;
    int barrier; /* the one it waits for */
};

struct node {
    double now, ticks[processors], balanced;
    int ranks, threads, running[processors]; /* -1: idle */
    double work;                             /* seconds before every second barrier */
    double first;                            /* and before each of the first four */
    double late;                             /* of the first rank alone, before each late_every */
    struct thread thread[most_threads];
    int arrived, barrier; /* of the barrier that is open; barriers so far */
    double napped;        /* when a rank went to sleep last */
    int naps;
    uint64_t random;
};

extern struct node node;

/* Ranks without work between their barriers, in turns on the processors. together: all on one at
 * first. mode: of struct patience. */
void node_set_up(int ranks, bool together, int mode, uint64_t seed);
/* One thread more; strangers only behind all ranks, without a mode. */
void node_join(bool rank, int processor, int mode);
/* The last thread goes. */
void node_leave(void);
/* Until so many barriers have opened, or the simulated time is over. */
void node_run(int barriers, double until);

#endif
