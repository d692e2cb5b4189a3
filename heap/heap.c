/* SPDX-License-Identifier: BSD-3-Clause */
/* heap - what libmortar-heap.so tells of itself, and jemalloc's settings. */
#define _GNU_SOURCE
#include "heap/heap.h"

#include "heap/blocks.h"
#include "heap/huge.h"
#include "heap/jemalloc.h"
#include "heap/mapped.h"
#include "heap/moved.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

/* jemalloc reads this before its first allocation. dss: off, because the program break is not in
 * the region. background_thread: off, because a thread would not survive fork. decay: freed pages
 * go back to the system within a second of further allocation; blocks of at least
 * oversize_threshold go back at once, as in glibc. zero_realloc: realloc(p, 0) frees, as in glibc.
 * retain: each arena reuses its address space, so that there are few extents.
 * lg_extent_max_active_fit: freed pages that have grown together serve all shorter requests, down
 * to an 8192nd of them; by jemalloc's own limit, a 64th, programs that free blocks and make them
 * again held up to three times the memory. slab_sizes: as many pages as most other lengths have,
 * instead of one for 1 to 8 blocks, which took twice as long in a loop. tcache_max: shorter blocks
 * come from a cache of the thread, which takes as long as glibc for them; of those above 128 KiB it
 * keeps one of each length (inside.c). With 128 KiB a calloc of 1 MiB that is freed again took 5 to
 * 7 % longer than glibc's, with 1 MiB 2 %. tcache_gc_incr_bytes: how often it looks for what has
 * not been asked for lately; at 64 KiB a calloc of that length took 5 % longer than glibc's, now 0
 * to 5 %, by series of runs. thp: for its side effect only: calloc then clears reused pages in
 * place, as in glibc; giving them back and taking new ones costs ten times as much. wrap.c drops
 * the advice itself. */
extern const char *malloc_conf;
const char *malloc_conf =
    "dss:disabled,retain:true,background_thread:false,dirty_decay_ms:1000,muzzy_decay_ms:0,"
    "oversize_threshold:33554432,zero_realloc:free,tcache_max:1048576,tcache_gc_incr_bytes:262144,"
    "thp:always,lg_extent_max_active_fit:13,"
    "slab_sizes:512-512:4|1024-1024:4|2048-2048:8|4096-4096:8";

/* 0, or -errno, and the reason. */
static int state(const char **why) {
    blocks_serve(); /* makes the region if this is the first call */
    *why = region.why;
    if (region.error != 0) return region.error;
    *why = "the program closed the heap's descriptor";
    if (!region_fd_valid()) return -EBADF;
    *why = "the address space has no room to map MORTAR_HEAP_BYTES twice";
    region_lock();
    int error = moved_begin();
    region_unlock();
    if (!error) *why = NULL;
    return error;
}

/* Calls malloc to see whether calls arrive here: an executable's own definition precedes preloaded
 * ones, and dlsym may return a stub of an executable that takes malloc's address. */
static bool has_blocks(void) {
    void *volatile block = malloc(long_block);
    bool here = region_holds(block);
    free(block);
    return here;
}

int mortar_heap_region(struct heap_region *result) {
    const char *why;
    int error = state(&why);
    if (error == 0) {
        *result = (struct heap_region){.base = region.base,
                                       .bytes = region.bytes,
                                       .fd = region.fd,
                                       .page = region.page,
                                       .moved = (const uint64_t *)moved.bits,
                                       .alias = moved.alias,
                                       .ranges = moved.ranges,
                                       .range_count = (const int *)&moved.range_count,
                                       .loses_huge = huge_lost(),
                                       .end = (size_t *)&moved.end};
    }
    return error;
}

const char *mortar_heap_why(void) {
    const char *why;
    if (state(&why) != 0 || has_blocks()) return why;
    if (region_stands_aside())
        return "MORTAR_HEAP=aside: malloc is another library's; what that has from mmap can be "
               "shared";
    return "another malloc comes first (the executable's own or a sanitizer's), or the region is "
           "full: only other memory can be shared";
}

bool mortar_heap_sees(void) { return mapped_is_seen(); }
