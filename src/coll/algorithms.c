/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithms - the tables of algorithms and of collectives, and whether an algorithm can run. */
#include "coll/coll.h"

#define ALGORITHM(name, collectives, takes, about)                                                 \
    extern const struct algorithm_code algorithm_##name;
#include "coll/list.h"
#undef ALGORITHM

const struct algorithm algorithms[ALGORITHMS] = {
#define ALGORITHM(name, collectives, takes, about)                                                 \
    {#name, takes, about, collectives, &algorithm_##name},
#include "coll/list.h"
#undef ALGORITHM
};

_Static_assert((int)ALGORITHMS <= (int)most_shared, "a pointer for each in struct team");
const int shared_count = ALGORITHMS;
struct shared shared_wanted(int which) { return algorithms[which].code->shared; }

/* Asks about all calls that share one plan. */
static bool table_fits(const struct algorithm *algorithm, const struct arguments *arguments,
                       const struct figures *f, const struct calls *calls) {
    const struct algorithm_code *code = algorithm->code;
    bool there = code->where == f->where || (code->where == BY_MESSAGES && f->where == OVER_NODES);
    if (!among(calls->largest.collective, algorithm->collectives) || (code->run && !there))
        return false;
    return !code->can || code->can(f, calls, arguments);
}

bool can_run(const struct algorithm *algorithm, const struct arguments *arguments,
             const struct figures *f, const struct shape *shape) {
    struct calls calls = calls_of(shape);
    return table_fits(algorithm, arguments, f, &calls);
}

bool routine_fits(const struct routine *routine, const struct figures *f,
                  const struct calls *calls) {
    return table_fits(routine->algorithm, &routine->arguments, f, calls);
}
