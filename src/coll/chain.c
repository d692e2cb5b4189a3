/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_chain - scan and exscan of short vectors: each rank waits for the one before it only, adds its own elements to what it
 * finds in that rank's box, and leaves the sum in its own box for the next. So ranks may run ahead of each other, as they do in the
 * linear scans of MPI libraries. Prefixes are bracketed from the left, ((a0 op a1) op a2) ..., whoever comes when.
 * Cost    no barrier; p combinations one after the other, but those of successive calls overlap.
 * Wins    where scans follow each other and there are no more ranks than boxes; where all ranks wait for the result `combine` has
 *         fewer steps. */
#include "coll/coll.h"

extern const struct algorithm_code algorithm_chain;

static bool can(const struct team *team, const struct shape *shape, const struct arguments *arguments) {
    (void)arguments;
    (void)team;
    return shape->bytes <= BOX_INSIDE;
}

/* EPYC virtual machine with 2 cores, 2026-11, `mortar bench scan`, back to back, 64 bytes: 1.9 us at 16 ranks (combine 16), but
 * 110 us at 64 (combine 100): what may be under way between neighbours is less than the chain is long. */
static double cost(const struct team *team, const struct shape *shape, const struct arguments *arguments) {
    (void)arguments;
    return (team->p <= BOXES ? 0.5 : 2) * team->sync_seconds + crowding(team) * 2 * combine_seconds(shape->bytes);
}

HOT static enum outcome run(struct team *team, const struct call *call, const struct arguments *arguments) {
    (void)arguments;
    const struct reduction *reduction = call->reduction;
    size_t bytes = reduction->bytes * reduction->count;
    if (bytes > BOX_INSIDE) return LEFT; /* elements with long gaps */
    bool exclusive = call->shape.collective == COLL_exscan;
    uint64_t op = box_next_op(team);
    _Alignas(64) char sum[BOX_INSIDE];
    memcpy(sum, call->send, bytes); /* in place, the next lines may write there */
    if (team->me > 0) {
        box_wait_for(team, team->me - 1, op, 0);
        struct box *before = box_of(team, team->me - 1, op, 0);
        if (exclusive) memcpy(call->recv, before->inside, bytes);
        reduction->combine(reduction, before->inside, sum, reduction->count);
        box_ack(team, before);
    }
    if (team->me < team->p - 1) {
        struct box *mine = box_wait_free(team, op, 0);
        memcpy(mine->inside, sum, bytes);
        box_publish(mine, op, 0, 1);
    }
    if (!exclusive) memcpy(call->recv, sum, bytes);
    return DONE;
}

const struct algorithm_code algorithm_chain = {.loose = true, .copies_in = true, .can = can, .cost = cost, .run = run};
