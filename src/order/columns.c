/* SPDX-License-Identifier: BSD-3-Clause */
/* order_columns - a worker copies its own send buffer into all receive buffers, starting with the
 * next rank's (the paper's start with rank 0's). ramesh2024 section V-A (column order). A bunch
 * that is not square is walked column by column and cut into equal segments. */
#include "order/order.h"

void order_columns(const struct matrix *matrix, uint32_t worker, struct cell *cells);
size_t part_columns(const struct matrix *matrix, uint32_t worker, struct edge *edges, size_t count);

void order_columns(const struct matrix *matrix, uint32_t worker, struct cell *cells) {
    uint64_t rows = rows_of(matrix), first = (uint64_t)matrix->p * worker;
    for (uint32_t k = 0; k < matrix->p; k++) {
        uint64_t column = (first + k) / rows, row = (first + k) % rows;
        cells[k] = (struct cell){.source = (uint32_t)column,
                                 .dest = (uint32_t)((column + 1 + row) % rows)};
    }
}

size_t part_columns(const struct matrix *matrix, uint32_t worker, struct edge *edges,
                    size_t count) {
    size_t kept = 0;
    (void)matrix;
    for (size_t e = 0; e < count; e++)
        if (edges[e].source == worker) edges[kept++] = edges[e];
    return kept;
}
