/* SPDX-License-Identifier: BSD-3-Clause */
/* order_tiles - square tiles, left to right and top to bottom, each walked row by row. The walk is
 * cut into equal segments. Tiles at the right and lower edges may be narrower or lower. Cache-aware
 * by the side of 8: a cache line of 64 bytes holds 8 blocks of 8 bytes, so a tile of such blocks
 * reads and writes whole lines. A tile of larger blocks touches 8 send and 8 receive buffers.
 * (Tiles of side sqrt(p) are those of order_hilbert.) Time O(p). */
#include "order/order.h"

void order_tiles(const struct matrix *matrix, uint32_t worker, struct cell *cells);

static const uint32_t side = 8;

/* The cell with this number of the walk over rows x columns. */
static struct cell tiles_numbered(uint32_t rows, uint32_t columns, uint64_t number) {
    uint64_t band = number / ((uint64_t)side * columns); /* a row of tiles */
    uint32_t row = (uint32_t)band * side, height = rows - row < side ? rows - row : side;
    number -= band * side * columns;
    uint32_t column = (uint32_t)(number / (height * side)) * side;
    uint32_t width = columns - column < side ? columns - column : side;
    uint32_t inside = (uint32_t)(number - (uint64_t)column * height);
    return (struct cell){.source = column + inside % width, .dest = row + inside / width};
}

void order_tiles(const struct matrix *matrix, uint32_t worker, struct cell *cells) {
    uint64_t first = (uint64_t)matrix->p * worker;
    for (uint32_t k = 0; k < matrix->p; k++)
        cells[k] = tiles_numbered(rows_of(matrix), matrix->p, first + k);
}
