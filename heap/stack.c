/* SPDX-License-Identifier: BSD-3-Clause */
/* stack - pthread_getattr_np, by which runtimes and garbage collectors learn where the stack of the
 * thread that began with main lies. The C library takes the mapping that holds main's frames for
 * all of it that there can be, up to the next one below. What has moved is such a next one. */
#define _GNU_SOURCE
#include "heap/blocks.h"
#include "heap/moved.h"
#include "heap/next.h"

#include <errno.h>
#include <pthread.h>
#include <sys/resource.h>

/* As the C library reckons, with all mappings of the stack for one. */
static void make_whole(pthread_attr_t *attributes) {
    uintptr_t first = (uintptr_t)__libc_stack_end, top;
    struct below stack;
    struct rlimit limit;
    void *start;
    size_t bytes;
    pthread_attr_getstack(attributes, &start, &bytes);
    top = (uintptr_t)start + bytes;
    if (first - (uintptr_t)start >= bytes) return; /* another thread's */
    if (!mappings_below(first, &stack) || getrlimit(RLIMIT_STACK, &limit) != 0) return;
    bytes = (limit.rlim_cur - (stack.end - top)) & ~(region.page - 1);
    if (bytes > top - stack.other_end) bytes = top - stack.other_end;
    pthread_attr_setstack(attributes, (void *)(top - bytes), bytes);
}

int pthread_getattr_np(pthread_t thread, pthread_attr_t *attributes) {
    begin();
    int saved = errno, error = next.pthread_getattr_np(thread, attributes);
    if (error == 0 && place_has_stack()) {
        make_whole(attributes);
        errno = saved;
    }
    return error;
}
