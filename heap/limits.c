/* SPDX-License-Identifier: BSD-3-Clause */
/* limits - setrlimit and the like, by which a program, or a shell that is about to start one, takes
 * memory away from itself: what the region reserves counts, and what jemalloc keeps. What another
 * process does by prlimit cannot be seen. */
#define _GNU_SOURCE
#include "heap/blocks.h"
#include "heap/jemalloc.h"
#include "heap/next.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

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

/* Pages of data, the sixth number of /proc/self/statm; 0: not known. By system calls, because
 * malloc is no place where a thread may be cancelled. */
static size_t data_pages(void) {
    char text[256];
    long fd = syscall(SYS_openat, AT_FDCWD, "/proc/self/statm", O_RDONLY | O_CLOEXEC);
    long got = fd >= 0 ? syscall(SYS_read, fd, text, sizeof text) : 0;
    if (fd >= 0) syscall(SYS_close, fd);
    size_t number = 0;
    int spaces = 0;
    for (long i = 0; i < got && spaces < 6; i++) {
        if (text[i] == ' ') spaces++;
        else if (spaces == 5) number = 10 * number + (size_t)(text[i] - '0');
    }
    return number;
}

bool limit_allows(size_t bytes) {
    enum { tables = 16 << 20 };
    struct rlimit data;
    if (getrlimit(RLIMIT_DATA, &data) != 0 || data.rlim_cur == RLIM_INFINITY) return true;
    return data_pages() * region.page + bytes + tables <= data.rlim_cur;
}
