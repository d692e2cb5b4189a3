/* SPDX-License-Identifier: BSD-3-Clause */
/* contest.h - who is measured, verified, and timed in turns. Functions are collective, unless they
 * say local. */
#ifndef MORTAR_CONTEST_H
#define MORTAR_CONTEST_H

#include "bench/common/bench.h"

/* ---- timing.c ---- */
struct contestant {
    /* USE: nothing but what --use does between calls. From LIMIT_ROWS on: with buffers of its
     * own. */
    enum { NATIVE, PACKED, MORTAR, USE, LIMIT_ROWS, LIMIT_LAST, LIMIT_STREAM } what;
    /* Native, native-again, packed (grid_packed), use, limit, stream, or the plan as it was
     * asked for. */
    const char *name;
    char ran[192];       /* which plan it was in truth; first rank only */
    bool out;            /* not worth measuring: a limit that the other limit beats by far */
    long calls;          /* of a batch; 1 with --cold or --imbalance */
    double call_seconds; /* roughly; 0: not known yet */
    double spent;        /* seconds of a batch and all that comes before it, roughly */
    double *seconds;     /* [repetitions] per call, of the slowest rank */
    /* [repetitions] of each event: per call, the mean over ranks; NULL: not counted */
    double *counts[count_of_events];
};
/* Times all contestants in turns. Returns the number of repetitions; 0 without memory. timing_free
 * gives back their results. */
int timing_run(const struct world *world, const struct settings *settings, const struct cell *cell,
               struct contestant *contestants, int count);

/* Its pieces. One batch, whose seconds per call all ranks get alike. */
double timing_batch(const struct world *world, const struct settings *settings,
                    const struct cell *cell, const struct contestant *contestant);
/* Tells mortar what the contestant's calls are to run. Local; every rank does so before the next
 * call. */
void timing_plan(const struct world *world, const struct contestant *contestant);
/* A call, without --use. */
void timing_call(const struct world *world, const struct cell *cell,
                 const struct contestant *contestant);
/* Room for the results; false on all ranks when one has none. */
bool timing_room(const struct settings *settings, struct contestant *contestants, int count,
                 int repetitions);
/* Local. */
void timing_free(struct contestant *contestants, int count);

/* ---- batches.c ---- */
/* The calls before a batch, which are not timed: the first finds the plan, with --cold and
 * --imbalance two are those that mortar examines, else they bring the data back into the caches.
 * Local; the same on all ranks. */
long batches_untimed(const struct settings *settings, const struct contestant *contestant);
/* How many calls of the contestant make a batch of so many seconds? Sets calls, call_seconds and
 * spent. */
void batches_calibrate(const struct world *world, const struct settings *settings,
                       const struct cell *cell, struct contestant *contestant, double seconds);
/* Do all contestants have the same number of calls, because their time depends on it? Local. */
bool batches_alike(const struct settings *settings, bool then_barrier);
/* The same of all contestants. */
void batches_plan(const struct world *world, const struct settings *settings,
                  const struct cell *cell, struct contestant *contestants, int count);

/* ---- use.c ---- */
/* Reads all of recv, and writes all of send anew. Returns what was read, added up, to which each
 * byte contributes. Local. */
uint64_t use_data(char *send, size_t send_bytes, const char *recv, size_t recv_bytes);

/* ---- imbalance.c ---- */
/* As timing_run, but ranks come late by a random time, and a time is the mean over ranks of what
 * they spend inside the call. */
int imbalance_run(const struct world *world, const struct settings *settings,
                  const struct cell *cell, struct contestant *contestants, int count);

/* ---- verify.c ---- */
/* Runs the contestant once on fresh buffers and compares every byte. False: some rank said what was
 * wrong. */
bool verify(const struct world *world, const struct cell *cell,
            const struct contestant *contestant);

#endif
