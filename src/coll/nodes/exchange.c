/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_exchange - blocks within a node by a node-local routine, all others by messages between
 * all ranks: exchange(INNER, LOCAL). INNER runs on all ranks, with 0 bytes, and so no message,
 * between two ranks of one node. Source: ramesh2024 section V-F (algorithm 5: HINT's pull in the
 * node, pairwise exchange beyond it).
 * Cost    LOCAL's in the node + INNER's, p - q blocks instead of p; scratch none.
 * Wins    long blocks: they are not copied on the way to another node. */
#include "coll/coll.h"

#include <errno.h>

extern const struct algorithm_code algorithm_exchange;

/* The counts and displacements of the two calls that a call is split into, allocated by prepare. */
struct lists {
    /* [0 sent, 1 received][p] of INNER. */
    int64_t *counts[2], *displs[2];
    /* [0 sent, 1 received][q] of LOCAL. */
    int64_t *near_counts[2], *near_displs[2];
};

static struct lists lists_of(struct team *team) {
    size_t p = (size_t)team->p, q = (size_t)team->node->p;
    bool fresh;
    int64_t *at = team_keeps(team, &algorithm_exchange, 0, 4 * (p + q) * sizeof *at, &fresh);
    if (!at) return (struct lists){0};
    return (struct lists){{at, at + p},
                          {at + 2 * p, at + 3 * p},
                          {at + 4 * p, at + 4 * p + q},
                          {at + 4 * p + 2 * q, at + 4 * p + 3 * q}};
}

static enum collective exchange_asks(enum collective collective) {
    (void)collective;
    return COLL_alltoallv;
}

static struct shape exchange_inner_shape(const struct shape *shape) {
    struct shape inner = *shape;
    inner.collective = COLL_alltoallv;
    inner.unsized = shape->collective != COLL_alltoall;
    return inner;
}

static bool exchange_can(const struct figures *f, const struct calls *calls,
                         const struct arguments *arguments) {
    struct calls inner = {.largest = exchange_inner_shape(&calls->largest)},
                 local = {.largest = {.collective = COLL_alltoallv,
                                      .bytes = calls->largest.bytes,
                                      .unsized = true}};
    return arguments->inner && arguments->local &&
           inside_counts(arguments, (double)calls->largest.bytes * f->p) &&
           routine_fits(arguments->inner, f, &inner) &&
           routine_fits(arguments->local, f->node, &local);
}

static int exchange_prepare(struct team *team, const struct arguments *arguments) {
    if (!messages_agree(team, lists_of(team).counts[0] != NULL)) return -ENOMEM;
    int error = routine_prepare(arguments->local, team->node),
        last = routine_prepare(arguments->inner, team);
    return messages_agree(team, error == 0 && last == 0) ? 0 : -EIO;
}

static double exchange_cost(const struct figures *f, const struct shape *shape,
                            const struct arguments *arguments) {
    struct shape inner = exchange_inner_shape(shape),
                 local = {.collective = COLL_alltoallv, .bytes = shape->bytes, .unsized = true};
    double across = routine_cost(arguments->inner, f, &inner),
           near = routine_cost(arguments->local, f->node, &local);
    return across < 0 || near < 0 ? -1 : near + across * (f->p - f->node->p) / (f->p - 1);
}

/* ---- run ---- */

/* Splits one side into blocks that stay on the node and blocks that do not. */
static void exchange_part(const struct team *team, struct blocks *far, struct blocks *near,
                          const struct blocks *all, const struct lists *lists, int side) {
    const struct places *places = team->places;
    int home = places->node_of[team->me];
    for (int r = 0; r < team->p; r++) {
        struct run run = run_of(all, r);
        bool stays = places->node_of[r] == home;
        lists->counts[side][r] = stays ? 0 : (int64_t)run.bytes;
        lists->displs[side][r] = run.at - all->base;
        if (!stays) continue;
        lists->near_counts[side][places->local_of[r]] = (int64_t)run.bytes;
        lists->near_displs[side][places->local_of[r]] = run.at - all->base;
    }
    *far = byte_runs(all->base, team->p, lists->counts[side], lists->displs[side]);
    *near = *far;
    near->count = team->node->p;
    near->counts = lists->near_counts[side];
    near->displs = lists->near_displs[side];
}

static size_t exchange_bytes_between(const struct call *call, int source, int dest) {
    const struct places *places = call->asker;
    return places->node_of[source] == places->node_of[dest] ? 0 : call->shape.bytes;
}

static enum outcome exchange_run(struct team *team, const struct call *call,
                                 const struct arguments *arguments) {
    const struct lists lists = lists_of(team);
    struct blocks sends, recvs, far[2], near[2];
    sides_of(team, call, &sends, &recvs);
    exchange_part(team, &far[0], &near[0], &sends, &lists, 0);
    exchange_part(team, &far[1], &near[1], &recvs, &lists, 1);
    struct call local = {
        .shape = {.collective = COLL_alltoallv, .bytes = call->shape.bytes, .unsized = true},
        .sends = &near[0],
        .recvs = &near[1],
        .trouble = call->trouble & LEAVE};
    struct call across = {.shape = exchange_inner_shape(&call->shape),
                          .sends = &far[0],
                          .recvs = &far[1],
                          .asker = team->places};
    across.trouble = local.trouble;
    if (call->shape.collective == COLL_alltoall) across.bytes_between = exchange_bytes_between;
    enum outcome here = routine_run(arguments->local, team->node, &local),
                 there = routine_run(arguments->inner, team, &across);
    return (here == DONE || here == STAGED || here == STAGED_SOON) && there == DONE ? DONE : FAILED;
}

static const char *const variants[] = {"exchange(pairwise, pull(rows, plain))",
                                       "exchange(direct(32), pull(rows, plain))", NULL};

const struct algorithm_code algorithm_exchange = {.where = OVER_NODES,
                                                  .asks = exchange_asks,
                                                  .variants = variants,
                                                  .can = exchange_can,
                                                  .prepare = exchange_prepare,
                                                  .cost = exchange_cost,
                                                  .run = exchange_run};
