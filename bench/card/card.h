/* SPDX-License-Identifier: BSD-3-Clause */
/* card.h - private to `mortar site-card`: what a machine is and what mortar gains on it, in one
 * file. card.c reads in the order of the work. */
#ifndef MORTAR_CARD_H
#define MORTAR_CARD_H

#include "bench/common/bench.h"
#include "info/health.h"

enum { most_parts = 16 };

struct card_settings {
    double seconds;               /* of measuring, in all */
    struct settings sizes;        /* only its block sizes */
    int ranks[most_parts], parts; /* numbers of ranks; parts 0: all, and powers of two */
    char output[4096];            /* without the ending */
};
/* As settings_read. */
int card_settings_read(int count, char **words, struct card_settings *settings);
/* Fills in the numbers of ranks, in order. False, on all ranks, after the first one said why. */
bool card_parts(struct card_settings *settings, int ranks);

/* What one contestant of a cell took. */
struct card_time {
    bool known;
    double seconds, spread; /* the median; half the interquartile range over it */
};
struct card_cell {
    const struct kind *kind;
    size_t bytes;
    int part;      /* index of its number of ranks */
    double weight; /* what grows with its time: bytes that are moved */
    bool measured;
    char why[160]; /* not measured: why not */
    int repetitions;
    struct card_time native, mortar, limit;
    struct card_time gain; /* native / mortar: the median of pairs; seconds is no time here */
    char plan[192];
};

/* ---- cells.c ---- */
/* All cells, those with the least weight first; to be freed. NULL: no memory. Local. */
struct card_cell *cells_make(const struct card_settings *settings, int *count);
/* Measures a cell on the ranks of this world, which meet, in about `seconds`; one that would take
 * longer than `left` is left out. False: a result was wrong. Fills the cell on the first rank. */
bool cells_measure(const struct world *part, struct card_cell *cell, double seconds, double left);

/* ---- write.c: on the first rank, local ---- */
struct card {
    const struct card_settings *settings;
    const struct world *world, *parts; /* the whole one, and for each number of ranks */
    const struct findings *of_rank;    /* [world->p] */
    const struct card_cell *cells;
    int count;
    double took, load; /* load: of the node before; below 0: not known */
    bool finished;
};
/* Writes the card into settings->output.json; an interruption leaves the one before, or the new
 * one. 0 or -errno. */
int card_write(const struct card *card);

/* The whole command, with its MPI_Init and MPI_Finalize; words[0] is "site-card". Returns an exit
 * code. */
int site_card(int count, char **words);

#endif
