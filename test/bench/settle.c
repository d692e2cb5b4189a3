/* SPDX-License-Identifier: BSD-3-Clause */
/* settle - settling with times that the test makes up, without MPI: the fastest wins, of two that
 * are alike the simpler one, the slow ones soon stop running, what is hopeless runs once, and the
 * figures hold the truth.
 * usage: bench-settle [SEED] */
#include "bench/calls/contest.h"
#include "bench/tune/tune.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t random_state;
static double noise, truth[most_candidates];
static int batches[most_candidates];
static int disturbed; /* whose next calibration takes ten times as long; 0: nobody's */
static const struct contestant *first;

static double uniform(void) {
    random_state = random_state * 6364136223846793005u + 1442695040888963407u;
    return (double)(random_state >> 40) / (double)(1 << 24);
}

/* What settle.c asks of the others. A disturbance makes one batch in ten five times longer. */
double timing_batch(const struct world *world, const struct settings *settings,
                    const struct cell *cell, const struct contestant *contestant) {
    (void)world, (void)settings, (void)cell;
    int c = (int)(contestant - first);
    batches[c]++;
    return truth[c] * (1 + noise * (2 * uniform() - 1)) * (uniform() < 0.1 ? 5 : 1);
}
void batches_calibrate(const struct world *world, const struct settings *settings,
                       const struct cell *cell, struct contestant *contestant, double seconds) {
    (void)world, (void)settings, (void)cell, (void)seconds;
    int c = (int)(contestant - first);
    bool now = c > 0 && c == disturbed;
    contestant->call_seconds = truth[c] * (now ? 10 : 1);
    if (now) disturbed = 0;
}
double meet_max(double value) { return value; }
void progress_show(const struct world *world, const struct cell *cell, int left) {
    (void)world, (void)cell, (void)left;
}

struct test {
    const char *name;
    int count;
    double truth[8];
    int best;    /* -1: any */
    int not_run; /* a contestant that may not take part in rounds; 0: none */
    int disturbed;
};
static const struct test tests[] = {
    {"the last one", 5, {4e-6, 3e-6, 2e-6, 3e-6, 1e-6}, 4, 0, 0},
    {"the first one", 4, {1e-6, 2e-6, 1.5e-6, 3e-6}, 0, 0, 0},
    {"close", 4, {2e-6, 1.1e-6, 1e-6, 1.2e-6}, 2, 0, 0},
    {"alike: the simpler one", 5, {3e-6, 1e-6, 1e-6, 1.002e-6, 2e-6}, 1, 0, 0},
    {"native is as good", 3, {1e-6, 1e-6, 1e-6}, 0, 0, 0},
    {"hopeless", 3, {2e-6, 20e-6, 1e-6}, 2, 1, 0},
    {"disturbed once", 3, {2e-6, 1.5e-6, 1e-6}, 2, 0, 2},
    {"hardly better", 4, {1.03e-6, 1.015e-6, 1e-6, 1.01e-6}, -1, 0, 0},
};

static int fail(const struct test *test, const char *what) {
    fprintf(stderr, "settle: %s: %s\n", test->name, what);
    return 1;
}

static int play(const struct test *test) {
    static struct contestant contestants[most_candidates];
    static double seconds[most_candidates][most_rounds];
    struct world world = {0};
    struct settled settled;
    memset(contestants, 0, sizeof contestants);
    memset(batches, 0, sizeof batches);
    first = contestants, disturbed = test->disturbed;
    for (int c = 0; c < test->count; c++)
        truth[c] = test->truth[c], contestants[c].seconds = seconds[c];
    settle(&world, NULL, contestants, test->count, 5, &settled);
    int winner = test->best < 0 ? settled.best : test->best;
    if (settled.best != winner) return fail(test, "another one won");
    if (test->not_run && batches[test->not_run] > 0)
        return fail(test, "one that is hopeless was run");
    double best = test->truth[winner];
    for (int c = 1; c < test->count; c++)
        if (test->truth[c] > 1.5 * best && batches[c] > 24)
            return fail(test, "a slow one ran on and on");
    if (batches[0] != settled.rounds || batches[winner] != settled.rounds)
        return fail(test, "the gain is not of all rounds");
    if (settled.clear && winner != 0 && settled.gain.low <= 1)
        return fail(test, "settled, although native may be as good");
    double gain = test->truth[0] / best;
    if (settled.interval[0] > best * 1.02 || settled.interval[1] < best * 0.98)
        return fail(test, "its time is wrong");
    if (settled.gain.low > gain * 1.02 || settled.gain.high < gain * 0.98)
        return fail(test, "its gain is wrong");
    if (settled.gain.low > settled.gain.median || settled.gain.high < settled.gain.median)
        return fail(test, "no interval");
    return 0;
}

int main(int count, char **words) {
    random_state = count > 1 ? strtoull(words[1], NULL, 0) : 20261121;
    noise = 0.03;
    for (size_t t = 0; t < sizeof tests / sizeof *tests; t++)
        if (play(&tests[t]) != 0) return 1;
    puts("fine");
    return 0;
}
