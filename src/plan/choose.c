/* SPDX-License-Identifier: BSD-3-Clause */
/* choose - what to run when nobody said. */
#include "plan/plan.h"

void plan_choose(const struct team *team, const struct shape *shape, struct plan *plan) {
    char why[128];
    (void)team;
    plan_parse(shape->bytes <= 512 ? "cico" : "pull(rows)", plan, why, sizeof why);
}
