/* SPDX-License-Identifier: BSD-3-Clause */
/* timing - contestants take turns: each repetition runs one batch of calls of every contestant,
 * beginning with another one each time, so that what disturbs the machine disturbs all alike. With
 * --cold a batch is one call, and caches are emptied before it. */
#include "contest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { least_repetitions = 5, most_repetitions = 1000 };

void timing_plan(const struct world *world, const struct contestant *contestant) {
    if (contestant->what == MORTAR && world->loaded)
        world->plan(strcmp(contestant->name, "auto") == 0 ? NULL : contestant->name);
}

static void call_side(const struct world *world, const struct cell *cell,
                      const struct functions *side) {
    cell->kind->call(side, cell, world->comm);
    if (cell->then_barrier) side->barrier(world->comm);
}

void timing_call(const struct world *world, const struct cell *cell,
                 const struct contestant *contestant) {
    switch (contestant->what) {
    case NATIVE: call_side(world, cell, &library); break;
    case PACKED: grid_packed(cell, &library, world->comm); break;
    case MORTAR: call_side(world, cell, &caught); break;
    case USE: break;
    case LIMIT_ROWS: limit_rows(); break;
    case LIMIT_LAST: limit_last(); break;
    case LIMIT_STREAM: limit_stream(); break;
    }
}

static bool own_buffers(const struct contestant *contestant) {
    return contestant->what >= LIMIT_ROWS;
}

/* A call, and what is done with its data. */
static void take_turn(const struct world *world, const struct settings *settings,
                      const struct cell *cell, const struct contestant *contestant) {
    timing_call(world, cell, contestant);
    if (!settings->use) return;
    bool own = own_buffers(contestant);
    use_data(own ? limit_send() : cell->send, cell->out.bytes, own ? limit_recv() : cell->recv,
             cell->in.bytes);
}

/* The first part of a batch: nobody's timed call has begun when it returns. */
static void timing_prepare(const struct world *world, const struct settings *settings,
                           const struct cell *cell, const struct contestant *contestant) {
    timing_plan(world, contestant);
    for (long i = batches_untimed(settings, contestant); i > 0; i--)
        take_turn(world, settings, cell, contestant);
    meet();
    if (!settings->cold) return;
    bool limit = own_buffers(contestant);
    cold_make(limit ? limit_send() : cell->send, cell->out.bytes, limit ? limit_recv() : cell->recv,
              cell->in.bytes);
    meet();
}

double timing_batch(const struct world *world, const struct settings *settings,
                    const struct cell *cell, const struct contestant *contestant) {
    timing_prepare(world, settings, cell, contestant);
    double start = clock_seconds();
    for (long i = 0; i < contestant->calls; i++) take_turn(world, settings, cell, contestant);
    return meet_max(clock_seconds() - start) / (double)contestant->calls;
}

/* A batch of its own, so that reading the counters is in no time: what this rank counts per
 * call. */
static void count_batch(const struct world *world, const struct settings *settings,
                        const struct cell *cell, const struct contestant *contestant,
                        int repetition) {
    double counts[count_of_events];
    timing_prepare(world, settings, cell, contestant);
    counters_start();
    for (long i = 0; i < contestant->calls; i++) timing_call(world, cell, contestant);
    counters_stop(counts);
    meet();
    for (int i = 0; i < count_of_events; i++)
        if (contestant->counts[i])
            contestant->counts[i][repetition] = counts[i] / (double)contestant->calls;
}

/* Of the two limits only the faster one counts; where the choice is clear the other one need not
 * run. */
static void drop_slow_limit(struct contestant *contestants, int count) {
    struct contestant *rows = NULL, *last = NULL;
    for (int c = 0; c < count; c++) {
        if (contestants[c].what == LIMIT_ROWS) rows = &contestants[c];
        if (contestants[c].what == LIMIT_LAST) last = &contestants[c];
    }
    if (!rows || !last) return;
    rows->out = rows->call_seconds > 3 * last->call_seconds;
    last->out = last->call_seconds > 3 * rows->call_seconds;
}

/* A repetition lasts as long as one batch of everybody, or two where events are counted. */
static int choose_repetitions(const struct settings *settings, const struct contestant *contestants,
                              int count) {
    if (settings->repetitions) return settings->repetitions;
    double seconds = 0;
    for (int c = 0; c < count; c++)
        if (!contestants[c].out) seconds += contestants[c].spent;
    double fit = settings->seconds / seconds / (settings->counters ? 2 : 1);
    return fit < least_repetitions  ? least_repetitions
           : fit > most_repetitions ? most_repetitions
                                    : (int)fit;
}

bool timing_room(const struct settings *settings, struct contestant *contestants, int count,
                 int repetitions) {
    bool fine = true;
    for (int c = 0; c < count; c++) {
        contestants[c].seconds = calloc((size_t)repetitions, sizeof(double));
        fine = fine && contestants[c].seconds;
        for (int i = 0; i < count_of_events; i++) {
            if (!settings->counters || !counters_has(i)) continue;
            contestants[c].counts[i] = calloc((size_t)repetitions, sizeof(double));
            fine = fine && contestants[c].counts[i];
        }
    }
    return meet_max(!fine) == 0;
}

void timing_free(struct contestant *contestants, int count) {
    for (int c = 0; c < count; c++) {
        free(contestants[c].seconds);
        for (int i = 0; i < count_of_events; i++) free(contestants[c].counts[i]);
    }
}

static void mean_counts(const struct world *world, struct contestant *contestant, int repetitions) {
    for (int i = 0; i < count_of_events; i++) {
        double *counts = contestant->counts[i];
        if (!counts) continue;
        library.allreduce(MPI_IN_PLACE, counts, repetitions, MPI_DOUBLE, MPI_SUM, world->all);
        for (int r = 0; r < repetitions; r++) counts[r] /= world->p;
    }
}

int timing_run(const struct world *world, const struct settings *settings, const struct cell *cell,
               struct contestant *contestants, int count) {
    output_progress(world, cell, "measuring");
    batches_plan(world, settings, cell, contestants, count);
    drop_slow_limit(contestants, count);
    int repetitions = choose_repetitions(settings, contestants, count);
    if (!timing_room(settings, contestants, count, repetitions)) return 0;
    for (int r = 0; r < repetitions; r++)
        for (int k = 0; k < count; k++) {
            struct contestant *contestant = &contestants[(k + r) % count];
            if (contestant->out) continue;
            contestant->seconds[r] = timing_batch(world, settings, cell, contestant);
            if (settings->counters) count_batch(world, settings, cell, contestant, r);
        }
    for (int c = 0; c < count; c++) mean_counts(world, &contestants[c], repetitions);
    return repetitions;
}
