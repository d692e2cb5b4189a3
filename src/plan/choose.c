/* SPDX-License-Identifier: BSD-3-Clause */
/* choose - what to run when nobody said: the algorithm with the least expected cost. Buffers out of reach have to be copied twice;
 * from some size on the host MPI, which may have the kernel copy once (CMA), does better. */
#include "plan/plan.h"

/* Xeon (Sapphire Rapids) virtual machine with 2 cores, 2026-11, `mortar bench alltoall --buffers stack`, Open MPI 4.1 with CMA:
 * staging loses above 8 KiB at 2 ranks, 16-32 KiB at 4, 64 KiB at 8 and more. */
bool staging_pays(const struct team *team, const struct shape *shape) {
    return shape->bytes < (size_t)(team->p < 8 ? team->p : 8) << 13;
}

void plan_choose(const struct team *team, const struct shape *shape, bool in_reach, struct plan *plan) {
    char why[128];
    const struct algorithm *best = &algorithms[ALGORITHM_native];
    double least = 0;
    for (int a = 0; a < ALGORITHMS && in_reach; a++) {
        const struct algorithm_code *code = algorithms[a].code;
        if (!code->cost || !(algorithms[a].collectives >> shape->collective & 1)) continue;
        if (code->can && !code->can(team, shape)) continue;
        double cost = code->cost(team, shape);
        if (best->code->run && cost >= least) continue;
        best = &algorithms[a];
        least = cost;
    }
    if (!in_reach && staging_pays(team, shape)) best = &algorithms[ALGORITHM_cico];
    plan_parse(best->name, plan, why, sizeof why);
    if (!best->code->run) plan->reason = "buffers outside the shared heap: the host MPI copies blocks of this size faster";
}
