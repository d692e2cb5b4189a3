/* SPDX-License-Identifier: BSD-3-Clause */
/* inside - diverts calls that jemalloc (5.3.0) makes to itself, for what its settings cannot say.
 * The linker replaces the names in jemalloc only (--wrap). */
#define _GNU_SOURCE
#include "heap/jemalloc.h"
#include "heap/region.h"

#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

/* The setting that keeps the addresses of what is freed, which jemalloc looks at each time. Under a
 * limit on data (ulimit -d) or on address space (ulimit -v) they count: a program that made and
 * freed one block after the other, each longer, came to the limit with a quarter of it in use. So
 * it is off there. What is kept already stays. */
extern bool je_opt_retain __attribute__((weak));

bool is_limited(void) { return &je_opt_retain && !je_opt_retain; }

void heed_limits(void) {
    struct rlimit data = {RLIM_INFINITY, 0}, space = data;
    getrlimit(RLIMIT_DATA, &data);
    getrlimit(RLIMIT_AS, &space);
    if (&je_opt_retain && (data.rlim_cur != RLIM_INFINITY || space.rlim_cur != RLIM_INFINITY))
        je_opt_retain = false;
}

/* Threads choose among four arenas for each processor. One takes 40 page faults to make, and keeps
 * freed pages of its own. Where there is one processor for each rank, and one thread computes
 * while another waits for the launcher, a second arena saves no waiting. */
extern unsigned je_opt_narenas __attribute__((weak));

static void choose_arenas(void) {
    int ranks = region_ranks();
    if (!&je_opt_narenas || ranks < 2) return;
    long all = sysconf(_SC_NPROCESSORS_ONLN), share = all > ranks ? all / ranks : 1;
    je_opt_narenas = share > 1 ? 4 * (unsigned)share : 1;
}

/* Made when the settings are read and arena 0 is not there yet, which gets its threshold from a
 * variable that is set only afterwards; it would be 8 MiB. To set it by mallctl later would cost
 * each process, every child that runs a command too, 40 page faults. */
void je_sz_boot(const void *classes, bool cache_oblivious) __attribute__((weak));
extern size_t je_oversize_threshold __attribute__((weak)),
    je_opt_oversize_threshold __attribute__((weak));
void __wrap_je_sz_boot(const void *classes, bool cache_oblivious);

void __wrap_je_sz_boot(const void *classes, bool cache_oblivious) {
    if (&je_oversize_threshold && &je_opt_oversize_threshold)
        je_oversize_threshold = je_opt_oversize_threshold;
    heed_limits();
    choose_arenas();
    je_sz_boot(classes, cache_oblivious);
}

/* Where jemalloc looks for settings besides those of heap.c: MALLOC_CONF, and the link
 * /etc/malloc.conf. Both are meant for a jemalloc of the user's. With dss:primary blocks would lie
 * at the program break, and free would take them for the C library's. */
char *__wrap_secure_getenv(const char *name);
ssize_t __wrap_readlink(const char *path, char *target, size_t size);

char *__wrap_secure_getenv(const char *name) {
    (void)name;
    return NULL;
}

ssize_t __wrap_readlink(const char *path, char *target, size_t size) {
    (void)path, (void)target, (void)size;
    errno = ENOENT;
    return -1;
}

/* Made once for each size class that threads cache, the shortest first. Of each class above 128 KiB
 * a thread keeps one block, 5.7 MiB of all 12 together; jemalloc's 20 would be 114 MiB. */
void je_cache_bin_info_init(void *info, uint16_t most) __attribute__((weak));
extern size_t je_sz_index2size_tab[] __attribute__((weak));
void __wrap_je_cache_bin_info_init(void *info, uint16_t most);

void __wrap_je_cache_bin_info_init(void *info, uint16_t most) {
    enum { several = 128 << 10 };
    static unsigned next;
    bool known = je_sz_index2size_tab != NULL;
    if (known && je_sz_index2size_tab[next] > several) most = 1;
    next++;
    je_cache_bin_info_init(info, most);
}

/* Made whenever a thread has allocated another tcache_gc_incr_bytes. jemalloc gives freed pages
 * back when its arenas are asked for something. A thread that its cache serves asks for nothing, so
 * what it freed before would stay for ever. */
void je_tcache_gc_event_handler(void *thread) __attribute__((weak));
void je_arena_decay(void *thread, void *arena, bool in_background, bool all) __attribute__((weak));
unsigned je_narenas_total_get(void) __attribute__((weak));
extern void *_Atomic je_arenas[] __attribute__((weak));
void __wrap_je_tcache_gc_event_handler(void *thread);

void __wrap_je_tcache_gc_event_handler(void *thread) {
    enum { often = 128 }; /* 32 MiB */
    static __thread unsigned events, turn;
    je_tcache_gc_event_handler(thread);
    if (++events % often != 0 || !je_arena_decay || !je_narenas_total_get || !je_arenas) return;
    unsigned count = je_narenas_total_get();
    for (unsigned i = 0; i < count; i++) {
        void *arena = je_arenas[turn++ % count];
        if (!arena) continue;
        je_arena_decay(thread, arena, false, false); /* some microseconds: one at a time */
        return;
    }
}
