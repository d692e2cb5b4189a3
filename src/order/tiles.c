/* SPDX-License-Identifier: BSD-3-Clause */
/* order_tiles - square tiles, left to right and top to bottom, each walked row by row; the walk is
 * cut into equal segments. What is left at the right and lower edges are narrower and lower tiles.
 * Cache-aware by its tile side: a cache line of 64 bytes holds 8 blocks of 8 bytes, so that in a
 * tile of 8 x 8 such blocks every line is read and written whole, and a tile of larger blocks
 * touches 8 buffers on either side. (Side sqrt(p) is hilbert's tile.) Time O(p). */
#include "order/order.h"

void order_tiles(const struct matrix *matrix, uint32_t worker, struct cell *cells);

static const uint32_t side = 8;

/* The cell with this number of the walk over rows x columns. */
static struct cell tiles_numbered(uint32_t rows, uint32_t columns, uint64_t number) {
    uint64_t band = number / ((uint64_t)side * columns); /* a row of tiles */
    uint32_t row = (uint32_t)band * side, height = rows - row < side ? rows - row : side;
    number -= band * side * columns;
    uint32_t column = (uint32_t)(number / (height * side)) * side,
             width = columns - column < side ? columns - column : side;
    uint32_t inside = (uint32_t)(number - (uint64_t)column * height);
    return (struct cell){.source = column + inside % width, .dest = row + inside / width};
}

void order_tiles(const struct matrix *matrix, uint32_t worker, struct cell *cells) {
    uint64_t first = (uint64_t)matrix->p * worker;
    for (uint32_t k = 0; k < matrix->p; k++)
        cells[k] = tiles_numbered(rows_of(matrix), matrix->p, first + k);
}
