/* SPDX-License-Identifier: BSD-3-Clause */
/* batches - how many calls a batch gets, with times that the test makes up: a row of n calls takes
 * `start + n each`, the first calls of a contestant more, and so do others where something else
 * runs on the processors. Only numbers of calls are judged. */
#include "bench/calls/contest.h"

#include <stdio.h>
#include <string.h>

enum { most_contestants = 3 };

struct test {
    const char *name, *kind;
    enum { PLAIN, BARRIER, COLD, USED } how; /* USED: the last contestant only uses data */
    double seconds;          /* of measuring: a batch lasts 1 / 15 of it for each, at most 20 ms */
    int count, slow_batches; /* the first ones; -k: each k-th has 6 ms of something else in it */
    struct {
        double start, each;
    } times[most_contestants];
    long calls[most_contestants]; /* what is right */
};
static const struct test tests[] = {
    {"a pipeline", "scan", PLAIN, 1, 2, 0, {{3e-3, 11e-6}, {3e-3, 6e-6}}, {2048, 2048}},
    {"its start is long", "scan", PLAIN, 1, 2, 0, {{16e-3, 3e-6}, {17e-3, 2e-6}}, {1024, 1024}},
    {"the library is faster", "reduce", PLAIN, 1, 2, 0, {{0, 2e-6}, {0, 5e-6}}, {8192, 8192}},
    {"short of time", "scan", PLAIN, 0.3, 2, 0, {{3e-3, 11e-6}, {3e-3, 6e-6}}, {1024, 1024}},
    {"three", "gather", PLAIN, 1, 3, 0, {{0, 9e-6}, {0, 4e-6}, {0, 5e-6}}, {4096, 4096, 4096}},
    {"a slow one", "bcast", PLAIN, 1, 2, 0, {{0, 80e-6}, {0, 8e-6}}, {512, 512}},
    {"a very slow one", "bcast", PLAIN, 1, 2, 0, {{0, 1e-3}, {0, 10e-6}}, {256, 256}},
    {"one call is long", "bcast", PLAIN, 1, 2, 0, {{0, 0.5}, {0, 0.3}}, {1, 1}},
    {"the first ones are slow", "scan", PLAIN, 1, 2, 1, {{0, 11e-6}, {0, 6e-6}}, {2048, 2048}},
    {"neighbours", "neighbor_alltoall", PLAIN, 1, 2, 0, {{0, 20e-6}, {0, 5e-6}}, {2048, 2048}},
    {"data used", "scan", USED, 1, 3, 0, {{0, 11e-6}, {0, 6e-6}, {0, 1e-6}}, {2048, 2048, 20000}},
    {"with a barrier", "scan", BARRIER, 1, 2, 0, {{0, 1e-3}, {0, 100e-6}}, {20, 200}},
    {"synchronising", "alltoall", PLAIN, 1, 2, 0, {{0, 1e-3}, {0, 100e-6}}, {20, 200}},
    {"the first ones slow", "alltoall", PLAIN, 1, 2, 1, {{0, 1e-3}, {0, 1e-4}}, {20, 200}},
    {"disturbed", "alltoall", PLAIN, 1, 2, -2, {{0, 5e-6}, {0, 3e-7}}, {4000, 66666}},
    {"less so", "alltoall", PLAIN, 1, 2, -3, {{0, 5e-6}, {0, 3e-7}}, {4000, 66666}},
    {"always", "alltoall", PLAIN, 1, 2, 0, {{12e-3, 5e-6}, {12e-3, 2e-4}}, {4000, 100}},
    {"one call lasts", "alltoall", PLAIN, 1, 2, 0, {{0, 0.5}, {0, 0.3}}, {1, 1}},
    {"cold", "scan", COLD, 1, 2, 0, {{0, 11e-6}, {0, 6e-6}}, {1, 1}},
};

static const struct test *now;
static const struct contestant *first;
static int batches[most_contestants];

/* What batches.c asks of the others. */
double timing_batch(const struct world *world, const struct settings *settings,
                    const struct cell *cell, const struct contestant *contestant) {
    (void)world, (void)settings, (void)cell;
    int c = (int)(contestant - first);
    double calls = (double)contestant->calls;
    double slow = batches[c] < now->slow_batches ? 50e-3 : 0;
    if (now->slow_batches < 0 && batches[c] % -now->slow_batches == 0) slow = 6e-3;
    batches[c]++;
    return (now->times[c].start + slow) / calls + now->times[c].each;
}
double meet_max(double value) { return value; }

/* A tenth less is as good where numbers need not be equal, more where something else takes time. */
static bool right(const struct test *test, int c, long calls, long expected) {
    bool alone = test->how == USED && c == test->count - 1;
    if (kind_loose(kind_of(test->kind)) && test->how != BARRIER && !alone) return calls == expected;
    return calls <= expected && calls >= expected - expected / (test->slow_batches < 0 ? 4 : 10);
}

static int play(const struct test *test) {
    struct contestant contestants[most_contestants] = {0};
    struct settings settings = {
        .kind = kind_of(test->kind), .seconds = test->seconds, .cold = test->how == COLD};
    struct cell cell = {.kind = settings.kind, .then_barrier = test->how == BARRIER};
    int failed = 0;
    if (test->how == USED) contestants[test->count - 1].what = USE;
    now = test, first = contestants;
    memset(batches, 0, sizeof batches);
    batches_plan(NULL, &settings, &cell, contestants, test->count);
    for (int c = 0; c < test->count; c++) {
        if (right(test, c, contestants[c].calls, test->calls[c])) continue;
        fprintf(stderr, "batches: %s: contestant %d has %ld calls, not %ld\n", test->name, c,
                contestants[c].calls, test->calls[c]);
        failed = 1;
    }
    return failed;
}

/* Those in which nobody runs ahead. */
static int loose(void) {
    static const char *const meeting =
        " barrier allgather allgatherv alltoall alltoallv alltoallw allreduce reduce_scatter"
        " reduce_scatter_block redistribution ";
    int failed = 0;
    for (int k = 0; k < count_of_kinds; k++) {
        char word[64];
        snprintf(word, sizeof word, " %s ", kinds[k].name);
        if (kind_loose(&kinds[k]) == !strstr(meeting, word)) continue;
        fprintf(stderr, "batches: %s: is it loose?\n", kinds[k].name);
        failed = 1;
    }
    return failed;
}

/* Calls before a batch that are not timed. */
static int untimed(void) {
    static const struct {
        bool cold;
        double each; /* seconds of a call; 0: not known yet */
        long calls;
    } cases[] = {{false, 0, 1},     {false, 1e-6, 8}, {false, 6e-3, 8}, {false, 7e-3, 7},
                 {false, 20e-3, 2}, {false, 0.05, 1}, {false, 2, 1},    {true, 2, 2}};
    int failed = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct settings settings = {.cold = cases[i].cold};
        struct contestant contestant = {.call_seconds = cases[i].each};
        long calls = batches_untimed(&settings, &contestant);
        if (calls == cases[i].calls) continue;
        fprintf(stderr, "batches: %ld untimed calls of %g s, not %ld\n", calls, cases[i].each,
                cases[i].calls);
        failed = 1;
    }
    return failed;
}

int main(void) {
    int failed = loose() | untimed();
    for (size_t t = 0; t < sizeof tests / sizeof *tests; t++) failed |= play(&tests[t]);
    if (!failed) puts("fine");
    return failed;
}
