/* SPDX-License-Identifier: BSD-3-Clause */
/* patience.h - what a rank that waits does next. Times are ticks of clock_ticks, or seconds where
 * they say so. All local. */
#ifndef MORTAR_PATIENCE_H
#define MORTAR_PATIENCE_H

#include "base/base.h"

/* How this rank waits; adapted at run time (patience.c). */
struct patience {
    enum { WAIT_AUTO, WAIT_SPIN, WAIT_YIELD, WAIT_FUTEX } mode;
    bool crowded;         /* more ranks than processors */
    double per_processor; /* so many times */
    /* Waits to come that go to sleep early, because yielding gave the processor to strangers. */
    uint32_t sleepy;
    uint32_t sleepy_again; /* how many the next such episode lasts */
    double tick_rate;      /* of clock_ticks */
    uint64_t sleeps, yields;
};

enum { WATCH, GIVE, NAP }; /* look again and again for a microsecond, yield, sleep */
struct turn {
    int what;
    int drives;     /* of the host MPI, first */
    double seconds; /* of a nap, which ends when somebody wakes me */
};
/* One wait. */
struct vigil {
    enum { WATCHING, YIELDING, POLLING, SLEEPING } stage; /* POLLING: a long wait, yielding too */
    int last;                                             /* what the turn before was */
    uint64_t began, turned, driven;                       /* the wait, the turn, the last drive */
    /* The window of a long wait, and what of it went into late yields. */
    uint64_t since, lost;
    uint32_t yields, naps, most_naps; /* of this stage; naps before yields are tried again */
    double nap;                       /* seconds of the next one */
    bool sleepy;
};
/* So many ranks share the processors. */
void patience_settle(struct patience *patience, int ranks, int processors);
struct vigil vigil_begin(const struct patience *patience, uint64_t now);
/* What comes next, after the turn that it said before. done: what is waited for has come. */
struct turn vigil_next(struct patience *patience, struct vigil *vigil, uint64_t now, bool done);
/* Instead of a nap that was due: the host MPI, driven, had something to do. */
void vigil_worked(struct vigil *vigil, uint64_t now);

#endif
