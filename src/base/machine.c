/* SPDX-License-Identifier: BSD-3-Clause */
/* machine - processors, memory and time slices of this node. */
#define _GNU_SOURCE
#include "base/base.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

struct processors machine_processors(void) {
    struct processors set = {{0}};
    /* Fails if there are more processors than bits; then one processor is assumed. */
    if (sched_getaffinity(0, sizeof set, (cpu_set_t *)&set) != 0) set.bits[0] = 1;
    return set;
}

int processors_count(const struct processors *set) {
    int count = 0;
    for (size_t i = 0; i < sizeof set->bits / sizeof *set->bits; i++)
        count += __builtin_popcountll(set->bits[i]);
    return count;
}

size_t machine_memory(void) {
    return (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

/* The kernel's struct sched_attr, first version, for which libc has no wrapper. */
struct scheduling {
    uint32_t size, policy;
    uint64_t flags;
    int32_t nice;
    uint32_t priority;
    /* Nanoseconds. For a SCHED_OTHER thread, runtime is the slice. */
    uint64_t runtime, deadline, period;
};

void machine_short_slices(uint64_t microseconds) {
    struct scheduling now = {.size = sizeof now};
    if (microseconds == 0 || syscall(SYS_sched_getattr, 0, &now, sizeof now, 0) != 0 ||
        now.policy != SCHED_OTHER)
        return;
    now.runtime = microseconds * 1000;
    syscall(SYS_sched_setattr, 0, &now, 0); /* if refused, nothing changes */
}
