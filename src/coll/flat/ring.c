/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_ring - in each of p - 1 steps a rank sends the block that it received last to the next
 * rank (li2018 section 4.1.3, its rival [31]).
 * Cost    (p - 1) (L + 2 o) + (p - 1) n beta;  scratch none if the blocks lie back to back.
 * Wins    long blocks: every byte crosses each link once. */
#include "coll/flat/gathers.h"

extern const struct algorithm_code algorithm_ring;

static double ring_cost(const struct figures *f, const struct shape *shape,
                        const struct arguments *arguments) {
    (void)arguments;
    return steps_seconds(f, shape, f->p - 1, (double)shape->bytes);
}

static enum outcome ring_run(struct team *team, const struct call *call,
                             const struct arguments *arguments) {
    (void)arguments;
    struct gathering g;
    int p = team->p, me = team->me;
    if (!gathering_begin(&g, team, call)) return LEFT;
    for (int k = 1; k < p; k++) {
        int mark = messages_mark(team), theirs = (me + p - k) % p;
        gathering_recv(&g, (me + p - 1) % p, theirs, 1, 0);
        gathering_send(&g, (me + 1) % p, theirs + 1, 1, 0);
        gathering_finish(&g, mark);
        gathering_came(&g, theirs, 1);
    }
    return gathering_end(&g);
}

const struct algorithm_code algorithm_ring = {
    .where = BY_MESSAGES, .loose = true, .copies_in = true, .cost = ring_cost, .run = ring_run};
