/* SPDX-License-Identifier: BSD-3-Clause */
/* owners - tiles of the matrix of senders and receivers, and who owns which. Morton: by their
 * numbers on the Z-shaped curve, as in li2018 section 2.5, where p is a power of two and a tile is
 * the segment of p cells that begins at p * owner. Rows: the tiles of a row of senders belong to
 * these senders, so what is sent to owners stays among neighbours. */
#include "coll/flat/owners.h"

#include <stdlib.h>

/* A rank sends to the owners of its row, and an owner to the receivers of its tile; and the same
 * the other way. Of equal ones the most tiles, then those that are flat: where p is 2^odd the paper
 * receives from sqrt 2 p senders. */
void tiling_sides(int p, int *rows, int *columns) {
    int64_t best = INT64_MAX;
    for (int r = 1; r <= p && r * r <= 4 * p; r++) {
        int c = p / r;
        for (int try = c; try >= c - 1 && try >= 1; try--) {
            int64_t sends = try + (p + try - 1) / try, receives = r + (p + r - 1) / r;
            int64_t cost = (sends > receives ? sends : receives) * 4 * p - 2 * r * try + (r > try);
            if (cost >= best) continue;
            best = cost;
            *rows = r, *columns = try;
        }
    }
}

/* The curve over the tiles. It goes on like the one over all cells where a square is cut into rows
 * of receivers first. */
static bool number_by_curve(struct tiling *t) {
    bool flip = t->rows < t->columns;
    uint32_t p = (uint32_t)(flip ? t->columns : t->rows),
             rows = (uint32_t)(flip ? t->rows : t->columns);
    struct matrix matrix = {.p = p, .rows = rows};
    struct cell *cells = malloc(p * sizeof *cells); /* tried again at the next call */
    int tiles = t->rows * t->columns, number = 0;
    for (uint32_t worker = 0; cells && worker < rows; worker++) {
        orders[ORDER_morton].fill(&matrix, worker, cells);
        for (uint32_t k = 0; k < p; k++, number++) {
            uint32_t row = flip ? cells[k].dest : cells[k].source,
                     column = flip ? cells[k].source : cells[k].dest;
            t->owner[(int)row * t->columns + (int)column] = group_first(t->p, tiles, number);
        }
    }
    free(cells);
    return cells != NULL;
}

static void number_by_rows(struct tiling *t) {
    for (int row = 0; row < t->rows; row++) {
        int first = group_first(t->p, t->rows, row),
            ranks = group_first(t->p, t->rows, row + 1) - first;
        for (int column = 0; column < t->columns; column++)
            t->owner[row * t->columns + column] = first + group_first(ranks, t->columns, column);
    }
}

const struct tiling *tiling_for(struct team *team, enum owners owners) {
    static const char whose[2];
    int rows, columns, p = team->p;
    bool fresh;
    tiling_sides(p, &rows, &columns);
    int tiles = rows * columns;
    struct tiling *t =
        team_keeps(team, &whose[owners], 0, sizeof *t + (size_t)(tiles + p) * sizeof(int), &fresh);
    if (!t || (!fresh && t->p)) return t;
    *t = (struct tiling){.rows = rows, .columns = columns, .owner = (int *)(t + 1)};
    t->tile_of = t->owner + tiles;
    t->p = p;
    if (owners == OWNERS_rows) number_by_rows(t);
    else if (!number_by_curve(t)) return t->p = 0, NULL;
    for (int r = 0; r < p; r++) t->tile_of[r] = -1;
    for (int tile = 0; tile < tiles; tile++) t->tile_of[t->owner[tile]] = tile;
    return t;
}
