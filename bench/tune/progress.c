/* SPDX-License-Identifier: BSD-3-Clause */
/* progress - what `mortar tune` is doing: a line that is redrawn where a person watches, and a line
 * for every cell that is done. */
#include "bench/common/bench.h"
#include "tune.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

static int cells, done;
static double begin, budget, drawn;

static bool watched(const struct world *world) { return world->me == 0 && isatty(STDERR_FILENO); }

/* What the cells so far took, each, for those that are left: they settle early or not much alike.
 * The budget is the bound. */
static double left(void) {
    double passed = clock_seconds() - begin, rest = budget > passed ? budget - passed : 0;
    double guess = done > 0 ? passed / done * (cells - done) : rest;
    return rest > 0 && guess > rest ? rest : guess; /* who is late already will be later */
}

void progress_start(const struct world *world, int count, double seconds) {
    cells = count, done = 0, budget = seconds, begin = clock_seconds(), drawn = 0;
    if (world->me == 0)
        fprintf(stderr, "mortar tune: %d cell%s on %d ranks, at most about %.0f s\n", count,
                plural(count), world->p, seconds);
}

void progress_show(const struct world *world, const struct cell *cell, int candidates) {
    double now = clock_seconds();
    if (!watched(world) || now - drawn < 0.2) return;
    drawn = now;
    int filled = cells > 0 ? 20 * done / cells : 0;
    fprintf(stderr, "\r[%.*s%*s] %d/%d  %s of %zu bytes: %d candidates left, about %.0f s   ",
            filled, "####################", 20 - filled, "", done, cells, cell->kind->name,
            cell->bytes, candidates, left());
}

void progress_done(const struct world *world, const struct cell *cell, const char *line) {
    done++;
    if (world->me != 0) return;
    fprintf(stderr, "%s[%d/%d] %s %s %zu bytes: %s; about %.0f s to go\n",
            watched(world) ? "\r\033[K" : "", done, cells, cell->kind->name,
            buffers_names[cell->buffers], cell->bytes, line, left());
}
