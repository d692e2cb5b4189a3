/* SPDX-License-Identifier: BSD-3-Clause */
/* choose - the model's choice: the first of the candidates. Buffers out of reach must be copied
 * twice; above some size the host MPI is faster, since it may let the kernel copy once (CMA). */
#include "plan/plan.h"

#include "plan/learn.h"

/* Xeon (Sapphire Rapids) virtual machine with 2 cores, 2026-11, `mortar bench alltoall --buffers
 * outside`, Open MPI 4.1 with CMA: staging loses above 8 KiB at 2 ranks, 16-32 KiB at 4, 64 KiB at
 * 8 and more. */
bool staging_pays(const struct figures *f, const struct shape *shape) {
    return shape->bytes < (size_t)(f->p < 8 ? f->p : 8) << 13;
}

static bool path_works(struct team *team) {
    bool works = false;
    for (int path = 0; path < PATHS && !works; path++)
        works = paths[path].code->open && team_path(team, path) == 0;
    return works;
}

/* With posted buffers out of reach a plan that names a path needs a path that works between these
 * ranks. A plan that names none stages; above the size up to which staging pays, it serves only if
 * some path works, for otherwise the MPI library may have a way of its own. */
static bool serves(struct team *team, const struct shape *shape, bool in_reach,
                   const struct candidate *candidate) {
    if (in_reach || team->figures.where != ON_NODE || !among(shape->collective, POSTED))
        return true;
    if (candidate->path) return team_path(team, candidate->path) == 0;
    return staging_pays(&team->figures, shape) || path_works(team);
}

/* The default network figures may be far from the real ones: if trials follow, the host MPI starts
 * as the incumbent and the model's choice is a rival. */
static bool begins_native(const struct figures *f) {
    enum learn_mode mode = learn_mode();
    return f->where != ON_NODE && !f->network.measured &&
           (mode == LEARN_WATCH || mode == LEARN_ONLINE);
}

/* vector_exchange handles buffers out of reach by itself, but stages long blocks in rounds. */
static bool host_copies_faster(const struct figures *f, const struct shape *shape, bool in_reach) {
    bool parts = is_vector(shape->collective) && !among(shape->collective, NEIGHBORS);
    return f->where == ON_NODE && !in_reach && parts && !f->shares && !staging_pays(f, shape);
}

void plan_choose(struct team *team, const struct shape *shape, bool in_reach, struct plan *plan) {
    const struct figures *f = &team->figures;
    struct candidate *list = plan_room(team);
    const char *text = "native";
    int count = plan_candidates(f, shape, in_reach, list);
    bool waits = begins_native(f), yields = host_copies_faster(f, shape, in_reach);
    for (int i = 0; i < count && !waits && !yields; i++) {
        if (list[i].seconds < 0 || !serves(team, shape, in_reach, &list[i])) continue;
        text = list[i].text;
        break; /* paths of plans that are not chosen stay untried */
    }
    plan_parse(text, plan, NULL, 0);
    if (plan->algorithm->code->run) return;
    if (count == 1) {
        bool ample = f->where != OVER_NODES || f->node->space_ample;
        plan->reason = ample ? "mortar has no algorithm for it" : few_addresses_why;
    } else if (waits)
        plan->reason =
            "nobody has measured this network (mortar bench network): plans have to win trials first";
    else
        plan->reason =
            "buffers outside the shared heap: the host MPI copies blocks of this size faster";
}
