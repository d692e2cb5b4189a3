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
#define COLLECTIVE(name, about) #name,
#include "coll/collectives.h"
#undef COLLECTIVE
};
