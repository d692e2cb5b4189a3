/* SPDX-License-Identifier: BSD-3-Clause */
/* heap_test.h - what the heap's test programs share. They are not linked with the heap: it is
 * preloaded, or it is not. */
#ifndef HEAP_TEST_H
#define HEAP_TEST_H

#include "heap/heap.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int failures;

static inline int heap_state(struct heap_region *region) {
    int (*ask)(struct heap_region *) = NULL;
    void *symbol = dlsym(RTLD_DEFAULT, "mortar_heap_region");
    memcpy(&ask, &symbol, sizeof ask); /* C has no cast from object to function pointer */
    return ask ? ask(region) : -1;
}

static inline const char *heap_why(void) {
    const char *(*ask)(void) = NULL;
    void *symbol = dlsym(RTLD_DEFAULT, "mortar_heap_why");
    memcpy(&ask, &symbol, sizeof ask);
    return ask ? ask() : "libmortar-heap.so is not loaded";
}

static inline bool in_region(const void *address) {
    struct heap_region region;
    if (heap_state(&region) != 0) return false;
    return (uintptr_t)address - (uintptr_t)region.base < region.bytes;
}

/* Of the region or adopted by it. */
static inline bool reachable(const void *address, size_t bytes) {
    struct heap_region region;
    if (heap_state(&region) != 0) return false;
    for (int i = 0; i < region.adopted_count; i++) {
        size_t at = (size_t)((const char *)address - region.adopted[i].start);
        if (at < region.adopted[i].bytes && bytes <= region.adopted[i].bytes - at) return true;
    }
    return in_region(address);
}

/* A failure is printed and counted; main returns failures > 0. */
static inline void expect(bool condition, const char *what) {
    if (condition) return;
    printf("FAIL: %s\n", what);
    fflush(stdout);
    failures++;
}

#endif
