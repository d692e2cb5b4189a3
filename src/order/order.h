/* SPDX-License-Identifier: BSD-3-Clause */
/* order.h - the order in which a node's ranks copy the blocks of an exchange. Integers only: no
 * memory but the caller's, no MPI, no system calls. The exchange is a p x p matrix of cells: cell
 * (source, dest) is the block that rank `source` has for rank `dest`.
 * An order cuts a walk over all cells into p parts of p cells. Together the parts visit each cell
 * exactly once. */
#ifndef MORTAR_ORDER_H
#define MORTAR_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct cell {
    uint32_t source, dest;
};

/* The matrix that `rows` workers walk: a row for each receiver (dest), a column for each sender
 * (source). A whole exchange is a square. A bunch, which is what one memory domain sends to
 * another, is a rectangle. */
struct matrix {
    uint32_t p; /* columns */
    /* [p] the memory domain of each rank, from 0; NULL: one domain. For whole exchanges only. */
    const uint32_t *domain_of;
    const struct order *inner; /* for an order that nests: the order of its bunches; NULL: morton */
    uint32_t rows;             /* of a bunch; 0: p */
};
static inline uint32_t rows_of(const struct matrix *matrix) {
    return matrix->rows ? matrix->rows : matrix->p;
}

/* Block `out` of source's send buffer goes to block `in` of dest's receive buffer: the 4-tuple of
 * li2018 section 3. */
struct edge {
    uint32_t source, dest, out, in;
};
/* compact.c: sorts a neighbourhood's edges along the compact curve, and edges between the same two
 * ranks by `out`, then `in`. Time O(count log count). */
void sort_compact(struct edge *edges, size_t count);

/* Where a rank begins that goes through all p in turn: a permutation of 0 .. p-1 in which near
 * ranks are far from each other, van der Corput's sequence. Even numbers have places in the first
 * half, odd ones in the second, and so on within each. */
static inline uint32_t far_apart(uint32_t rank, uint32_t p) {
    uint32_t place = 0;
    for (; p > 1; rank /= 2) {
        uint32_t first = p - p / 2;
        place += rank % 2 ? first : 0;
        p = rank % 2 ? p / 2 : first;
    }
    return place;
}

struct order {
    const char *name, *about;
    bool own_dest; /* each worker writes only its own receive buffer */
    bool nests;    /* takes another order as its argument, written name(inner) */
    /* Writes the p cells of one worker's part, 0 <= worker < rows, to cells[0 .. p-1], with source
     * < p and dest < rows. Local; allocates nothing; time O(p log p), or O(p domains) with many
     * domains. */
    void (*fill)(const struct matrix *matrix, uint32_t worker, struct cell *cells);
    /* Moves one worker's part of a neighbourhood's edges to the front of `edges`, as it copies
     * them, and returns how many they are. The parts of all p workers are all edges. The matrix is
     * square; an order that nests has `compact` inside. NULL: each worker copies its own blocks
     * (rows), or the order does not walk neighbourhoods (walks_edges). Local; allocates nothing;
     * time O(count log count), or O(count domains) with many domains. */
    size_t (*part)(const struct matrix *matrix, uint32_t worker, struct edge *edges, size_t count);
};

enum order_id {
#define ORDER(name, own_dest, nests, part, about) ORDER_##name,
#include "order/list.h"
#undef ORDER
    ORDERS
};
extern const struct order orders[ORDERS];

/* An order and its argument; `inner` is ignored unless the order nests. */
struct walk {
    enum order_id order, inner;
};
/* Does this order walk the edges of a neighbourhood too? */
bool walks_edges(struct walk walk);

#endif
