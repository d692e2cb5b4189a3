/* SPDX-License-Identifier: BSD-3-Clause */
/* settle - the contestants of one cell against each other. A round is one batch of everybody who is
 * still in, each time beginning with another one; elimination.c judges. Native runs in every round
 * and is judged anew each time, for the gain is a figure of all the rounds of the best one. All
 * ranks see the same times (timing_batch), so all judge alike; only the clock is asked together. */
#include "bench/calls/contest.h"
#include "tune.h"

#include <stdlib.h>
#include <string.h>

enum { least_rounds = 6, rounds_between = 4 }; /* before the first judgement; between two */
enum { most_warm_ups = 3 };
static const double longest_batch = 5e-3, shortest_batch = 0.2e-3, hopeless = 4;
static const struct settings usual;

/* Calibrates, and puts out who is so much slower than the library's own that no round is needed to
 * see it. It must seem so several times: something else may have been in one. */
static void warm_up(const struct world *world, const struct cell *cell,
                    struct contestant *contestants, struct runner *runners, int count,
                    double seconds) {
    double batch = seconds / (20 * count);
    if (batch > longest_batch) batch = longest_batch;
    if (batch < shortest_batch) batch = shortest_batch;
    for (int c = 0; c < count; c++) {
        runners[c] = (struct runner){.seconds = contestants[c].seconds, .out = contestants[c].out};
        if (runners[c].out) continue;
        for (int turn = 0; turn == 0 || (runners[c].out && turn < most_warm_ups); turn++) {
            batches_calibrate(world, &usual, cell, &contestants[c], batch);
            runners[c].out = contestants[c].call_seconds > hopeless * contestants[0].call_seconds;
        }
    }
}

static void run_round(const struct world *world, const struct cell *cell,
                      const struct contestant *contestants, struct runner *runners, int count,
                      int round) {
    for (int k = 0; k < count; k++) {
        int c = (k + round) % count;
        if (runners[c].out) continue;
        runners[c].seconds[round] = timing_batch(world, &usual, cell, &contestants[c]);
        runners[c].rounds = round + 1;
    }
}

/* Is there no doubt that the best one gains? One that is slower than the fastest one, but for less
 * than what counts, may be as slow as native. */
static bool gains(const struct runner *native, const struct runner *best) {
    return best == native || estimate_ratio(native->seconds, best->seconds, best->rounds).low > 1;
}

static void conclude(const struct runner *native, const struct runner *best,
                     struct settled *settled) {
    struct estimate own = estimate_ratio(best->seconds, NULL, best->rounds);
    settled->rounds = best->rounds;
    settled->seconds = own.median, settled->interval[0] = own.low, settled->interval[1] = own.high;
    settled->native_seconds = estimate_ratio(native->seconds, NULL, native->rounds).median;
    settled->gain = estimate_ratio(native->seconds, best->seconds, best->rounds);
}

void settle(const struct world *world, const struct cell *cell, struct contestant *contestants,
            int count, double seconds, struct settled *settled) {
    struct runner runners[most_candidates];
    double start = clock_seconds();
    bool late = false;
    *settled = (struct settled){0};
    for (int c = 0; c < count; c++) settled->tried += !contestants[c].out;
    warm_up(world, cell, contestants, runners, count, seconds);
    for (int round = 0;
         !settled->clear && round < most_rounds && !(late && round >= least_rounds);) {
        runners[0].out = false;
        run_round(world, cell, contestants, runners, count, round++);
        late = meet_max(clock_seconds() - start) > seconds;
        progress_show(world, cell, runners_in(runners, count));
        if (round >= least_rounds && (round % rounds_between == 0 || late))
            settled->clear = eliminate(runners, count, &settled->best) &&
                             gains(&runners[0], &runners[settled->best]);
    }
    settled->slower = settled->tried - runners_in(runners, count);
    conclude(&runners[0], &runners[settled->best], settled);
}
