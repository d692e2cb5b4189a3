/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_aggregate - send-side aggregation: the blocks of a node's ranks for one rank of another
 * node go to that rank in one message. Lane j carries the blocks for local rank j of every node.
 * All ranks pack for all lanes; a receiver gets only its own blocks, directly in its buffer if
 * those of a node's ranks are consecutive there. aggregate(INNER). Source: kumar2008 section 5;
 * there a rank waits only for what its own lane carries, here a barrier waits for all.
 * Cost    2 barriers + a copy of what a rank sends + INNER among the nodes on every lane, n q bytes
 *         from node to node.
 * Wins    blocks too long for one leader, or a network that wants all processors to send; q (nodes
 *         - 1) messages leave a node. */
#include "coll/nodes/lanes.h"

extern const struct algorithm_code algorithm_aggregate;

static bool aggregate_can(const struct figures *f, const struct calls *calls,
                          const struct arguments *arguments) {
    return lanes_can(f, calls, arguments, f->most);
}

static int aggregate_prepare(struct team *team, const struct arguments *arguments) {
    return lanes_prepare(team, arguments, team->places->most);
}

static double aggregate_cost(const struct figures *f, const struct shape *shape,
                             const struct arguments *arguments) {
    double inner = lanes_seconds(f, shape, arguments, f->most), blocks = typical_blocks(f, shape);
    if (inner < 0) return -1;
    return inner + lanes_copy(f, shape, blocks) + (f->in_order ? 0 : lanes_copy(f, shape, blocks));
}

static enum outcome aggregate_run(struct team *team, const struct call *call,
                                  const struct arguments *arguments) {
    return lanes_run(team, call, arguments, (struct scheme){BY_DEST, team->places->most});
}

static const char *const variants[] = {"aggregate(%s)", NULL};

const struct algorithm_code algorithm_aggregate = {.where = OVER_NODES,
                                                   .copies_in = true,
                                                   .any_layout = true,
                                                   .asks = lanes_ask,
                                                   .variants = variants,
                                                   .can = aggregate_can,
                                                   .prepare = aggregate_prepare,
                                                   .cost = aggregate_cost,
                                                   .run = aggregate_run};
