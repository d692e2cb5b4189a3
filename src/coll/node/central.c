/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_central - the team's own barrier: one counter, a tree of them, or none (reach/sync.c).
 * Cost    one barrier. */
#include "coll/coll.h"

extern const struct algorithm_code algorithm_central;

static double central_cost(const struct figures *f, const struct shape *shape,
                           const struct arguments *arguments) {
    (void)arguments;
    (void)shape;
    return f->sync_seconds;
}

HOT static enum outcome central_run(struct team *team, const struct call *call,
                                    const struct arguments *arguments) {
    (void)call, (void)arguments;
    sync_all(team, 0);
    return DONE;
}

SHORT_WAY static uint32_t before(struct team *team, const struct call *call,
                                 const struct arguments *arguments) {
    (void)team, (void)call, (void)arguments;
    return 0;
}

SHORT_WAY static enum outcome after(struct team *team, const struct call *call,
                                    const struct arguments *arguments, uint32_t half,
                                    uint32_t trouble) {
    (void)team, (void)call, (void)arguments, (void)half, (void)trouble;
    return DONE;
}

static const struct single single = {.before = before, .after = after};
const struct algorithm_code algorithm_central = {
    .cost = central_cost, .run = central_run, .singles = {&single}};
