/* SPDX-License-Identifier: BSD-3-Clause */
/* hilbert - the generalised curve: the classical one at powers of two, neighbouring cells
 * everywhere else; and its parts: the tile bounds of ramesh2024 Algorithm 1, written down here once
 * more as the paper has them, its figure 5, and the segments. */
#include "order/order.h"

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The file itself, under another name: the curve as a whole is not shown to others. */
#define order_hilbert hilbert_inside
#include "order/hilbert.c"
#undef order_hilbert

/* All cells of a rectangle in the order of the curve. The caller frees them. */
static struct cell *curve_of(uint32_t rows, uint32_t columns) {
    struct cell *cells = malloc((size_t)rows * columns * sizeof *cells);
    expect(cells != NULL, "malloc");
    struct hilbert_part all = {.bottom = (int32_t)rows,
                               .right = (int32_t)columns,
                               .end = (uint64_t)rows * columns,
                               .next = cells};
    struct vector corner = {0, 0}, right = {1, 0}, down = {0, 1};
    if (rows > columns)
        visit((struct piece){corner, down, right, (int32_t)rows, (int32_t)columns}, &all);
    else visit((struct piece){corner, right, down, (int32_t)columns, (int32_t)rows}, &all);
    expect(all.next == cells + (size_t)rows * columns,
           "the curve of %u x %u has another number of cells", rows, columns);
    return cells;
}

/* ---- the classical curve: the turtle of the grammar A -> +BF-AFA-FB+, B -> -AF+BFB+FA- ---- */

struct turtle {
    int column, row, dx, dy;
    struct cell *next;
};

static void turn(struct turtle *t, int sense) {
    int dx = t->dx;
    t->dx = -sense * t->dy;
    t->dy = sense * dx;
}

static void forward(struct turtle *t) {
    t->column += t->dx;
    t->row += t->dy;
    *t->next++ = (struct cell){.source = (uint32_t)t->column, .dest = (uint32_t)t->row};
}

static void draw_curve(struct turtle *t, int level, int sense) {
    if (level == 0) return;
    turn(t, sense);
    draw_curve(t, level - 1, -sense);
    forward(t);
    turn(t, -sense);
    draw_curve(t, level - 1, sense);
    forward(t);
    draw_curve(t, level - 1, sense);
    turn(t, -sense);
    forward(t);
    draw_curve(t, level - 1, -sense);
    turn(t, sense);
}

static void check_classical(int level) {
    uint32_t p = 1u << level;
    struct cell *curve = curve_of(p, p), *reference = malloc((size_t)p * p * sizeof *reference);
    expect(reference != NULL, "malloc");
    reference[0] = (struct cell){0, 0};
    struct turtle turtle = {.dx = 1, .next = reference + 1};
    draw_curve(&turtle, level, 1);
    for (uint32_t n = 0; n < p * p; n++)
        expect(curve[n].source == reference[n].source && curve[n].dest == reference[n].dest,
               "p=%u, cell %u of the curve: (%u, %u), classically (%u, %u)", p, n, curve[n].source,
               curve[n].dest, reference[n].source, reference[n].dest);
    free(curve);
    free(reference);
}

/* ---- neighbours ---- */

static uint32_t distance(uint32_t a, uint32_t b) { return a > b ? a - b : b - a; }

/* A path of unit steps from corner to corner exists unless the longer side is odd and the other
 * even (colour the cells like a chessboard); then one step may be diagonal. */
static void check_neighbours(uint32_t rows, uint32_t columns) {
    struct cell *curve = curve_of(rows, columns);
    uint32_t longer = rows > columns ? rows : columns, shorter = rows > columns ? columns : rows,
             diagonal = 0;
    for (uint64_t n = 1; n < (uint64_t)rows * columns; n++) {
        uint32_t x = distance(curve[n].source, curve[n - 1].source),
                 y = distance(curve[n].dest, curve[n - 1].dest);
        expect(x <= 1 && y <= 1, "%u x %u: a jump of (%u, %u) behind cell %llu", rows, columns, x,
               y, (unsigned long long)n - 1);
        diagonal += x + y == 2;
    }
    expect(diagonal <= (longer % 2 == 1 && shorter % 2 == 0), "%u x %u: %u diagonal steps", rows,
           columns, diagonal);
    free(curve);
}

/* ---- parts ---- */

struct bounds {
    uint32_t top, bottom, left, right; /* ends excluded */
};

/* ramesh2024 Algorithm 1, get_bounds_hilbert: X counts rows, Y counts columns. */
static struct bounds bounds_of_paper(uint32_t rank, uint32_t n) {
    uint32_t rows = 1;
    while (rows * rows < n) rows *= 2; /* next_pof2(sqrt(N)) */
    uint32_t columns = n / rows;
    struct bounds b = {0, rows, 0, columns};
    for (uint32_t counter = 0; counter < rank; counter++) {
        if (b.right != n) {
            b.left += columns;
            b.right = b.left + columns;
        } else {
            b.left = 0;
            b.right = columns;
            b.top += rows;
            b.bottom = b.top + rows;
        }
    }
    return b;
}

/* The tile of a rank when tiles have so many rows. */
static struct bounds bounds_of(uint32_t rank, uint32_t n, uint32_t rows) {
    uint32_t columns = n / rows, top = rank / rows * rows, left = rank % rows * columns;
    return (struct bounds){top, top + rows, left, left + columns};
}

/* Every part is what the curve has within its bounds, in the order of the curve; rows 0: the
 * segments. */
static void check_parts(uint32_t p, uint32_t rows, bool paper) {
    struct cell *curve = curve_of(p, p), *cells = malloc(p * sizeof *cells);
    expect(cells != NULL, "malloc");
    for (uint32_t worker = 0; worker < p; worker++) {
        struct bounds b = paper  ? bounds_of_paper(worker, p)
                          : rows ? bounds_of(worker, p, rows)
                                 : (struct bounds){0, p, 0, p};
        uint32_t k = 0;
        orders[ORDER_hilbert].fill(&(struct matrix){.p = p}, worker, cells);
        for (uint32_t n = rows ? 0 : p * worker; n < p * p && k < p; n++) {
            if (curve[n].dest < b.top || curve[n].dest >= b.bottom || curve[n].source < b.left ||
                curve[n].source >= b.right)
                continue;
            expect(cells[k].source == curve[n].source && cells[k].dest == curve[n].dest,
                   "p=%u worker=%u k=%u: (%u, %u), expected (%u, %u)", p, worker, k,
                   cells[k].source, cells[k].dest, curve[n].source, curve[n].dest);
            k++;
        }
        expect(k == p, "p=%u worker=%u: the bounds hold %u cells", p, worker, k);
    }
    free(curve);
    free(cells);
}

/* ramesh2024 figure 5 (a), the numbers of the grid; its caption's ranks 0 to 3 hold the
 * quarters. */
static void check_figure(void) {
    static const uint32_t numbers[4][4] = {
        {1, 2, 15, 16}, {4, 3, 14, 13}, {5, 8, 9, 12}, {6, 7, 10, 11}};
    struct cell *curve = curve_of(4, 4), cells[4];
    for (uint32_t n = 0; n < 16; n++)
        expect(numbers[curve[n].dest][curve[n].source] == n + 1,
               "figure 5: cell %u lies at (%u, %u)", n + 1, curve[n].dest, curve[n].source);
    static const uint32_t lists[4][4] = {
        {1, 2, 3, 4}, {13, 14, 15, 16}, {5, 6, 7, 8}, {9, 10, 11, 12}};
    for (uint32_t worker = 0; worker < 4; worker++) {
        orders[ORDER_hilbert].fill(&(struct matrix){.p = 4}, worker, cells);
        for (uint32_t k = 0; k < 4; k++)
            expect(numbers[cells[k].dest][cells[k].source] == lists[worker][k],
                   "figure 5: rank %u, step %u", worker, k);
    }
    free(curve);
}

int main(void) {
    static const struct {
        uint32_t p, rows; /* of a tile; 0: segments */
    } tiles[] = {{3, 3},  {6, 3},  {7, 0},  {9, 3},  {10, 5},  {12, 4}, {13, 0},
                 {14, 7}, {20, 5}, {22, 0}, {23, 0}, {60, 10}, {72, 9}, {100, 10}};
    for (int level = 0; level <= 8; level++) check_classical(level);
    for (uint32_t p = 1; p <= 200; p++) check_neighbours(p, p);
    for (uint32_t rows = 1; rows <= 40; rows++)
        for (uint32_t columns = 1; columns <= 40; columns++) check_neighbours(rows, columns);
    check_figure();
    for (uint32_t p = 1; p <= 256; p *= 2) check_parts(p, 1, true);
    for (size_t i = 0; i < sizeof tiles / sizeof *tiles; i++)
        check_parts(tiles[i].p, tiles[i].rows, false);
    printf(
        "the classical curve to p = 256, neighbours to 200 x 200, the paper's tiles to p = 256, %zu others\n",
        sizeof tiles / sizeof *tiles);
    return 0;
}
