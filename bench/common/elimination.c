/* SPDX-License-Identifier: BSD-3-Clause */
/* elimination - successive elimination: after each round whoever is clearly slower than the fastest
 * one leaves, so that time is spent on those that are hard to tell apart. Rounds are pairs: the
 * ratio of two runners' times in the same round is free of what disturbs the machine for longer
 * than a round. Its median is judged by the bootstrap (Efron 1979): the medians of many samples
 * drawn from the rounds, with repetition, and what is left of them without 2.5 % at either end. */
#include "elimination.h"

#include <stdint.h>
#include <stdlib.h>

enum { resamples = 400 };
static const double alike = 0.02; /* what is closer than that is no difference */

static int ascending(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(double *values, int count) {
    qsort(values, (size_t)count, sizeof *values, ascending);
    return (values[count / 2] + values[(count - 1) / 2]) / 2;
}

/* The multiplier is Knuth's, of MMIX. */
static int draw(uint64_t *random, int bound) {
    *random = *random * 6364136223846793005u + 1442695040888963407u;
    return (int)((*random >> 33) % (uint64_t)bound);
}

struct estimate estimate_ratio(const double *a, const double *b, int count) {
    double ratios[most_rounds], sample[most_rounds], medians[resamples];
    uint64_t random = 1;
    for (int i = 0; i < count; i++) ratios[i] = b ? a[i] / b[i] : a[i];
    for (int s = 0; s < resamples; s++) {
        for (int i = 0; i < count; i++) sample[i] = ratios[draw(&random, count)];
        medians[s] = median_of(sample, count);
    }
    qsort(medians, resamples, sizeof *medians, ascending);
    return (struct estimate){median_of(ratios, count), medians[resamples / 40],
                             medians[resamples - 1 - resamples / 40]};
}

int runners_in(const struct runner *runners, int count) {
    int in = 0;
    for (int r = 0; r < count; r++) in += !runners[r].out;
    return in;
}

static int fastest(const struct runner *runners, int count) {
    double copy[most_rounds], least = 0;
    int best = -1;
    for (int r = 0; r < count; r++) {
        if (runners[r].out) continue;
        for (int i = 0; i < runners[r].rounds; i++) copy[i] = runners[r].seconds[i];
        double median = median_of(copy, runners[r].rounds);
        if (best >= 0 && median >= least) continue;
        best = r;
        least = median;
    }
    return best;
}

bool eliminate(struct runner *runners, int count, int *best) {
    int top = fastest(runners, count);
    bool open = false;
    *best = top;
    for (int r = 0; r < count; r++) {
        if (r == top || runners[r].out) continue;
        struct estimate ratio =
            estimate_ratio(runners[r].seconds, runners[top].seconds, runners[top].rounds);
        /* An earlier one stays while it may be alike. */
        if (ratio.low > (r < top ? 1 + alike : 1)) runners[r].out = true;
        else if (ratio.high > 1 + alike || ratio.low < 1 - alike) open = true;
    }
    if (open) return false;
    *best = 0;
    while (runners[*best].out) ++*best;
    return true;
}
