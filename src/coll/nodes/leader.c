/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_leader - all ranks of a node pack the blocks that leave it, leaders exchange them among
 * the nodes, all ranks unpack. leader(k, INNER): k leaders, each with as many blocks; they run
 * INNER, any routine that sends messages or the host MPI's own. Source: kumar2008 section 5
 * (leaders); li2018 sections 2.5 and 4.1.3 (topology-aware: all ranks pack and unpack).
 * Cost    2 barriers + 2 copies of what a rank sends and receives + INNER among the nodes, k times
 *         q / k of n p / nodes bytes.
 * Wins    short blocks, many ranks on a node: nodes - 1 messages leave a node for each leader. */
#include "coll/nodes/lanes.h"

extern const struct algorithm_code algorithm_leader;

static int leaders(const struct arguments *arguments) {
    return arguments->number ? (int)arguments->number : 1;
}

static bool leader_can(const struct figures *f, const struct calls *calls,
                       const struct arguments *arguments) {
    return lanes_can(f, calls, arguments, leaders(arguments));
}

static int leader_prepare(struct team *team, const struct arguments *arguments) {
    return lanes_prepare(team, arguments, leaders(arguments));
}

static double leader_cost(const struct figures *f, const struct shape *shape,
                          const struct arguments *arguments) {
    double inner = lanes_seconds(f, shape, arguments, leaders(arguments)),
           blocks = typical_blocks(f, shape);
    double packed = 1;
    if (is_personal(shape->collective)) packed = blocks < f->nodes ? blocks : f->nodes;
    if (inner >= 0 && among(shape->collective, ALLGATHERS))
        return inner + lanes_spread_copy(f, shape);
    return inner < 0 ? -1 : inner + lanes_copy(f, shape, packed) + lanes_copy(f, shape, blocks);
}

static enum outcome leader_run(struct team *team, const struct call *call,
                               const struct arguments *arguments) {
    return lanes_run(team, call, arguments, (struct scheme){EVENLY, leaders(arguments)});
}

static const char *const variants[] = {"leader(1, %s)", "leader(2, %s)", "leader(4, %s)", NULL};

const struct algorithm_code algorithm_leader = {.where = OVER_NODES,
                                                .copies_in = true,
                                                .any_layout = true,
                                                .asks = lanes_ask,
                                                .variants = variants,
                                                .can = leader_can,
                                                .prepare = leader_prepare,
                                                .cost = leader_cost,
                                                .run = leader_run};
