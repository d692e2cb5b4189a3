/* SPDX-License-Identifier: BSD-3-Clause */
/* batches - how many calls a batch has. */
#include "contest.h"

static const double longest_batch = 20e-3, shortest_batch = 1e-3; /* seconds */
enum { fewest_batches = 15 };

void batches_calibrate(const struct world *world, const struct settings *settings,
                       const struct cell *cell, struct contestant *contestant, double seconds) {
    long calls = 1;
    for (;;) {
        contestant->calls = calls;
        double each = timing_batch(world, settings, cell, contestant);
        contestant->call_seconds = each;
        double fit = seconds / each;
        contestant->calls = fit < 1 ? 1 : fit > 1e7 ? 10000000 : (long)fit;
        contestant->spent = (double)(contestant->calls + 1) * each;
        if ((double)calls >= fit / 4) return;
        /* The first calls are slow. */
        calls = fit > 8.0 * (double)calls ? 8 * calls : contestant->calls;
    }
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
    for (int c = 0; c < count; c++)
        if (settings->cold) calibrate_cold(world, settings, cell, &contestants[c]);
        else batches_calibrate(world, settings, cell, &contestants[c], seconds);
}
