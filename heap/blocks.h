/* SPDX-License-Identifier: BSD-3-Clause */
/* blocks.h - which of malloc's blocks are jemalloc's, in the region: long ones, and from
 * mortar_heap_begin on all new ones. Before that, short blocks are the C library's: while MPI
 * starts, or in a command that a script calls, memory is as without mortar. */
#ifndef HEAP_BLOCKS_H
#define HEAP_BLOCKS_H

#include "heap/heap.h"
#include "heap/region.h"

void *__libc_malloc(size_t bytes);
void *__libc_calloc(size_t count, size_t bytes);
void *__libc_realloc(void *memory, size_t bytes);
void *__libc_memalign(size_t alignment, size_t bytes);
void __libc_free(void *memory);

/* All that a short block's way looks at, in one line of the cache. In a program that makes many
 * communicators on 16 ranks malloc and free took a third longer here from four. */
extern struct blocks {
    char *base;
    size_t span;    /* from `base` on lie jemalloc's blocks; in a forked child, too */
    size_t least;   /* blocks of so many bytes, or more, are to be jemalloc's */
    bool overflows; /* the region was full once: they lie outside, too */
    bool begun;
    bool serves; /* jemalloc has started */
    struct {
        void *(*malloc)(size_t);
        void (*free)(void *);
        void *(*calloc)(size_t, size_t);
        void *(*realloc)(void *, size_t);
    } theirs; /* the C library's */
} blocks __attribute__((visibility("hidden"))) __attribute__((aligned(64)));

/* Registers the fork handlers, before other libraries register theirs, which may call malloc. */
void blocks_begin(void) __attribute__((cold));
static inline void begin(void) {
    if (__builtin_expect(!blocks.begun, 0)) blocks_begin();
}

/* True: blocks come from the region. The first call decides, and starts jemalloc; a process that
 * has no long block does not pay for it. False: everything is the C library's. */
bool blocks_decide(void);
static inline bool blocks_serve(void) {
    return __atomic_load_n(&blocks.serves, __ATOMIC_ACQUIRE) || blocks_decide();
}

/* False: nothing has ever been taken from jemalloc here, so it must not be asked for anything. */
static inline bool blocks_served(void) { return blocks.span > 0; }

/* True: jemalloc's, to be freed there. In a forked child, too, whose new blocks are all the C
 * library's. */
static inline bool blocks_own(const void *memory) {
    /* Another thread may make the region meanwhile: the span is 0 until the base is there. */
    size_t span = __atomic_load_n(&blocks.span, __ATOMIC_ACQUIRE);
    if ((size_t)((const char *)memory - blocks.base) < span) return true;
    return __builtin_expect(blocks.overflows, 0) && outside_holds(memory);
}

/* While it is held nobody starts jemalloc: a child could never use it. fork.c. */
void blocks_lock(void);
void blocks_unlock(void);
void blocks_in_child(void);

#endif
