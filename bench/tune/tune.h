/* SPDX-License-Identifier: BSD-3-Clause */
/* tune.h - `mortar tune`: which plan is the fastest, per collective, block size and kind of
 * buffers, written as a tuning file (docs/tuning.md). tune.c reads in the order of the work. */
#ifndef MORTAR_TUNE_H
#define MORTAR_TUNE_H

#include "bench/common/elimination.h"
#include "tuning/tuning.h"

#include <stdbool.h>
#include <stddef.h>

/* The whole command, with its MPI_Init and MPI_Finalize; words[0] is "tune". Returns an exit
 * code. */
int tune(int count, char **words);

/* ---- candidates.c: local ---- */
enum { most_candidates = 96, most_asked = 24, plan_size = 64 };
/* The plans that the library gave, one a line: native, then the others in their order, `most` at
 * most. Returns how many; -1: a line is empty or too long for a plan. */
int candidates_given(const char *lines, char texts[][plan_size], int most);
/* The same plan with every other way to copy blocks of so many bytes that this processor has, for p
 * ranks. */
int candidates_kernels(const char *plan, size_t bytes, int p, char texts[][plan_size], int most);

#ifdef MPI_VERSION
struct tune_settings {
    struct settings sizes; /* only its block sizes */
    const struct kind *kinds[32];
    int kind_count;
    bool buffers[2]; /* heap, outside */
    double seconds;  /* of measuring, in all; 0: by the number of cells */
    const char *output;
};
/* ---- settings.c ---- */
/* As settings_read. */
int tune_settings_read(int count, char **words, struct tune_settings *settings);

/* ---- settle.c ---- */
struct settled {
    int best, rounds; /* rounds: of the best one, and of native */
    bool clear;       /* the ranking was settled before the time was used up */
    double seconds, interval[2], native_seconds;
    int tried, slower;    /* slower: left before the end */
    struct estimate gain; /* native / best */
};
/* Runs the contestants, of whom the first is native, in rounds, and drops those that are slower
 * than the best, until the ranking is settled or the seconds are used up. All ranks get the same
 * answer. Collective. */
void settle(const struct world *world, const struct cell *cell, struct contestant *contestants,
            int count, double seconds, struct settled *settled);

/* ---- progress.c: on the first rank; local ---- */
/* cells: how many there are; seconds: the budget. */
void progress_start(const struct world *world, int cells, double seconds);
/* Cell number `cell` runs; so many candidates are left. Redrawn only where a person watches, a few
 * times a second. */
void progress_show(const struct world *world, const struct cell *cell, int left);
/* A cell is done: one line. */
void progress_done(const struct world *world, const struct cell *cell, const char *line);

/* ---- table.c: on the first rank; local ---- */
/* Keeps a row for the table at the end: what was found for blocks of so many bytes. */
void table_add(const struct tuning_entry *entry, size_t bytes, const struct settled *settled);
void table_print(void);
#endif

#endif
