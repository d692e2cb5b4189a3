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
static const double usual_wait = 0.1; /* at most, of a rank for a processor */
enum { fewest_batches = 15, most_calls = 10000000 };

/* A change of plan voids what mortar knows of earlier calls. A call takes the short way for known
 * ones, as it does in a program's loop, once it has come twice (src/mpi/known.c). */
enum { calls_until_known = 2 };
/* Other contestants have had the caches. Data that fit into the last one come back there only after
 * several calls: an alltoall of 8 KiB between 64 ranks, right after five of the MPI library's, took
 * 4.0, 3.6, 3.2, 3.0, 2.7, 2.6, 2.4 ms, and then 2.3 (Open MPI 4.1, Xeon, 2 processors, 2026-11).
 */
enum { most_untimed = 8 };
static const double untimed_seconds = 50e-3;

long batches_untimed(const struct settings *settings, const struct contestant *contestant) {
    if (settings->cold || settings->imbalance_count > 0) return calls_until_known;
    double each = contestant->call_seconds;
    if (each <= 0 || each > untimed_seconds) return 1;
    double fit = untimed_seconds / each;
    return fit < most_untimed ? (long)fit : most_untimed;
}

/* A batch's calls, and those before it. */
static double calls_of(const struct settings *settings, const struct contestant *contestant) {
    return (double)(contestant->calls + batches_untimed(settings, contestant));
}

void batches_calibrate(const struct world *world, const struct settings *settings,
                       const struct cell *cell, struct contestant *contestant, double seconds) {
    double least = 0;
    int same = 0; /* batches in which a call took no less */
    for (long calls = 1;;) {
        contestant->calls = calls;
        double each = timing_batch(world, settings, cell, contestant);
        /* In a longer row a call takes no longer: what seems so was something else. */
        same = least > 0 && each >= 0.8 * least ? same + 1 : 0;
        if (least <= 0 || each < least) least = each;
        double fit = seconds / least;
        contestant->call_seconds = least;
        contestant->calls = fit < 1 ? 1 : fit < most_calls ? (long)fit : most_calls;
        contestant->spent = each * calls_of(settings, contestant); /* with what else runs */
        bool enough = (double)calls >= (double)contestant->calls / 4;
        if (enough && same > 1) return;
        /* The first calls are slow, and a rank may wait for a processor in a short row: as long as
         * a call takes less in a longer one, that was what lasted. */
        if (!enough) calls = contestant->calls > 8 * calls ? 8 * calls : contestant->calls;
        else if (same == 0 && calls < most_calls) calls *= least < usual_wait ? 8 : 2;
    }
}

/* What else runs makes batches longer, of all contestants alike: they get fewer calls by what it
 * does to all together, so that those that are equally fast keep equal numbers. Not by more than
 * 64: what is left has to be more than its start and its end. */
static void allow_for_others(const struct settings *settings, struct contestant *contestants,
                             int count) {
    double spent = 0, alone = 0;
    for (int c = 0; c < count; c++) {
        spent += contestants[c].spent;
        alone += calls_of(settings, &contestants[c]) * contestants[c].call_seconds;
    }
    double longer = alone > 0 && spent > alone ? spent / alone : 1;
    if (longer > 64) longer = 64;
    for (int c = 0; c < count; c++) {
        double before = calls_of(settings, &contestants[c]);
        long calls = (long)((double)contestants[c].calls / longer);
        contestants[c].calls = calls > 0 ? calls : 1;
        contestants[c].spent *= calls_of(settings, &contestants[c]) / before;
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
    contestant->spent = each * calls_of(settings, contestant);
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
    if (!settings->cold) allow_for_others(settings, contestants, count);
}
