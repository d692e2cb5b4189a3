/* SPDX-License-Identifier: BSD-3-Clause */
/* blocks.h - which of malloc's blocks are jemalloc's, in the region: those of at least long_block,
 * and from mortar_heap_begin on new ones of at least 16 KiB and of up to 896 bytes. All others are
 * the C library's. So while MPI starts, or in a command that a script calls, memory is as without
 * mortar.
 *
 * jemalloc's short blocks lie at multiples of their length: 4 KiB always at the beginning of a
 * page. Who goes down a column of a matrix whose rows are such blocks finds all of them in one set
 * of the cache, and takes up to three times as long. glibc's have 16 bytes between them. */
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
    size_t span; /* from `base` on lie jemalloc's blocks */
    /* Blocks of [from, from + length) bytes are to be the C library's. Another thread may see one
     * that has changed beside the other that has not. */
    size_t from, length;
    /* The system refuses a block that is longer than its memory and swap together, unless it is
     * told to overcommit without bounds. Such a block is left to the C library, which asks less
     * often, and knows sooner. */
    size_t most;
    bool overflows; /* the region was full once: they lie outside, too */
    bool begun;
    bool serves; /* jemalloc has started */
    struct mallocs {
        void *(*malloc)(size_t);
        void (*free)(void *);
        void *(*calloc)(size_t, size_t);
        void *(*realloc)(void *, size_t);
        void *(*memalign)(size_t, size_t);
    } theirs; /* the C library's, or of the library that malloc is left to */
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

/* All new blocks are to be the C library's. */
void blocks_leave(void);
static inline bool blocks_are_theirs(size_t bytes) { return bytes - blocks.from < blocks.length; }

/* False: nothing has ever been taken from jemalloc here, so it must not be asked for anything. */
static inline bool blocks_served(void) { return blocks.span > 0; }

/* True: jemalloc's, to be freed there. */
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

/* child.c: in the child, for which nothing is jemalloc's from then on. True: jemalloc's of before
 * the fork, whose size jemalloc still tells. */
void child_begins(void);
bool child_inherits(const void *memory);

#endif
