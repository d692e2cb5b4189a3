/* SPDX-License-Identifier: BSD-3-Clause */
/* orders - the table of orders. */
#include "order/order.h"

#define ORDER(name, own_dest, nests, about)                                                        \
    void order_##name(const struct matrix *matrix, uint32_t worker, struct cell *cells);
#include "order/list.h"
#undef ORDER

const struct order orders[ORDERS] = {
#define ORDER(name, own_dest, nests, about) {#name, about, own_dest, nests, order_##name},
#include "order/list.h"
#undef ORDER
};
