/* SPDX-License-Identifier: BSD-3-Clause */
/* order_compact - the Z-order curve of the smallest power of two that holds the matrix (row = dest,
 * column = source). The curve skips missing cells and is cut into equal segments. In a
 * neighbourhood collective all cells but its edges are missing. li2018 section 3 (the compact curve
 * of figure 7). Time O(p log p). */
#include "order/order.h"

#include <string.h>

void order_compact(const struct matrix *matrix, uint32_t worker, struct cell *cells);
size_t part_compact(const struct matrix *matrix, uint32_t worker, struct edge *edges, size_t count);

/* A square of the curve: its upper left corner and its side, a power of two. */
struct square {
    uint32_t row, column;
    uint64_t side;
};

/* Number of cells of the square that lie in the matrix. */
static uint64_t compact_cells_of(const struct square *square, uint32_t rows, uint32_t columns) {
    uint64_t high = square->row < rows ? rows - square->row : 0;
    uint64_t wide = square->column < columns ? columns - square->column : 0;
    if (high > square->side) high = square->side;
    if (wide > square->side) wide = square->side;
    return high * wide;
}

/* The cell with this number: descends into quarters, skipping those that end before it. */
static struct cell compact_numbered(uint32_t rows, uint32_t columns, uint64_t number) {
    struct square at = {.side = 1};
    while (at.side < rows || at.side < columns) at.side *= 2;
    while (at.side > 1) {
        struct square quarter = at;
        quarter.side /= 2;
        for (uint32_t q = 0; q < 4; q++) {
            quarter.row = at.row + (uint32_t)(q / 2 * quarter.side);
            quarter.column = at.column + (uint32_t)(q % 2 * quarter.side);
            uint64_t cells = compact_cells_of(&quarter, rows, columns);
            if (number < cells) break;
            number -= cells;
        }
        at = quarter;
    }
    return (struct cell){.source = at.column, .dest = at.row};
}

void order_compact(const struct matrix *matrix, uint32_t worker, struct cell *cells) {
    uint64_t first = (uint64_t)matrix->p * worker;
    for (uint32_t k = 0; k < matrix->p; k++)
        cells[k] = compact_numbered(rows_of(matrix), matrix->p, first + k);
}

/* ---- edges ---- */

/* Inserts a zero bit above each bit. */
static uint64_t spread(uint64_t bits) {
    bits = (bits | bits << 16) & 0x0000ffff0000ffffu;
    bits = (bits | bits << 8) & 0x00ff00ff00ff00ffu;
    bits = (bits | bits << 4) & 0x0f0f0f0f0f0f0f0fu;
    bits = (bits | bits << 2) & 0x3333333333333333u;
    return (bits | bits << 1) & 0x5555555555555555u;
}

static bool before(const struct edge *a, const struct edge *b) {
    uint64_t at = spread(a->dest) << 1 | spread(a->source);
    uint64_t bt = spread(b->dest) << 1 | spread(b->source);
    if (at != bt) return at < bt;
    return a->out != b->out ? a->out < b->out : a->in < b->in;
}

/* Heapsort: sifts an edge down in the heap edges[0 .. end), whose root comes last in the order. */
static void sink(struct edge *edges, size_t at, size_t end) {
    struct edge edge = edges[at];
    for (size_t child; (child = 2 * at + 1) < end; at = child) {
        if (child + 1 < end && before(&edges[child], &edges[child + 1])) child++;
        if (!before(&edge, &edges[child])) break;
        edges[at] = edges[child];
    }
    edges[at] = edge;
}

void sort_compact(struct edge *edges, size_t count) {
    for (size_t at = count / 2; at-- > 0;) sink(edges, at, count);
    for (size_t end = count; end-- > 1;) {
        struct edge last = edges[0];
        edges[0] = edges[end];
        edges[end] = last;
        sink(edges, 0, end);
    }
}

size_t part_compact(const struct matrix *matrix, uint32_t worker, struct edge *edges,
                    size_t count) {
    size_t first = count * worker / matrix->p, end = count * (worker + 1) / matrix->p;
    sort_compact(edges, count);
    if (end > first) memmove(edges, edges + first, (end - first) * sizeof *edges);
    return end - first;
}
