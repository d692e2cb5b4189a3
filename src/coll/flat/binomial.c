/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_binomial - broadcast along a binomial tree: a rank that has the block sends it to the
 * rank half the remaining distance away.
 * Cost    ceil(log2 p) (L + 2 o + n beta);  scratch none.
 * Wins    short blocks. */
#include "coll/coll.h"

extern const struct algorithm_code algorithm_binomial;

enum { TAG };

static double binomial_cost(const struct figures *f, const struct shape *shape,
                            const struct arguments *arguments) {
    (void)arguments;
    int steps = 0;
    while (1 << steps < f->p) steps++;
    return steps_seconds(f, shape, steps, (double)shape->bytes);
}

static enum outcome binomial_run(struct team *team, const struct call *call,
                                 const struct arguments *arguments) {
    (void)arguments;
    int p = team->p, me = (team->me + p - call->root) % p, bit = 1, mark = messages_mark(team);
    struct run run = run_of(me == 0 ? call->sends : call->recvs, 0);
    far_begin(team, call, false);
    while (bit < p && !(me & bit)) bit *= 2;
    if (me > 0) message_recv(team, (me - bit + call->root) % p, run.at, run.bytes, TAG);
    messages_finish(team, mark);
    for (bit /= 2; bit > 0; bit /= 2)
        if (me + bit < p) message_send(team, (me + bit + call->root) % p, run.at, run.bytes, TAG);
    messages_finish(team, mark);
    return far_end(team);
}

const struct algorithm_code algorithm_binomial = {
    .where = BY_MESSAGES, .loose = true, .cost = binomial_cost, .run = binomial_run};
