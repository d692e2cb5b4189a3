/* SPDX-License-Identifier: BSD-3-Clause */
/* heap - the functions of libmortar-heap.so besides jemalloc's malloc family, and jemalloc's
 * settings. */
#define _GNU_SOURCE
#include "heap/heap.h"

#include "heap/adopt.h"
#include "heap/region.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <unistd.h>

/* jemalloc reads this before its first allocation. dss: off, because the program break is private
 * memory. background_thread: off, because a thread would not survive fork. decay: freed pages go
 * back to the system within a second of further allocation; blocks of at least oversize_threshold
 * go back at once, as in glibc. zero_realloc: realloc(p, 0) frees, as in glibc. retain: each arena
 * reuses its address space, so that there are few extents. thp: for its side effect only: calloc
 * then clears reused pages in place, as in glibc; giving them back and taking new ones costs ten
 * times as much. wrap.c drops the advice itself. */
extern const char *malloc_conf;
const char *malloc_conf =
    "dss:disabled,retain:true,background_thread:false,dirty_decay_ms:1000,muzzy_decay_ms:0,"
    "oversize_threshold:33554432,zero_realloc:free,thp:always";

/* Arena 0 is made before jemalloc has read its settings; its oversize threshold would be 8 MiB. */
int mallctl(const char *name, void *old, size_t *old_bytes, void *new, size_t new_bytes);

__attribute__((constructor)) static void begin(void) {
    size_t bytes = 32 << 20;
    mallctl("arena.0.oversize_threshold", NULL, NULL, &bytes, sizeof bytes);
    adopt();
}

/* The one function of glibc's malloc family that jemalloc lacks. Our free could not free glibc's
 * memory. */
void *pvalloc(size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (bytes > SIZE_MAX - page) {
        errno = ENOMEM;
        return NULL;
    }
    return memalign(page, (bytes + page - 1) & ~(page - 1));
}

/* 0, or -errno and the reason. Calls malloc to see whether calls arrive here: an executable's own
 * definition precedes preloaded ones, and dlsym may return a stub of an executable that takes
 * malloc's address. */
static int state(const char **why) {
    void *volatile block = malloc(1); /* makes the region if this is the first call */
    bool here = region_holds(block);
    free(block);
    *why = region.why;
    if (region.error != 0) return region.error;
    *why =
        "another malloc comes first (the executable's own or a sanitizer's), or the region is full";
    if (!here) return -ENOTSUP;
    *why = "the program closed the heap's descriptor";
    if (!region_fd_valid()) return -EBADF;
    *why = NULL;
    return 0;
}

int mortar_heap_region(struct heap_region *result) {
    const char *why;
    int error = state(&why);
    if (error == 0) {
        *result = (struct heap_region){.base = region.base,
                                       .bytes = region.bytes,
                                       .fd = region.fd,
                                       .adopted_count = adopted_count,
                                       .adopted = adopted};
    }
    return error;
}

const char *mortar_heap_why(void) {
    const char *why;
    state(&why);
    return why;
}
