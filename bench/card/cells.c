/* SPDX-License-Identifier: BSD-3-Clause */
/* cells - what a card measures: collectives, numbers of ranks, block sizes. */
#include "card.h"
#include "bench/calls/contest.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const names[] = {"alltoall", "allgather", "allreduce", "bcast"};
enum { count_of_names = sizeof names / sizeof *names, most_contestants = 4 };

static int lighter(const void *a, const void *b) {
    const struct card_cell *x = a, *y = b;
    return (x->weight > y->weight) - (x->weight < y->weight);
}

struct card_cell *cells_make(const struct card_settings *settings, int *count) {
    const struct settings *sizes = &settings->sizes;
    *count = count_of_names * settings->parts * sizes->sizes;
    struct card_cell *cells = calloc((size_t)*count, sizeof *cells), *next = cells;
    if (!cells) return NULL;
    for (int k = 0; k < count_of_names; k++)
        for (int p = 0; p < settings->parts; p++)
            for (int i = 0; i < sizes->sizes; i++) {
                const struct kind *kind = kind_of(names[k]);
                double ranks = settings->ranks[p],
                       blocks = kind->receives == ALL ? ranks * ranks : ranks;
                *next++ =
                    (struct card_cell){.kind = kind,
                                       .bytes = sizes->bytes[i],
                                       .part = p,
                                       /* A call costs something for each rank, too. */
                                       .weight = blocks * (double)sizes->bytes[i] + 1e3 * ranks,
                                       .why = "not reached: interrupted, or under way"};
            }
    qsort(cells, (size_t)*count, sizeof *cells, lighter);
    return cells;
}

static int enter_all(const struct world *part, bool limit, struct contestant *list) {
    int count = 0;
    list[count++] = (struct contestant){.what = NATIVE, .name = "native"};
    if (part->loaded) list[count++] = (struct contestant){.what = MORTAR, .name = "auto"};
    if (limit) list[count++] = (struct contestant){.what = LIMIT_ROWS, .name = "limit"};
    if (limit) list[count++] = (struct contestant){.what = LIMIT_LAST, .name = "limit"};
    return count;
}

/* Seconds that all of the cell takes at least, by those of a native call: a call to verify, some to
 * find out how long calls take, and the fewest repetitions, each of a call that is timed and one
 * that is not. */
static double least_seconds(const struct world *part, const struct cell *cell,
                            const struct contestant *native, int count) {
    enum { calls = 1 + 4 + 2 * 5 };
    double start = clock_seconds();
    timing_call(part, cell, native);
    return calls * count * meet_max(clock_seconds() - start);
}

/* False: a wrong result, of which a line tells. */
static bool verify_all(const struct world *part, const struct cell *cell, struct contestant *list,
                       int count, struct card_cell *result) {
    for (int c = 0; c < count; c++)
        if (!verify(part, cell, &list[c])) {
            snprintf(result->why, sizeof result->why, "WRONG RESULT of %s", list[c].name);
            return false;
        }
    return true;
}

static struct card_time time_of(const struct contestant *one, const struct contestant *other,
                                int repetitions) {
    struct card_time time = {.known = true};
    time.seconds = median(one->seconds, other ? other->seconds : NULL, repetitions, &time.spread);
    return time;
}

static void take_times(const struct contestant *list, int count, int repetitions,
                       struct card_cell *result) {
    result->measured = true, *result->why = 0, result->repetitions = repetitions;
    for (int c = 0; c < count; c++) {
        if (list[c].out) continue;
        struct card_time time = time_of(&list[c], NULL, repetitions);
        if (list[c].what == NATIVE) result->native = time;
        else if (list[c].what == MORTAR) {
            result->mortar = time;
            result->gain = time_of(&list[0], &list[c], repetitions);
        } else if (!result->limit.known || time.seconds < result->limit.seconds)
            result->limit = time;
    }
}

bool cells_measure(const struct world *part, struct card_cell *result, double seconds,
                   double left) {
    struct contestant list[most_contestants];
    struct settings settings = {.kind = result->kind, .seconds = seconds};
    struct cell cell = {.kind = result->kind, .bytes = result->bytes, .imbalance = -1};
    cell.then_barrier = kind_rooted(cell.kind);
    if (!cell_open(part, &cell, 2, result->why, sizeof result->why)) return true;
    bool limit = limit_open(part, &cell);
    int count = enter_all(part, limit, list);
    /* The first calls of a communicator and of a size are slow. */
    double least = least_seconds(part, &cell, &list[0], count);
    if (least > left) least = least_seconds(part, &cell, &list[0], count);
    bool fine = true;
    if (least > left)
        snprintf(result->why, sizeof result->why,
                 "no time: it takes about %.3g s, and %.3g s were left", least,
                 left > 0 ? left : 0);
    else fine = verify_all(part, &cell, list, count, result);
    if (least <= left && fine) {
        int repetitions = timing_run(part, &settings, &cell, list, count);
        if (repetitions && part->me == 0) take_times(list, count, repetitions, result);
        else snprintf(result->why, sizeof result->why, "no memory for its times");
        timing_free(list, count);
    }
    if (limit) limit_close();
    cell_close(&cell);
    return fine;
}
