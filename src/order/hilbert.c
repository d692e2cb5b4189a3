/* SPDX-License-Identifier: BSD-3-Clause */
/* order_hilbert - Hilbert's curve over the receive matrix (row = dest, column = source) from its
 * upper left to its upper right corner. Each worker takes a tile of the matrix and walks its cells
 * in the order of the curve. Tiles: ramesh2024 Algorithm 1 (get_bounds_hilbert), r = sqrt(p) rows,
 * rounded up to a power of two, times p / r columns, counted from left to right. The r tiles side
 * by side fill r receive buffers and belong to the r ranks that own these buffers. The paper covers
 * powers of two. For any other p, r is the divisor that makes the tile most square. If even that
 * tile is long and thin (as for a prime p), there are no tiles, and each worker takes a segment of
 * p cells of the curve. The curve on any rectangle (the idea of J. Cerveny's "gilbert") runs along
 * one side, from corner to corner. A long rectangle is cut into two, one after the other. Any other
 * is cut into a leg up, a bridge across and a leg down, whose curves are rotated. All steps go to
 * neighbouring cells if the legs have even length; only a rectangle with an odd side along and an
 * even side across has a diagonal step. On a square of a power of two this is Hilbert's curve. Time
 * O(p): pieces outside the wanted part are skipped whole. */
#include "order/order.h"

void order_hilbert(const struct matrix *matrix, uint32_t worker, struct cell *cells);

struct vector {
    int32_t column, row;
};

/* A rectangle that the curve crosses from its corner `start` to the far end of its side `along`. */
struct piece {
    struct vector start;
    struct vector along, across; /* steps of length 1 */
    int32_t length, width;       /* cells along and across */
};

/* The wanted part: the cells of a window whose numbers on the curve are first .. end-1. */
struct hilbert_part {
    int32_t top, bottom, left, right; /* of the window; bottom and right excluded */
    uint64_t first, end;
    uint64_t number;   /* cells passed so far */
    struct cell *next; /* where the next wanted cell is written */
};

static struct vector hilbert_at(const struct piece *piece, int32_t i, int32_t j) {
    return (struct vector){piece->start.column + i * piece->along.column + j * piece->across.column,
                           piece->start.row + i * piece->along.row + j * piece->across.row};
}

static struct vector back(struct vector step) { return (struct vector){-step.column, -step.row}; }

static bool apart(int32_t a, int32_t b, int32_t low, int32_t high) {
    return (a < low && b < low) || (a >= high && b >= high);
}

static bool outside(const struct piece *piece, const struct hilbert_part *part) {
    uint64_t end = part->number + (uint64_t)piece->length * (uint64_t)piece->width;
    struct vector far = hilbert_at(piece, piece->length - 1, piece->width - 1);
    return end <= part->first || part->number >= part->end ||
           apart(piece->start.row, far.row, part->top, part->bottom) ||
           apart(piece->start.column, far.column, part->left, part->right);
}

/* About half a side: an even number of cells if possible. */
static int32_t half(int32_t side) { return side / 2 + (side > 2 && side / 2 % 2 != 0); }

static void visit(struct piece piece, struct hilbert_part *part) {
    int32_t length = piece.length, width = piece.width, legs = half(width), cut = half(length);
    struct vector along = piece.along, across = piece.across;
    if (outside(&piece, part)) {
        part->number += (uint64_t)length * (uint64_t)width;
    } else if (length == 1 && width == 1) {
        *part->next++ = (struct cell){.source = (uint32_t)piece.start.column,
                                      .dest = (uint32_t)piece.start.row};
        part->number++;
    } else if (length == 1) {
        visit((struct piece){piece.start, across, along, width, 1}, part);
    } else if (2 * (int64_t)length > 3 * (int64_t)width) {
        visit((struct piece){piece.start, along, across, cut, width}, part);
        visit((struct piece){hilbert_at(&piece, cut, 0), along, across, length - cut, width}, part);
    } else {
        visit((struct piece){piece.start, across, along, legs, length / 2}, part);
        visit((struct piece){hilbert_at(&piece, 0, legs), along, across, length, width - legs},
              part);
        visit((struct piece){hilbert_at(&piece, length - 1, legs - 1), back(across), back(along),
                             legs, length - length / 2},
              part);
    }
}

/* The rows of a worker's tile of p cells in a matrix of rows x p; 0: no tile is good enough. A
 * segment of the curve touches 2.4 sqrt(p) buffers on average and up to 3 sqrt(p) (counted for p =
 * 9 .. 200). A tile touches height + width buffers; if it is four times as long as wide, that is
 * 2.5 sqrt(p). */
static uint32_t tile_rows(uint32_t rows, uint32_t p) {
    uint32_t best = 0, longest = p + 1;
    for (uint32_t r = 1; r <= p && r <= rows; r++) {
        uint32_t longer = r > p / r ? r : p / r;
        if (p % r != 0 || rows % r != 0 || longer > longest) continue;
        best = r;
        longest = longer;
    }
    return longest > 4 * (p / longest) ? 0 : best;
}

void order_hilbert(const struct matrix *matrix, uint32_t worker, struct cell *cells) {
    uint32_t p = matrix->p, rows = rows_of(matrix), high = tile_rows(rows, p);
    struct vector right = {1, 0}, down = {0, 1}, corner = {0, 0};
    struct piece whole = {corner, right, down, (int32_t)p, (int32_t)rows};
    if (rows > p) whole = (struct piece){corner, down, right, (int32_t)rows, (int32_t)p};
    struct hilbert_part part = {
        .bottom = (int32_t)rows, .right = (int32_t)p, .end = (uint64_t)rows * p, .next = cells};
    if (high > 0) {
        uint32_t wide = p / high; /* so `high` tiles lie side by side */
        part.top = (int32_t)(worker / high * high);
        part.bottom = part.top + (int32_t)high;
        part.left = (int32_t)(worker % high * wide);
        part.right = part.left + (int32_t)wide;
    } else {
        part.first = (uint64_t)p * worker;
        part.end = part.first + p;
    }
    visit(whole, &part);
}
