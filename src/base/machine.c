/* SPDX-License-Identifier: BSD-3-Clause */
/* machine - processors, memory and time slices of this node. */
#define _GNU_SOURCE
#include "base/base.h"

#include <fcntl.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

struct processors machine_processors(void) {
    struct processors set = {{0}};
    /* Fails if there are more processors than bits; then one processor is assumed. */
    if (sched_getaffinity(0, sizeof set, (cpu_set_t *)&set) != 0) set.bits[0] = 1;
    return set;
}

int machine_online(void) {
    static _Atomic int online;
    int known = atomic_load_explicit(&online, memory_order_relaxed);
    if (known == 0) atomic_store(&online, known = (int)sysconf(_SC_NPROCESSORS_ONLN));
    return known;
}

uint64_t machine_name_space(void) {
    struct stat facts;
    return stat("/proc/self/ns/pid", &facts) == 0 ? (uint64_t)facts.st_ino : 0;
}

uint64_t machine_node(void) {
    char host[256] = "", boot[64] = "";
    int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
    bool known = fd >= 0 && read(fd, boot, sizeof boot - 1) > 0;
    if (fd >= 0) close(fd);
    if (!known || gethostname(host, sizeof host - 1) != 0) return 0;
    return hash_text(hash_text(HASH_START, host), boot);
}

uint64_t machine_place(void) {
    uint64_t node = machine_node(), space = machine_name_space();
    return node && space ? node ^ space : 0;
}

size_t machine_memory(void) {
    return (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

void machine_leave_processor(void) {
    cpu_set_t all, others;
    int here = sched_getcpu();
    if (here < 0 || sched_getaffinity(0, sizeof all, &all) != 0) return;
    others = all;
    CPU_CLR((size_t)here, &others);
    if (CPU_COUNT(&others) == 0 || sched_setaffinity(0, sizeof others, &others) != 0) return;
    sched_setaffinity(0, sizeof all, &all);
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
