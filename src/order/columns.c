/* SPDX-License-Identifier: BSD-3-Clause */
/* order_columns - a worker empties its own send buffer into everybody's receive buffers, starting behind itself.
 * ramesh2024 section V-A (column order). */
#include "order/order.h"

void order_columns(const struct matrix *matrix, uint32_t worker, struct cell *cells);

void order_columns(const struct matrix *matrix, uint32_t worker, struct cell *cells) {
    uint32_t p = matrix->p;
    for (uint32_t k = 0; k < p; k++) cells[k] = (struct cell){.source = worker, .dest = (worker + 1 + k) % p};
}
