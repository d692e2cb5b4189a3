/* SPDX-License-Identifier: BSD-3-Clause */
/* family - where the malloc family differs from jemalloc's: what glibc promises beyond the
 * standard, aligned blocks out of the thread's cache, and realloc of long blocks, which moves page
 * tables instead of bytes. */
#define _GNU_SOURCE
#include "heap/jemalloc.h"
#include "heap/moved.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

/* Every block is aligned to 16 bytes, as glibc's are; jemalloc's of up to 8 bytes are not. */
enum { least = 16 };

static inline size_t enough(size_t bytes) { return bytes < least ? least : bytes; }

static bool give_back(void) {
    mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
    return mallctl("arena.4096.purge", NULL, NULL, NULL, 0) == 0; /* 4096: all arenas */
}

/* Under a limit (inside.c) what is free but kept, for a second or in this thread's cache, may be
 * what is missing. glibc's long blocks go back when they are freed. True: it has gone back now. */
static bool got_more(void) { return is_limited() && give_back(); }

void *malloc(size_t bytes) {
    enum { worth = 128 << 10 };
    if (bytes < worth) return je_malloc(enough(bytes));
    void *block = je_malloc(bytes);
    return block || !got_more() ? block : je_malloc(bytes);
}

void *calloc(size_t count, size_t bytes) {
    size_t all;
    bool known = !__builtin_mul_overflow(count, bytes, &all);
    if (known && all < least) return je_calloc(1, least);
    void *block = je_calloc(count, bytes);
    return block || !got_more() ? block : je_calloc(count, bytes);
}

/* jemalloc takes a long aligned block from the arena each time, past the thread's cache. Its malloc
 * uses the cache, and gives a block that begins with a page (inside.c). So malloc serves where a
 * page is enough: FFTW makes its buffer by memalign(32, 100000) in each transform, and has it after
 * 0.04 us instead of 0.34; in LAMMPS, which uses the caches meanwhile, it was 3 us less. NULL:
 * jemalloc's own way. */
static void *of_page(size_t alignment, size_t bytes) {
    enum { worth = 14 << 10, page = 4096 };
    if (bytes <= worth || alignment > page || alignment < sizeof(void *)) return NULL;
    if ((alignment & (alignment - 1)) != 0) return NULL;
    void *block = je_malloc(bytes);
    if (block && (uintptr_t)block % alignment == 0) return block;
    free(block);
    return NULL;
}

void *memalign(size_t alignment, size_t bytes) {
    void *(*other)(size_t, size_t) = (void *(*)(size_t, size_t))instead("memalign");
    if (other) return other(alignment, bytes);
    void *block = of_page(alignment, bytes);
    if (!block) block = je_memalign(alignment, enough(bytes));
    return block || !got_more() ? block : je_memalign(alignment, enough(bytes));
}

void *aligned_alloc(size_t alignment, size_t bytes) {
    void *(*other)(size_t, size_t) = (void *(*)(size_t, size_t))instead("aligned_alloc");
    if (other) return other(alignment, bytes);
    void *block = of_page(alignment, bytes);
    if (!block) block = je_aligned_alloc(alignment, enough(bytes));
    return block || !got_more() ? block : je_aligned_alloc(alignment, enough(bytes));
}

int posix_memalign(void **memory, size_t alignment, size_t bytes) {
    int (*other)(void **, size_t, size_t) =
        (int (*)(void **, size_t, size_t))instead("posix_memalign");
    if (other) return other(memory, alignment, bytes);
    void *block = of_page(alignment, bytes);
    if (!block) {
        int error = je_posix_memalign(memory, alignment, enough(bytes));
        bool again = error == ENOMEM && got_more();
        return again ? je_posix_memalign(memory, alignment, enough(bytes)) : error;
    }
    *memory = block;
    return 0;
}

/* Moves the pages of a long block that cannot grow where it is: the kernel changes page tables,
 * which takes a hundredth of a copy. NULL: it has to be copied. */
static void *carry(void *memory, size_t had, size_t bytes) {
    size_t page = region.page;
    int saved = errno;
    if (had % page != 0 || (uintptr_t)memory % page != 0) return NULL;
    if (moved_within(memory, had)) return NULL;
    char *fresh = je_malloc(bytes);
    if (!fresh) return NULL;
    bool fine = (uintptr_t)fresh % page == 0 && region_holds(fresh);
    if (fine) {
        moved_return(fresh, had); /* what lies there now goes away */
        /* The old addresses stay mapped, as zeros: nobody else may get them meanwhile (Linux 5.7).
         * A system call, because UCX puts a function with four arguments in mremap's place. RDMA
         * libraries learn of it from madvise. */
        long at = syscall(SYS_mremap, memory, had, had,
                          MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, fresh);
        fine = (char *)at == fresh;
    }
    if (fine) madvise(memory, had, MADV_DONTNEED);
    errno = saved;
    dallocx(fine ? memory : fresh, 0);
    return fine ? fresh : NULL;
}

void *realloc(void *memory, size_t bytes) {
    enum { worth_carrying = 256 << 10 };
    if (memory && bytes >= worth_carrying && region_holds(memory)) {
        size_t had = je_malloc_usable_size(memory);
        if (had >= worth_carrying && bytes > had) {
            if (xallocx(memory, bytes, 0, 0) >= bytes) return memory;
            void *carried = carry(memory, had, bytes);
            if (carried) return carried;
        }
    }
    bytes = memory && bytes == 0 ? 0 : enough(bytes); /* 0: it frees */
    void *block = je_realloc(memory, bytes);
    return block || bytes == 0 || !got_more() ? block : je_realloc(memory, bytes);
}

void *valloc(size_t bytes) {
    void *(*other)(size_t) = (void *(*)(size_t))instead("valloc");
    if (other) return other(bytes);
    void *block = je_valloc(bytes);
    return block || !got_more() ? block : je_valloc(bytes);
}

size_t malloc_usable_size(void *memory) {
    size_t (*other)(void *) = (size_t(*)(void *))instead("malloc_usable_size");
    return other ? other(memory) : je_malloc_usable_size(memory);
}

/* jemalloc lacks these. Glibc's would know nothing of the memory. */
void *pvalloc(size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (bytes > SIZE_MAX - page) {
        errno = ENOMEM;
        return NULL;
    }
    return memalign(page, (bytes + page - 1) & ~(page - 1));
}

int malloc_trim(size_t pad) {
    int (*other)(size_t) = (int (*)(size_t))instead("malloc_trim");
    return other ? other(pad) : give_back();
}

static size_t statistic(const char *name) {
    size_t value = 0, size = sizeof value;
    return mallctl(name, &value, &size, NULL, 0) == 0 ? value : 0;
}

/* arena: bytes of address space in use or kept; uordblks: allocated; fordblks: free; keepcost: what
 * malloc_trim would give back. */
struct mallinfo2 mallinfo2(void) {
    struct mallinfo2 (*other)(void) = (struct mallinfo2(*)(void))instead("mallinfo2");
    if (other) return other();
    uint64_t epoch = 1;
    mallctl("epoch", NULL, NULL, &epoch, sizeof epoch);
    size_t allocated = statistic("stats.allocated"), active = statistic("stats.active"),
           resident = statistic("stats.resident");
    size_t idle = resident > active ? resident - active : 0;
    return (struct mallinfo2){.arena = active + idle,
                              .uordblks = allocated,
                              .fordblks = active + idle - allocated,
                              .keepcost = idle};
}

struct mallinfo mallinfo(void) {
    struct mallinfo2 all = mallinfo2();
    return (struct mallinfo){.arena = (int)all.arena,
                             .uordblks = (int)all.uordblks,
                             .fordblks = (int)all.fordblks,
                             .keepcost = (int)all.keepcost};
}
