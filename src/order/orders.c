/* SPDX-License-Identifier: BSD-3-Clause */
/* orders - the table of orders. */
#include "order/order.h"

size_t part_columns(const struct matrix *matrix, uint32_t worker, struct edge *edges, size_t count);
size_t part_compact(const struct matrix *matrix, uint32_t worker, struct edge *edges, size_t count);
size_t part_numa(const struct matrix *matrix, uint32_t worker, struct edge *edges, size_t count);

#define ORDER(name, own_dest, nests, part, about)                                                  \
    void order_##name(const struct matrix *matrix, uint32_t worker, struct cell *cells);
#include "order/list.h"
#undef ORDER

const struct order orders[ORDERS] = {
#define ORDER(name, own_dest, nests, part, about)                                                  \
    {#name, about, own_dest, nests, order_##name, part},
#include "order/list.h"
#undef ORDER
};

bool walks_edges(struct walk walk) {
    const struct order *order = &orders[walk.order];
    if (order->nests && walk.inner != ORDER_compact) return false;
    return walk.order == ORDER_rows || order->part;
}
