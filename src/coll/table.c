/* SPDX-License-Identifier: BSD-3-Clause */
#include "coll/coll.h"

#define ALGORITHM(name, collectives, takes, about) extern const struct algorithm_code algorithm_##name;
#include "coll/list.h"
#undef ALGORITHM

const struct algorithm algorithms[ALGORITHMS] = {
#define ALGORITHM(name, collectives, takes, about) {#name, takes, about, collectives, &algorithm_##name},
#include "coll/list.h"
#undef ALGORITHM
};

const char *const collective_names[COLLECTIVES] = {
#define COLLECTIVE(name, ...) #name,
#include "coll/collectives.h"
#undef COLLECTIVE
};

/* Looks at all calls that the planner has one plan for. */
static bool fits(const struct algorithm *algorithm, const struct arguments *arguments, const struct team *team,
                 const struct calls *calls) {
    const struct algorithm_code *code = algorithm->code;
    const bool there[] = {[ON_NODE] = !team->wire, [BY_MESSAGES] = team->wire, [OVER_NODES] = team->places};
    if (!among(calls->largest.collective, algorithm->collectives) || (code->run && !there[code->where])) return false;
    return !code->can || code->can(team, calls, arguments);
}

bool can_run(const struct algorithm *algorithm, const struct arguments *arguments, const struct team *team,
             const struct shape *shape) {
    struct calls calls = calls_of(shape);
    return fits(algorithm, arguments, team, &calls);
}

bool routine_fits(const struct routine *routine, const struct team *team, const struct calls *calls) {
    return fits(routine->algorithm, &routine->arguments, team, calls);
}
