/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_mnco - the cache-oblivious alltoall among nodes (li2018 section 2.5: MN-CO), for any
 * number of ranks. The matrix of senders and receivers is cut into tiles, each with an owner
 * (owners.c). A rank (1) sends each owner in its row of tiles one message with its blocks for that
 * tile's receivers. As an owner it (2) transposes the tile in Morton order and (3) sends each
 * receiver the blocks of all the tile's senders. mnco(rows), mnco(morton): how tiles are assigned
 * to owners.
 *
 * An allgather among nodes: gathers.c.
 *
 * A receiver knows the sizes that owners send it. If an owner does not know the sizes that senders
 * send it, they travel with the blocks (parcels.h).
 * Cost    2 (L + sqrt p 2 o + p n beta), copies of p n; about 2 sqrt p messages; scratch 2 p n.
 * Wins    short blocks on many ranks, where the network carries many messages at once. */
#include "coll/flat/gathers.h"
#include "coll/flat/trade.h"

extern const struct algorithm_code algorithm_mnco;

static enum outcome mnco_run(struct team *team, const struct call *call,
                             const struct arguments *arguments) {
    if (!is_personal(call->shape.collective)) return gather_grid(team, call);
    struct trade t = {.team = team, .call = call, .p = team->p, .me = team->me};
    if (!trade_open(&t, arguments->owners)) return LEFT;
    far_begin(team, call, false);
    int mark = messages_mark(team);
    /* In place the receives of phase 3 write where phase 1 still reads. */
    if (!call->in_place) trade_expect(&t);
    trade_gather(&t);
    if (call->in_place) trade_expect(&t);
    trade_transpose(&t);
    if (t.owner) trade_send(&t);
    messages_finish(team, mark);
    trade_spread(&t);
    return far_end(team);
}

/* An allgather has nothing to transpose. */
static bool mnco_can(const struct figures *f, const struct calls *calls,
                     const struct arguments *arguments) {
    (void)f;
    return is_personal(calls->largest.collective) || arguments->owners == OWNERS_rows;
}

static double mnco_cost(const struct figures *f, const struct shape *shape,
                        const struct arguments *arguments) {
    (void)arguments;
    if (!is_personal(shape->collective)) return gather_grid_cost(f, shape);
    int rows, columns;
    tiling_sides(f->p, &rows, &columns);
    double p = f->p, senders = p / rows, receivers = p / columns, n = (double)shape->bytes;
    double first = senders > columns ? senders : columns;
    double second = receivers > rows ? receivers : rows;
    return burst_seconds(f, shape, first, p * n / first) + copy_seconds(f, p, shape->bytes) +
           burst_seconds(f, shape, second, p * n / second);
}

static const char *const variants[] = {"mnco(rows)", "mnco(morton)", NULL};

const struct algorithm_code algorithm_mnco = {.where = BY_MESSAGES,
                                              .loose = true,
                                              .copies_in = true,
                                              .variants = variants,
                                              .can = mnco_can,
                                              .cost = mnco_cost,
                                              .run = mnco_run};
