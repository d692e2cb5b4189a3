/* SPDX-License-Identifier: BSD-3-Clause */
/* born - memory that is shared from the beginning, for mortar's own scratch and for MPI_Alloc_mem:
 * a jemalloc arena whose extents are shared when they are taken. */
#define _GNU_SOURCE
#include "heap/jemalloc.h"
#include "heap/moved.h"

#include <errno.h>
#include <pthread.h>
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
    char *memory = region_take(bytes);
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
static unsigned arena; /* 0: there is none */
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void make_arena(void) {
    /* jemalloc keeps its own data on the arena elsewhere. */
    struct {
        struct hooks *hooks;
        bool also_for_metadata;
    } config = {&hooks, false};
    size_t size = sizeof arena;
    if (mallctl("experimental.arenas_create_ext", &arena, &size, &config, sizeof config) != 0)
        arena = 0;
}

/* Without a thread cache, in which the program's mallocs would find it again. */
void *mortar_heap_alloc(size_t alignment, size_t bytes) {
    if (region.bytes == 0 || !moved.bits) return NULL;
    pthread_once(&once, make_arena);
    return arena ? mallocx(bytes ? bytes : 1, je_arena(arena) | JE_UNCACHED | je_align(alignment))
                 : NULL;
}

void mortar_heap_free(void *memory) {
    if (memory) dallocx(memory, JE_UNCACHED);
}
