/* SPDX-License-Identifier: BSD-3-Clause */
/* born - memory that is shared from the beginning, for mortar's own scratch and for MPI_Alloc_mem:
 * a jemalloc arena whose extents are shared when they are taken. */
#define _GNU_SOURCE
#include "heap/blocks.h"
#include "heap/jemalloc.h"
#include "heap/moved.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>

/* jemalloc's extent hooks, see its manual page; NULL: it does without. */
struct hooks {
    void *(*alloc)(struct hooks *, void *, size_t, size_t, bool *, bool *, unsigned);
    bool (*dalloc)(struct hooks *, void *, size_t, bool, unsigned);
    void (*destroy)(struct hooks *, void *, size_t, bool, unsigned);
    bool (*commit)(struct hooks *, void *, size_t, size_t, size_t, unsigned);
    bool (*decommit)(struct hooks *, void *, size_t, size_t, size_t, unsigned);
    bool (*purge_lazy)(struct hooks *, void *, size_t, size_t, size_t, unsigned);
    bool (*purge_forced)(struct hooks *, void *, size_t, size_t, size_t, unsigned);
    bool (*split)(struct hooks *, void *, size_t, size_t, size_t, bool, unsigned);
    bool (*merge)(struct hooks *, void *, size_t, void *, size_t, bool, unsigned);
};

static void *born_alloc(struct hooks *hooks, void *at, size_t bytes, size_t alignment, bool *zero,
                        bool *commit, unsigned arena) {
    (void)hooks, (void)arena;
    if (at) return NULL;
    char *memory = region_take(bytes, NULL);
    if (!memory) return NULL;
    region_lock();
    bool fine = (uintptr_t)memory % alignment == 0 && moved_born(memory, bytes) == 0;
    region_unlock();
    if (!fine) {
        region_give(memory, bytes);
        return NULL;
    }
    *zero = *commit = true;
    return memory;
}

/* The pages go back to the system and stay shared. */
static bool born_purge(struct hooks *hooks, void *memory, size_t bytes, size_t offset,
                       size_t length, unsigned arena) {
    (void)hooks, (void)bytes, (void)arena;
    int saved = errno;
    bool failed = madvise((char *)memory + offset, length, MADV_REMOVE) != 0;
    errno = saved;
    return failed;
}

static bool born_split(struct hooks *hooks, void *memory, size_t bytes, size_t first, size_t second,
                       bool committed, unsigned arena) {
    (void)hooks, (void)memory, (void)bytes, (void)first, (void)second, (void)committed, (void)arena;
    return false;
}

static bool born_merge(struct hooks *hooks, void *first, size_t first_bytes, void *second,
                       size_t second_bytes, bool committed, unsigned arena) {
    (void)hooks, (void)first, (void)first_bytes, (void)second, (void)second_bytes, (void)committed,
        (void)arena;
    return false;
}

static struct hooks hooks = {
    .alloc = born_alloc, .purge_forced = born_purge, .split = born_split, .merge = born_merge};
static atomic_uint arena; /* 0: there is none, not yet */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Each thread has a cache of its own for this arena: with jemalloc's, the program's mallocs would
 * find the memory again. */
static pthread_key_t key;
static __thread int cached; /* the flag; 0: not yet */

static void drop_cache(void *number) {
    unsigned cache = (unsigned)((uintptr_t)number - 1);
    cached = 0;
    mallctl("tcache.destroy", NULL, NULL, &cache, sizeof cache);
}

static int cache_flag(void) {
    unsigned cache;
    size_t size = sizeof cache;
    /* Memory of the program's may come to be freed before there is an arena, and so a key: key 0
     * would be somebody else's. */
    if (cached || !arena) return cached;
    cached = JE_UNCACHED; /* if there are too many */
    if (mallctl("tcache.create", &cache, &size, NULL, 0) == 0) {
        cached = je_cache(cache);
        pthread_setspecific(key, (void *)((uintptr_t)cache + 1));
    }
    return cached;
}

static void make_arena(void) {
    /* jemalloc keeps its own data on the arena elsewhere. */
    struct {
        struct hooks *hooks;
        bool also_for_metadata;
    } config = {&hooks, false};
    unsigned made;
    size_t size = sizeof made;
    if (pthread_key_create(&key, drop_cache) == 0 &&
        mallctl("experimental.arenas_create_ext", &made, &size, &config, sizeof config) == 0)
        arena = made;
}

void *mortar_heap_alloc(size_t alignment, size_t bytes) {
    enum { line = 64 };
    if (region.bytes == 0 || !moved.bits) return NULL;
    pthread_once(&once, make_arena);
    if (!arena) return NULL;
    /* jemalloc's blocks of whole lines begin with a line. To ask for it takes the cache away. */
    int aligned = alignment > line ? je_align(alignment) : 0;
    size_t whole = bytes < SIZE_MAX - line ? (bytes + line - 1) / line * line : bytes;
    return mallocx(whole ? whole : line, je_arena(arena) | cache_flag() | aligned);
}

void born_in_child(void) {
    if (arena) pthread_setspecific(key, NULL);
}

/* What is not shared must not get into the cache. */
void mortar_heap_free(void *memory) {
    if (!memory) return;
    if (!blocks_served()) {
        free(memory);
        return;
    }
    bool shared = region_holds(memory) && moved_wholly(memory, je_malloc_usable_size(memory));
    dallocx(memory, shared ? cache_flag() : 0);
}
