/* SPDX-License-Identifier: BSD-3-Clause */
/* imbalance - the benchmark of parsons2015, table II: ranks enter a collective at different times,
 * and what counts is how long each spends inside of it, the mean over ranks. There every rank ran
 * the same computation of 0 to 800 ms before each call, and the machine made the differences; here
 * each rank sleeps for a time drawn evenly from 0 to the imbalance, the same in each contestant's
 * turn. It sleeps rather than computes: where ranks outnumber processors, computing would put them
 * in a row. */
#define _GNU_SOURCE
#include "contest.h"

#include <errno.h>
#include <time.h>

enum { least_repetitions = 5, most_repetitions = 1000 };
/* mortar learns whether ranks of a long reduction are worth waiting for, from how late they were.
 * After an earlier imbalance that takes up to some sixty calls (src/coll/node/pace.h). */
enum { calls_to_learn = 64 };
static const double seconds_to_learn = 2;

static void wait_for(double seconds) {
    struct timespec time = {.tv_sec = (time_t)seconds,
                            .tv_nsec = (long)((seconds - (double)(time_t)seconds) * 1e9)};
    while (seconds > 0 && nanosleep(&time, &time) != 0 && errno == EINTR) continue;
}

/* 0 to 1, by the number of draws so far and rank. */
static double share(long draws, int rank) {
    return (double)(draw((uint64_t)draws + 1, (uint64_t)rank + 1) >> 11) / 0x1p53;
}

/* What this rank spends inside of one call. Who has done leaves the processor to the others until
 * the last one is due, as if it went on with work of its own elsewhere. */
static double late_call(const struct world *world, const struct cell *cell,
                        const struct contestant *contestant, long draws) {
    double begin = clock_seconds();
    wait_for(cell->imbalance * share(draws, world->me));
    double start = clock_seconds();
    timing_call(world, cell, contestant);
    double end = clock_seconds();
    wait_for(begin + cell->imbalance - end);
    meet();
    return end - start;
}

/* Calls that come late and do not count, by the draws from this one on: mortar learns from them. */
static void late_row(const struct world *world, const struct cell *cell,
                     const struct contestant *contestant, long calls, long draws) {
    timing_plan(world, contestant);
    for (long i = 0; i < calls; i++) late_call(world, cell, contestant, draws + i);
}

static double late_turn(const struct world *world, const struct settings *settings,
                        const struct cell *cell, const struct contestant *contestant,
                        int repetition) {
    long untimed = batches_untimed(settings, contestant), draws = repetition * (untimed + 1);
    late_row(world, cell, contestant, untimed, draws);
    return late_call(world, cell, contestant, draws + untimed);
}

/* Calls with this imbalance before any repetition, equally many of each contestant. */
static void learn(const struct world *world, const struct cell *cell,
                  const struct contestant *contestants, int count) {
    double fit = seconds_to_learn / cell->imbalance;
    long calls = fit < calls_to_learn ? (long)fit : calls_to_learn;
    for (int c = 0; c < count; c++) late_row(world, cell, &contestants[c], calls, -calls);
}

/* By the time of a round, warmed up. */
static int choose_repetitions(const struct world *world, const struct settings *settings,
                              const struct cell *cell, const struct contestant *contestants,
                              int count) {
    if (settings->repetitions) return settings->repetitions;
    for (int c = 0; c < count; c++) late_turn(world, settings, cell, &contestants[c], 0);
    double start = clock_seconds();
    for (int c = 0; c < count; c++) late_turn(world, settings, cell, &contestants[c], 1);
    double fit = settings->seconds / meet_max(clock_seconds() - start);
    return fit < least_repetitions  ? least_repetitions
           : fit > most_repetitions ? most_repetitions
                                    : (int)fit;
}

int imbalance_run(const struct world *world, const struct settings *settings,
                  const struct cell *cell, struct contestant *contestants, int count) {
    output_progress(world, cell, "measuring");
    for (int c = 0; c < count; c++) contestants[c].calls = 1;
    learn(world, cell, contestants, count);
    int repetitions = choose_repetitions(world, settings, cell, contestants, count);
    if (!timing_room(settings, contestants, count, repetitions)) return 0;
    for (int r = 0; r < repetitions; r++)
        for (int k = 0; k < count; k++) {
            struct contestant *contestant = &contestants[(k + r) % count];
            contestant->seconds[r] = late_turn(world, settings, cell, contestant, r) / world->p;
        }
    for (int c = 0; c < count; c++)
        library.allreduce(MPI_IN_PLACE, contestants[c].seconds, repetitions, MPI_DOUBLE, MPI_SUM,
                          MPI_COMM_WORLD);
    return repetitions;
}
