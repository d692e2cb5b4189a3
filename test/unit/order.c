/* SPDX-License-Identifier: BSD-3-Clause */
/* order - every row of orders[]: the parts of all workers visit each cell exactly once and keep what the row promises; the Morton
 * order against two references of its own (li2018 sections 2.1-2.2), and its two ways to extract bits against each other. */
#include "order/order.h"

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The file itself, under another name: its ways to extract bits are not shown to others. */
#define order_morton morton_inside
#include "order/morton.c"
#undef order_morton

enum { guard = 4 };

static struct cell *cells_for(uint32_t p) {
    struct cell *cells = malloc(((size_t)p + guard) * sizeof *cells);
    expect(cells != NULL, "malloc");
    return cells;
}

static void check_order(const struct order *order, uint32_t p) {
    struct cell *cells = cells_for(p);
    char *visited = calloc(p, p);
    expect(visited != NULL, "calloc");
    for (uint32_t worker = 0; worker < p; worker++) {
        memset(cells, 0xee, (p + guard) * sizeof *cells);
        order->fill(&(struct matrix){.p = p}, worker, cells);
        for (uint32_t k = 0; k < p; k++) {
            struct cell cell = cells[k];
            expect(cell.source < p && cell.dest < p, "%s p=%u worker=%u k=%u: cell (%u, %u) does not exist", order->name, p, worker,
                   k, cell.source, cell.dest);
            char *place = &visited[(size_t)cell.dest * p + cell.source];
            expect(!*place, "%s p=%u worker=%u k=%u: cell (%u, %u) for the second time", order->name, p, worker, k, cell.source,
                   cell.dest);
            expect(!order->own_dest || cell.dest == worker, "%s p=%u worker=%u k=%u: writes to rank %u", order->name, p, worker, k,
                   cell.dest);
            *place = 1; /* p * p different cells: each exactly once */
        }
        for (uint32_t k = p; k < p + guard; k++)
            expect(cells[k].source == 0xeeeeeeee && cells[k].dest == 0xeeeeeeee, "%s p=%u: more than p cells", order->name, p);
    }
    free(visited);
    free(cells);
}

/* "Starting behind itself": in no step do two workers read the same sender (rows), or write to the same receiver (columns). */
static void check_staggered(uint32_t p) {
    struct cell *rows = cells_for(p), *columns = cells_for(p);
    for (uint32_t worker = 0; worker < p; worker++) {
        orders[ORDER_rows].fill(&(struct matrix){.p = p}, worker, rows);
        orders[ORDER_columns].fill(&(struct matrix){.p = p}, worker, columns);
        for (uint32_t k = 0; k < p; k++) {
            expect((rows[k].source + p - worker) % p == (k + 1) % p, "rows p=%u: worker %u reads %u in step %u", p, worker,
                   rows[k].source, k);
            expect((columns[k].dest + p - worker) % p == (k + 1) % p && columns[k].source == worker,
                   "columns p=%u: worker %u writes to %u in step %u", p, worker, columns[k].dest, k);
        }
    }
    free(rows);
    free(columns);
}

/* ---- Morton ---- */

static struct cell interleaved(uint64_t code) {
    struct cell cell = {0, 0};
    for (uint32_t b = 0; b < 32; b++) {
        cell.source |= (uint32_t)(code >> (2 * b) & 1) << b;
        cell.dest |= (uint32_t)(code >> (2 * b + 1) & 1) << b;
    }
    return cell;
}

static void same_cell(struct cell got, struct cell wanted, const char *what, uint32_t p, uint64_t number) {
    expect(got.source == wanted.source && got.dest == wanted.dest,
           "morton (%s) p=%u, cell %llu of the curve: (%u, %u), not (%u, %u)", what, p, (unsigned long long)number, got.source,
           got.dest, wanted.source, wanted.dest);
}

static void check_bits(uint32_t p, uint32_t worker) {
    struct cell *cells = cells_for(p);
    uint64_t first = (uint64_t)p * worker;
    orders[ORDER_morton].fill(&(struct matrix){.p = p}, worker, cells);
    for (uint32_t k = 0; k < p; k++) same_cell(cells[k], interleaved(first + k), "as chosen", p, first + k);
    by_bits(p, first, cells);
    for (uint32_t k = 0; k < p; k++) same_cell(cells[k], interleaved(first + k), "portable", p, first + k);
    if (have_pext()) {
        by_pext(p, first, cells);
        for (uint32_t k = 0; k < p; k++) same_cell(cells[k], interleaved(first + k), "pext", p, first + k);
    }
    free(cells);
}

/* Cells of curves that are longer than any that could be walked: all bits of a code. */
static void check_wide_codes(uint64_t *random) {
    struct cell cells[2][16];
    for (int i = 0; i < 10000; i++) {
        uint64_t first = draw(random) >> draw_below(random, 40) & ~(uint64_t)15;
        by_bits(16, first, cells[0]);
        if (have_pext()) by_pext(16, first, cells[1]);
        for (uint32_t k = 0; k < 16; k++) {
            same_cell(cells[0][k], interleaved(first + k), "portable", 0, first + k);
            if (have_pext()) same_cell(cells[1][k], interleaved(first + k), "pext", 0, first + k);
        }
    }
}

/* The balanced curve by its definition: halve the longer side, the smaller half first, depth first. */
static struct cell *depth_first(struct cell *at, uint32_t row, uint32_t rows, uint32_t column, uint32_t columns) {
    if (rows == 1 && columns == 1) {
        *at = (struct cell){.source = column, .dest = row};
        return at + 1;
    }
    if (rows >= columns) {
        at = depth_first(at, row, rows / 2, column, columns);
        return depth_first(at, row + rows / 2, rows - rows / 2, column, columns);
    }
    at = depth_first(at, row, rows, column, columns / 2);
    return depth_first(at, row, rows, column + columns / 2, columns - columns / 2);
}

static void check_balanced(uint32_t p) {
    struct cell *curve = malloc((size_t)p * p * sizeof *curve), *cells = cells_for(p);
    expect(curve && depth_first(curve, 0, p, 0, p) == curve + (size_t)p * p, "the reference has p * p cells");
    for (uint32_t worker = 0; worker < p; worker++) {
        uint64_t first = (uint64_t)p * worker;
        orders[ORDER_morton].fill(&(struct matrix){.p = p}, worker, cells);
        for (uint32_t k = 0; k < p; k++) same_cell(cells[k], curve[first + k], "balanced", p, first + k);
        for (uint32_t k = 0; k < p; k++) same_cell(balanced(p, first + k), curve[first + k], "recursion", p, first + k);
    }
    free(curve);
    free(cells);
}

/* What the order is for: a part touches about 2 sqrt(p) different buffers, not p + 1. Four times the square is never reached. */
static void check_compact(uint32_t p) {
    struct cell *cells = cells_for(p);
    char *touched = malloc(2 * (size_t)p);
    expect(touched != NULL, "malloc");
    for (uint32_t worker = 0; worker < p; worker++) {
        uint32_t buffers = 0;
        orders[ORDER_morton].fill(&(struct matrix){.p = p}, worker, cells);
        memset(touched, 0, 2 * (size_t)p);
        for (uint32_t k = 0; k < p; k++) {
            buffers += !touched[cells[k].source]++;
            buffers += !touched[p + cells[k].dest]++;
        }
        expect((uint64_t)buffers * buffers <= 36 * (uint64_t)p, "morton p=%u worker=%u touches %u buffers", p, worker, buffers);
    }
    free(touched);
    free(cells);
}

int main(int count, char **words) {
    uint64_t random = seed_from(count, words);
    uint32_t sizes[130 + 3];
    for (uint32_t i = 0; i < 130; i++) sizes[i] = i + 1;
    for (uint32_t i = 130; i < 133; i++) sizes[i] = 131 + draw_below(&random, 1024 - 131 + 1);
    for (uint32_t i = 0; i < 133; i++) {
        for (int o = 0; o < ORDERS; o++) check_order(&orders[o], sizes[i]);
        check_staggered(sizes[i]);
        check_balanced(sizes[i]);
        check_compact(sizes[i]);
    }
    for (uint32_t p = 1; p <= 1 << 20; p *= 2)
        for (uint32_t i = 0; i < 4; i++) check_bits(p, i == 0 ? 0 : i == 1 ? p - 1 : draw_below(&random, p));
    check_wide_codes(&random);
    printf("%d orders, p = 1..130 and 3 up to 1024; Morton up to 2^20\n", ORDERS);
    return 0;
}
