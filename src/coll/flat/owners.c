/* SPDX-License-Identifier: BSD-3-Clause */
/* owners - tiles of the matrix of senders and receivers, and the rank that owns each. Morton: tiles
 * are numbered along the Z-shaped curve, as in li2018 section 2.5, where p is a power of two and a
 * tile is the segment of p cells that begins at p * owner. Rows: the tiles of a row of senders
 * belong to these senders, so messages to owners stay among neighbours. */
#include "coll/flat/owners.h"

#include <stdlib.h>

/* Minimises the larger of the messages that a rank sends (to the owners of its row, and as an owner
 * to receivers) and receives. Ties: the most tiles, then flat tiles; for p = 2^odd the paper
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

/* Numbers the tiles along the curve, in the order of the curve over all cells, which cuts a square
 * into rows of receivers first. */
static bool number_by_curve(struct tiling *t) {
    bool flip = t->rows < t->columns;
    uint32_t p = (uint32_t)(flip ? t->columns : t->rows);
    uint32_t rows = (uint32_t)(flip ? t->rows : t->columns);
    struct matrix matrix = {.p = p, .rows = rows};
    struct cell *cells = malloc(p * sizeof *cells); /* tried again at the next call */
    int tiles = t->rows * t->columns, number = 0;
    for (uint32_t worker = 0; cells && worker < rows; worker++) {
        orders[ORDER_morton].fill(&matrix, worker, cells);
        for (uint32_t k = 0; k < p; k++, number++) {
            uint32_t row = flip ? cells[k].dest : cells[k].source;
            uint32_t column = flip ? cells[k].source : cells[k].dest;
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
    if (owners == OWNERS_rows) {
        number_by_rows(t);
    } else if (!number_by_curve(t)) {
        t->p = 0;
        return NULL;
    }
    for (int r = 0; r < p; r++) t->tile_of[r] = -1;
    for (int tile = 0; tile < tiles; tile++) t->tile_of[t->owner[tile]] = tile;
    return t;
}
