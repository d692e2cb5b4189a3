/* SPDX-License-Identifier: BSD-3-Clause */
/* order.h - in which order a node's ranks copy the blocks of an exchange. Pure integers: no memory
 * but the caller's, no MPI, no OS. The exchange is a p x p matrix of cells: cell (source, dest) is
 * the block that rank `source` has for rank `dest`.
 * An order cuts a walk over all cells into p parts of p cells; together the parts visit each cell
 * exactly once. */
#ifndef MORTAR_ORDER_H
#define MORTAR_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cell {
    uint32_t source, dest;
};

/* What is walked: rows x p cells, a row for each receiver (dest) and a column for each sender
 * (source), by `rows` workers. A whole exchange is square. A bunch, what one domain of memory sends
 * to another, has its own two sides. */
struct matrix {
    uint32_t p;
    /* [p] where each rank sits, counted from 0; NULL: all in one domain. Whole exchanges only. */
    const uint32_t *domain_of;
    const struct order *inner; /* how an order that nests walks its bunches; NULL: morton */
    uint32_t rows;             /* of a bunch; 0: p */
};
static inline uint32_t rows_of(const struct matrix *matrix) {
    return matrix->rows ? matrix->rows : matrix->p;
}

struct order {
    const char *name, *about;
    bool own_dest; /* every part writes only its own worker's receive buffer */
    bool nests;    /* is made of walks in another order, written name(inner) */
    /* Writes the p cells of one worker's part, 0 <= worker < rows, to cells[0 .. p-1]: source < p
     * and dest < rows. Local; time O(p log p), or O(p domains) with many domains; no memory but
     * cells[]. */
    void (*fill)(const struct matrix *matrix, uint32_t worker, struct cell *cells);
};

/* Block `out` of source's send buffer goes to block `in` of dest's receive buffer: the 4-tuple of
 * li2018 section 3. */
struct edge {
    uint32_t source, dest, out, in;
};
/* compact.c: sorts a neighbourhood's edges along the compact curve; two edges between the same
 * ranks by `out`, then `in`. Time O(count log count). */
void sort_compact(struct edge *edges, size_t count);

enum order_id {
#define ORDER(name, own_dest, nests, about) ORDER_##name,
#include "order/list.h"
#undef ORDER
    ORDERS
};
extern const struct order orders[ORDERS];

/* Which order: `inner` counts only where the order nests. */
struct walk {
    enum order_id order, inner;
};

#endif
