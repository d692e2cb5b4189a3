/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_dissemination - a barrier: in step k each rank signals rank + 2^k and waits for rank -
 * 2^k.
 * Cost    ceil(log2 p) (L + 2 o). */
#include "coll/coll.h"

extern const struct algorithm_code algorithm_dissemination;

static double dissemination_cost(const struct figures *f, const struct shape *shape,
                                 const struct arguments *arguments) {
    (void)arguments;
    int steps = 0;
    while (1 << steps < f->p) steps++;
    return steps_seconds(f, shape, steps, 1);
}

static enum outcome dissemination_run(struct team *team, const struct call *call,
                                      const struct arguments *arguments) {
    (void)arguments;
    int p = team->p, me = team->me;
    char told = 1, heard;
    far_begin(team, call, false);
    for (int far = 1, tag = 0; far < p; far *= 2, tag ^= 1) {
        int mark = messages_mark(team);
        message_recv(team, (me + p - far) % p, &heard, 1, tag);
        message_send(team, (me + far) % p, &told, 1, tag);
        messages_finish(team, mark);
    }
    return far_end(team);
}

const struct algorithm_code algorithm_dissemination = {
    .where = BY_MESSAGES, .cost = dissemination_cost, .run = dissemination_run};
