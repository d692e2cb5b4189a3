/* SPDX-License-Identifier: BSD-3-Clause */
/* settle - which contestant is the fastest: successive elimination in rounds. A round is one batch of everybody who is still in,
 * each time beginning with another one. Who is slower than the best, judged by the bootstrap interval of the ratio, leaves. All
 * ranks see the same times (timing_batch) and draw the same numbers, so all decide alike; only the clock is asked together. */
#include "bench.h"
#include "tune.h"

#include <stdlib.h>
#include <string.h>

enum { least_rounds = 6, resamples = 400 };
static const double alike = 0.02; /* differences below are none: then the simpler one, which comes first, is taken */
static const double longest_batch = 5e-3, shortest_batch = 0.2e-3;

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, ascending);
    return (values[count / 2] + values[(count - 1) / 2]) / 2;
}

static uint32_t draw(uint64_t *random, int bound) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)((*random >> 33) % (uint64_t)bound);
}

/* b NULL: of a itself. */
struct ratio ratio_of(const double *a, const double *b, int count) {
    static double ratios[most_rounds], sample[most_rounds], medians[resamples];
    uint64_t random = 1;
    struct ratio ratio;
    for (int i = 0; i < count; i++) ratios[i] = b ? a[i] / b[i] : a[i];
    for (int s = 0; s < resamples; s++) {
        for (int i = 0; i < count; i++) sample[i] = ratios[draw(&random, count)];
        medians[s] = median_of(sample, count);
    }
    qsort(medians, resamples, sizeof *medians, ascending);
    ratio.low = medians[resamples / 40];
    ratio.high = medians[resamples - 1 - resamples / 40];
    ratio.median = median_of(ratios, count);
    return ratio;
}

/* The fastest one in the rounds that all who are still in have run. */
static int fastest(const struct contestant *contestants, int count, int rounds) {
    int best = -1;
    double least = 0;
    for (int c = 0; c < count; c++) {
        double median = contestants[c].out ? 0 : ratio_of(contestants[c].seconds, NULL, rounds).median;
        if (contestants[c].out || (best >= 0 && median >= least)) continue;
        best = c;
        least = median;
    }
    return best;
}

/* Drops the slower ones. True: nothing is left to find out. */
static bool judge(struct contestant *contestants, int count, int rounds, int *best) {
    bool open = false;
    *best = fastest(contestants, count, rounds);
    for (int c = 0; c < count; c++) {
        if (c == *best || contestants[c].out) continue;
        struct ratio ratio = ratio_of(contestants[c].seconds, contestants[*best].seconds, rounds);
        if (ratio.low > (c < *best ? 1 + alike : 1)) contestants[c].out = true; /* a simpler one stays while it may be alike */
        else if (ratio.high > 1 + alike || ratio.low < 1 - alike) open = true;
    }
    if (open) return false;
    for (int c = *best; c >= 0; c--) /* the rest is as fast as the best */
        if (!contestants[c].out) *best = c;
    return true;
}

static int still_in(const struct contestant *contestants, int count) {
    int in = 0;
    for (int c = 0; c < count; c++) in += !contestants[c].out;
    return in;
}

static void round_of(const struct world *world, const struct cell *cell, struct contestant *contestants, int count, int round,
                     int *rounds) {
    static const struct settings usual;
    for (int k = 0; k < count; k++) {
        int c = (k + round) % count;
        if (contestants[c].out) continue;
        contestants[c].seconds[round] = timing_batch(world, &usual, cell, &contestants[c]);
        rounds[c] = round + 1;
    }
}

void settle(const struct world *world, const struct cell *cell, struct contestant *contestants, int count, double seconds,
            struct settled *settled) {
    static const struct settings usual;
    double start = clock_seconds(), batch = seconds / (20 * count);
    int rounds[most_candidates] = {0}, round = 0, best = 0;
    if (batch > longest_batch) batch = longest_batch;
    if (batch < shortest_batch) batch = shortest_batch;
    for (int c = 0; c < count; c++)
        if (!contestants[c].out) timing_calibrate(world, &usual, cell, &contestants[c], batch);
    for (int c = 1; c < count; c++) /* hopeless: not worth a round */
        if (!contestants[c].out && contestants[c].call_seconds > 4 * contestants[0].call_seconds) contestants[c].out = true;
    *settled = (struct settled){0};
    bool late = false;
    while (!settled->clear && round < most_rounds && !(late && round >= least_rounds)) {
        round_of(world, cell, contestants, count, round++, rounds);
        late = meet_max(clock_seconds() - start) > seconds;
        if (round < least_rounds || (round % 4 != 0 && !late)) continue;
        settled->clear = judge(contestants, count, round, &best);
        progress_show(world, cell, still_in(contestants, count));
        if (still_in(contestants, count) == 1) settled->clear = true;
    }
    settled->best = best;
    settled->rounds = rounds[best];
    struct ratio own = ratio_of(contestants[best].seconds, NULL, rounds[best]);
    int both = rounds[0] < rounds[best] ? rounds[0] : rounds[best];
    settled->seconds = own.median, settled->interval[0] = own.low, settled->interval[1] = own.high;
    settled->native_seconds = ratio_of(contestants[0].seconds, NULL, rounds[0]).median;
    settled->gain = ratio_of(contestants[0].seconds, contestants[best].seconds, both);
}
