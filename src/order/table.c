/* SPDX-License-Identifier: BSD-3-Clause */
#include "order/order.h"

#define ORDER(name, own_dest, about) void order_##name(uint32_t p, uint32_t worker, struct cell *cells);
#include "order/list.h"
#undef ORDER

const struct order orders[ORDERS] = {
#define ORDER(name, own_dest, about) {#name, about, own_dest, order_##name},
#include "order/list.h"
#undef ORDER
};
