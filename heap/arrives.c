/* SPDX-License-Identifier: BSD-3-Clause */
/* arrives - whether the program's calls of malloc arrive at ours. An executable may define malloc,
 * calloc, realloc and free, on the C library's own (__libc_malloc), say, to count its blocks; the
 * GNU C library asks for no more. The rest of the family is the C library's then, without mortar,
 * and knows such blocks. Ours would take them for its own. */
#define _GNU_SOURCE
#include "heap/jemalloc.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* While this thread tries it out: what it has had of our malloc, ever, and before. volatile: the
 * compiler believes the C library's headers, that malloc calls nothing in this file. */
static __thread const uint64_t *volatile taken;
static __thread volatile uint64_t taken_before;

/* Calls malloc and looks whether that took anything here. The executable's malloc may well call on,
 * and arrive all the same. One that asks for the size of each block comes here meanwhile. */
static bool arrives(void) {
    enum { unknown, here, elsewhere };
    static atomic_int known;
    int answer = atomic_load_explicit(&known, memory_order_relaxed);
    if (answer != unknown) return answer == here;
    if (taken) return *taken != taken_before;
    uint64_t *count;
    size_t size = sizeof count;
    if (mallctl("thread.allocatedp", &count, &size, NULL, 0) != 0) return true;
    taken_before = *count;
    taken = count;
    void *volatile block = malloc(1);
    answer = *count != taken_before ? here : elsewhere;
    free(block);
    taken = NULL;
    atomic_store_explicit(&known, answer, memory_order_relaxed);
    return answer == here;
}

void (*instead(const char *name))(void) {
    return arrives() ? NULL : (void (*)(void))dlsym(RTLD_NEXT, name);
}
