/* SPDX-License-Identifier: BSD-3-Clause */
/* limits - setrlimit and the like, by which a program, or a shell that is about to start one, takes
 * memory away from itself: what the region reserves counts, and what jemalloc keeps. What another
 * process does by prlimit cannot be seen. */
#define _GNU_SOURCE
#include "heap/blocks.h"
#include "heap/jemalloc.h"
#include "heap/next.h"

#include <sys/resource.h>
#include <sys/types.h>

static void follow(__rlimit_resource_t resource) {
    if (resource == RLIMIT_AS) region_fit();
    if (resource == RLIMIT_AS || resource == RLIMIT_DATA) heed_limits();
}

int prlimit(pid_t pid, __rlimit_resource_t resource, const struct rlimit *limit,
            struct rlimit *old) {
    begin();
    int result = next.prlimit(pid, resource, limit, old);
    if (result == 0 && limit) follow(resource);
    return result;
}

int setrlimit(__rlimit_resource_t resource, const struct rlimit *limit) {
    begin();
    int result = next.setrlimit(resource, limit);
    if (result == 0) follow(resource);
    return result;
}

/* With 64 bits they are the same. */
_Static_assert(sizeof(struct rlimit) == sizeof(struct rlimit64), "limits have 64 bits");

int prlimit64(pid_t pid, __rlimit_resource_t resource, const struct rlimit64 *limit,
              struct rlimit64 *old) {
    return prlimit(pid, resource, (const struct rlimit *)(const void *)limit,
                   (struct rlimit *)(void *)old);
}

int setrlimit64(__rlimit_resource_t resource, const struct rlimit64 *limit) {
    return setrlimit(resource, (const struct rlimit *)(const void *)limit);
}
