/* SPDX-License-Identifier: BSD-3-Clause */
/* order_rows - a worker fills its own receive buffer block by block. Workers start at different
 * sources, so that they do not all read from the same rank at once. li2018 section 2.1 (SH-Naive),
 * section 4 (staggered). */
#include "order/order.h"

void order_rows(const struct matrix *matrix, uint32_t worker, struct cell *cells);

void order_rows(const struct matrix *matrix, uint32_t worker, struct cell *cells) {
    uint32_t p = matrix->p;
    for (uint32_t k = 0; k < p; k++)
        cells[k] = (struct cell){.source = (worker + 1 + k) % p, .dest = worker};
}
