/* SPDX-License-Identifier: BSD-3-Clause */
/* batches - how many calls a batch has: as many as fit into some milliseconds.
 *
 * Where everybody waits for everybody in each call, a call costs the same in a row of any length,
 * and each contestant has a number of its own: 64 ranks on 2 processors need 1.1 to 1.6 ms for a
 * native alltoall of 8 bytes in rows of 16 to 1024 calls, 0.6 to 0.85 for a bcast and a barrier.
 *
 * Where ranks may run ahead (kind_loose), a row is a pipeline, and the time per call depends on its
 * length: there a native scan of 8 bytes costs 100 us per call in a row of 64, 23 us in one of 512,
 * 11 us in one of 4096, and mortar's 60, 14 and 7. A number that each finds by itself is that of
 * any moment at which a row seems long enough. Ratios of 0.04 to 0.77 were the result of ten runs.
 * So all contestants have one number there (Open MPI 4.1, EPYC with 2 processors, November 2026).
 * Limits are not among them: they are for collectives of the first kind. */
#include "contest.h"

static const double longest_batch = 20e-3, shortest_batch = 1e-3; /* seconds */
enum { fewest_batches = 15, most_calls = 10000000 };

void batches_calibrate(const struct world *world, const struct settings *settings,
                       const struct cell *cell, struct contestant *contestant, double seconds) {
    long calls = 1;
    for (bool again = true;;) {
        contestant->calls = calls;
        double each = timing_batch(world, settings, cell, contestant);
        contestant->call_seconds = each;
        double fit = seconds / each;
        contestant->calls = fit < 1 ? 1 : fit > most_calls ? most_calls : (long)fit;
        contestant->spent = (double)(contestant->calls + 1) * each;
        bool enough = (double)calls >= fit / 4;
        if (enough && !(calls == 1 && again)) return;
        /* The first calls are slow. */
        if (enough) again = false;
        else calls = fit > 8.0 * (double)calls ? 8 * calls : contestant->calls;
    }
}

bool batches_alike(const struct settings *settings, bool then_barrier) {
    return kind_loose(settings->kind) && !then_barrier && !settings->cold;
}

/* Seconds of a batch of so many calls. In a longer row a call takes no longer: if it seems so, or
 * if these are the first ones, something else was in it, and the batch is repeated. */
static double try_batch(const struct world *world, const struct settings *settings,
                        const struct cell *cell, struct contestant *contestant, long calls) {
    contestant->calls = calls;
    double each = timing_batch(world, settings, cell, contestant);
    if (calls == 1 || each > contestant->call_seconds * 1.25) {
        double again = timing_batch(world, settings, cell, contestant);
        if (again < each) each = again;
    }
    contestant->call_seconds = each;
    contestant->spent = (double)(calls + 1) * each;
    return (double)calls * each;
}

/* Using data moves nothing between ranks: its time does not depend on the row. */
static bool is_alone(const struct contestant *contestant) { return contestant->what == USE; }

/* Do so many calls fit? Those of the fastest contestant do in that time, and those of the slowest
 * one in four times as long, unless the fastest one had nothing but start and end then. */
static bool fits(const struct world *world, const struct settings *settings,
                 const struct cell *cell, struct contestant *contestants, int count, long calls,
                 double seconds) {
    double least = 0, most = 0;
    for (int c = 0; c < count; c++) {
        if (is_alone(&contestants[c])) continue;
        double its = try_batch(world, settings, cell, &contestants[c], calls);
        if (c == 0 || its < least) least = its;
        if (its > most) most = its;
    }
    return least <= seconds && (most <= 4 * seconds || least <= seconds / 4);
}

/* The greatest power of two that fits: powers, so that most runs find the same. Each number on the
 * way is tried, because a short row says nothing of a long one. */
static void plan_alike(const struct world *world, const struct settings *settings,
                       const struct cell *cell, struct contestant *contestants, int count,
                       double seconds) {
    long calls = 1;
    while (calls < most_calls && fits(world, settings, cell, contestants, count, calls, seconds))
        calls *= 2;
    if (calls > 1) calls /= 2;
    for (int c = 0; c < count; c++)
        if (is_alone(&contestants[c]))
            batches_calibrate(world, settings, cell, &contestants[c], seconds);
        else contestants[c].calls = calls;
}

/* What lasts in a batch of one cold call is mostly not the call. The second one counts, since the
 * first calls are slow. */
static void calibrate_cold(const struct world *world, const struct settings *settings,
                           const struct cell *cell, struct contestant *contestant) {
    contestant->calls = 1;
    for (int i = 0; i < 2; i++) {
        double start = clock_seconds();
        contestant->call_seconds = timing_batch(world, settings, cell, contestant);
        contestant->spent = meet_max(clock_seconds() - start);
    }
}

void batches_plan(const struct world *world, const struct settings *settings,
                  const struct cell *cell, struct contestant *contestants, int count) {
    double seconds = settings->seconds / (fewest_batches * count);
    if (seconds > longest_batch) seconds = longest_batch;
    if (seconds < shortest_batch) seconds = shortest_batch;
    if (batches_alike(settings, cell->then_barrier)) {
        plan_alike(world, settings, cell, contestants, count, seconds);
        return;
    }
    for (int c = 0; c < count; c++)
        if (settings->cold) calibrate_cold(world, settings, cell, &contestants[c]);
        else batches_calibrate(world, settings, cell, &contestants[c], seconds);
}
