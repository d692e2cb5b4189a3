/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_distribute - receive-side distribution: a rank's blocks for all ranks of another node
 * go there in one message, directly from its buffer if those blocks are consecutive. Lane i carries
 * the blocks of local rank i of every node. They arrive in the node's shared memory, from which
 * each rank copies its own. distribute(INNER). Source: kumar2008 section 5.
 * Cost    2 barriers + a copy of what a rank receives + INNER among the nodes on every lane, n q
 *         bytes from node to node.
 * Wins    where aggregate does, if packing is expensive; q (nodes - 1) messages leave a node. An
 *         allgather sends every block to each other node once, on all lanes together. */
#include "coll/nodes/lanes.h"

extern const struct algorithm_code algorithm_distribute;

static bool distribute_can(const struct figures *f, const struct calls *calls,
                           const struct arguments *arguments) {
    return lanes_can(f, calls, arguments, f->most);
}

static int distribute_prepare(struct team *team, const struct arguments *arguments) {
    return lanes_prepare(team, arguments, team->places->most);
}

static double distribute_cost(const struct figures *f, const struct shape *shape,
                              const struct arguments *arguments) {
    double inner = lanes_seconds(f, shape, arguments, f->most), blocks = typical_blocks(f, shape);
    bool packs = is_personal(shape->collective) && !f->in_order;
    if (inner >= 0 && among(shape->collective, ALLGATHERS))
        return inner + lanes_spread_copy(f, shape);
    if (inner < 0) return -1;
    return inner + lanes_copy(f, shape, blocks) + (packs ? lanes_copy(f, shape, blocks) : 0);
}

static enum outcome distribute_run(struct team *team, const struct call *call,
                                   const struct arguments *arguments) {
    return lanes_run(team, call, arguments, (struct scheme){BY_SOURCE, team->places->most});
}

static const char *const variants[] = {"distribute(%s)", NULL};

const struct algorithm_code algorithm_distribute = {.where = OVER_NODES,
                                                    .copies_in = true,
                                                    .any_layout = true,
                                                    .asks = lanes_ask,
                                                    .variants = variants,
                                                    .can = distribute_can,
                                                    .prepare = distribute_prepare,
                                                    .cost = distribute_cost,
                                                    .run = distribute_run};
