/* SPDX-License-Identifier: BSD-3-Clause */
/* child - malloc's blocks in a forked child. All that it makes is the C library's. What its parent
 * had from jemalloc it uses as before, but does not give back: jemalloc is never asked to change
 * anything, so whatever another thread of the parent was doing in it at the fork does not matter.
 * Nobody has to hold jemalloc's locks over a fork, as jemalloc would by itself: they lie in many
 * pages, which parent and child would have to copy, by 13 and 21 page faults. Long blocks that are
 * freed give their pages back to the system. */
#define _GNU_SOURCE
#include "heap/blocks.h"
#include "heap/jemalloc.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Where jemalloc keeps what it knows of a thread, to give its cache back when the thread ends; and
 * whether it does. If not, je_malloc_usable_size looks at tables without it. */
extern pthread_key_t je_tsd_tsd __attribute__((weak));
extern bool je_tsd_booted __attribute__((weak));

static struct {
    char *base;
    size_t span;
    bool overflows;
    void (*free)(void *); /* not jemalloc's */
    void *(*realloc)(void *, size_t);
} inherited;

bool child_inherits(const void *memory) {
    if ((size_t)((const char *)memory - inherited.base) < inherited.span) return true;
    return inherited.overflows && outside_holds(memory);
}

static void drop(char *memory) {
    enum { worth_a_call = 64 << 10 };
    size_t bytes = je_malloc_usable_size(memory), page = region.page;
    uintptr_t start = ((uintptr_t)memory + page - 1) & ~(page - 1),
              end = ((uintptr_t)memory + bytes) & ~(page - 1);
    if (bytes < worth_a_call) return;
    int saved = errno;
    syscall(SYS_madvise, start, end - start, MADV_DONTNEED);
    errno = saved;
}

static void child_free(void *memory) {
    if (child_inherits(memory)) drop(memory);
    else inherited.free(memory);
}

static void *child_realloc(void *memory, size_t bytes) {
    if (!child_inherits(memory)) return inherited.realloc(memory, bytes);
    void *block = bytes > 0 ? blocks.theirs.malloc(bytes) : NULL;
    if (bytes > 0 && !block) return NULL;
    size_t had = je_malloc_usable_size(memory);
    if (block) memcpy(block, memory, had < bytes ? had : bytes);
    drop(memory);
    return block;
}

void child_begins(void) {
    if (!blocks_served()) return;
    inherited.base = blocks.base;
    inherited.span = blocks.span;
    inherited.overflows = blocks.overflows;
    blocks.span = 0;
    blocks.overflows = false;
    blocks_leave();
    inherited.free = blocks.theirs.free;
    inherited.realloc = blocks.theirs.realloc;
    blocks.theirs.free = child_free;
    blocks.theirs.realloc = child_realloc;
    if (&je_tsd_tsd) pthread_setspecific(je_tsd_tsd, NULL);
    if (&je_tsd_booted) je_tsd_booted = false; /* who is new would take locks to be known */
    born_in_child();
}
