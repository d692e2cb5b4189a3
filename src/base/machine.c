/* SPDX-License-Identifier: BSD-3-Clause */
/* machine - processors. */
#define _GNU_SOURCE
#include "base/base.h"

#include <sched.h>

struct processors machine_processors(void) {
    struct processors set = {{0}};
    /* The kernel's bit set is one of longs. More processors than bits: the call fails and one processor is assumed. */
    if (sched_getaffinity(0, sizeof set, (cpu_set_t *)&set) != 0) set.bits[0] = 1;
    return set;
}

int processors_count(const struct processors *set) {
    int count = 0;
    for (size_t i = 0; i < sizeof set->bits / sizeof *set->bits; i++) count += __builtin_popcountll(set->bits[i]);
    return count;
}
