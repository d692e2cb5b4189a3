/* SPDX-License-Identifier: BSD-3-Clause */
/* family - the malloc family: which blocks are jemalloc's (blocks.h), and where it differs from
 * glibc's: what that promises beyond the standard, aligned blocks out of the thread's cache, and
 * realloc of long blocks, which moves page tables instead of bytes. */
#define _GNU_SOURCE
#include "heap/blocks.h"
#include "heap/jemalloc.h"
#include "heap/moved.h"
#include "heap/next.h"

#include <errno.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MREMAP_DONTUNMAP
#define MREMAP_DONTUNMAP 4
#endif

/* Every block is aligned to 16 bytes, as glibc's are; jemalloc's of up to 8 bytes are not. */
enum { least = 16 };

static inline size_t enough(size_t bytes) { return bytes < least ? least : bytes; }

static inline bool is_power_of_two(size_t n) { return n != 0 && (n & (n - 1)) == 0; }

static bool give_back(void) {
    if (!blocks_served()) return false;
    mallctl("thread.tcache.flush", NULL, NULL, NULL, 0);
    return mallctl("arena.4096.purge", NULL, NULL, NULL, 0) == 0; /* 4096: all arenas */
}

/* Under a limit (inside.c) what is free but kept, for a second or in this thread's cache, may be
 * what is missing. glibc's long blocks go back when they are freed. True: it has gone back now. */
static bool got_more(void) { return is_limited() && give_back(); }

static inline bool may_be_ours(size_t bytes) { return blocks_serve() && bytes <= blocks.most; }

/* jemalloc may have no block where there is memory: its tables have an end, under a limit the
 * region has (wrap.c), and so have the keys for threads' own data, of which jemalloc needs one to
 * start. Then the C library has. */
static void *from_either(size_t bytes) {
    void *block = may_be_ours(bytes) ? je_malloc(enough(bytes)) : NULL;
    return block ? block : __libc_malloc(bytes);
}

static __attribute__((noinline)) void *our_malloc(size_t bytes) {
    void *block = from_either(bytes);
    return block || !got_more() ? block : from_either(bytes);
}

static void *zeros_from_either(size_t bytes) {
    void *block = may_be_ours(bytes) ? je_calloc(1, enough(bytes)) : NULL;
    return block ? block : __libc_calloc(1, bytes);
}

static __attribute__((noinline)) void *our_calloc(size_t bytes) {
    void *block = zeros_from_either(bytes);
    return block || !got_more() ? block : zeros_from_either(bytes);
}

/* These two share a line of code. */
__attribute__((hot, aligned(64))) void *malloc(size_t bytes) {
    begin();
    return blocks_are_theirs(bytes) ? blocks.theirs.malloc(bytes) : our_malloc(bytes);
}

__attribute__((hot)) void free(void *memory) {
    if (blocks_own(memory)) je_free(memory);
    else blocks.theirs.free(memory);
}

__attribute__((hot)) void *calloc(size_t count, size_t bytes) {
    begin();
    size_t all;
    bool known = !__builtin_mul_overflow(count, bytes, &all);
    return known && !blocks_are_theirs(all) ? our_calloc(all) : blocks.theirs.calloc(count, bytes);
}

/* jemalloc takes a long aligned block from the arena each time, past the thread's cache. Its malloc
 * uses the cache, and gives a block that begins with a line. So malloc serves where a line is
 * enough: FFTW makes its buffer by memalign(32, 100000) in each transform, and has it after 0.04 us
 * instead of 0.34; in LAMMPS, which uses the caches meanwhile, it was 3 us less. NULL: the C
 * library's way. */
static void *our_aligned(size_t alignment, size_t bytes) {
    enum { worth = 14 << 10, line = 64 };
    if (blocks_are_theirs(bytes) || !is_power_of_two(alignment)) return NULL;
    if (!may_be_ours(bytes) || !arrives()) return NULL;
    bool of_line = bytes > worth && alignment <= line;
    void *block = of_line ? je_malloc(bytes) : je_memalign(alignment, enough(bytes));
    if (!block || (uintptr_t)block % alignment == 0) return block;
    je_free(block);
    return je_memalign(alignment, enough(bytes));
}

static void *aligned_from_either(size_t alignment, size_t bytes) {
    void *block = our_aligned(alignment, bytes);
    return block ? block : blocks.theirs.memalign(alignment, bytes);
}

void *memalign(size_t alignment, size_t bytes) {
    begin();
    void *block = aligned_from_either(alignment, bytes);
    return block || !got_more() ? block : aligned_from_either(alignment, bytes);
}

void *aligned_alloc(size_t alignment, size_t bytes) {
    if (is_power_of_two(alignment)) return memalign(alignment, bytes);
    /* Its versions do not agree on what to do with another one. */
    begin();
    return next.aligned_alloc(alignment, bytes);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes) {
    if (alignment < sizeof(void *) || !is_power_of_two(alignment)) return EINVAL;
    int saved = errno;
    void *block = memalign(alignment, bytes);
    errno = saved;
    if (!block) return ENOMEM;
    *memory = block;
    return 0;
}

void *valloc(size_t bytes) { return memalign((size_t)sysconf(_SC_PAGESIZE), bytes); }

void *pvalloc(size_t bytes) {
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    if (bytes > SIZE_MAX - page) {
        errno = ENOMEM;
        return NULL;
    }
    return memalign(page, (bytes + page - 1) & ~(page - 1));
}

size_t malloc_usable_size(void *memory) {
    if (blocks_own(memory) || child_inherits(memory)) return je_malloc_usable_size(memory);
    begin();
    return next.malloc_usable_size(memory);
}

enum moving { HAS_MOVED, STAYS, TARGET_LOST };

/* Moves the pages of a long block to where it can grow: the kernel changes page tables, which takes
 * a hundredth of a copy. STAYS: they have to be copied. TARGET_LOST: nothing may be written to
 * `fresh`. */
static enum moving move_pages(char *fresh, char *memory, size_t had) {
    uintptr_t page = region.page;
    if (((uintptr_t)fresh | (uintptr_t)memory | had) % page != 0) return STAYS;
    /* Under a limit on data mremap may fail as well, and then there is no memory to map again. */
    if (is_limited() || !region_holds(fresh) || moved_within(memory, had)) return STAYS;
    int saved = errno;
    moved_return(fresh, had); /* what lies there now goes away */
    /* The old addresses stay mapped, as zeros: nobody else may get them meanwhile (Linux 5.7, else
     * EINVAL). A system call, because UCX puts a function with four arguments in mremap's place.
     * RDMA libraries learn of it from mmap. Before Linux 6.17 it fails where the block consists of
     * several mappings, as it may: wrap.c and moved.c set some apart. */
    long at = syscall(SYS_mremap, memory, had, had,
                      MREMAP_MAYMOVE | MREMAP_FIXED | MREMAP_DONTUNMAP, fresh);
    bool moves = (char *)at == fresh, keeps = !moves && errno == EINVAL;
    bool anew = moves || (!keeps && map_if_gone(fresh, had, PROT_READ | PROT_WRITE,
                                                MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    if (anew) {
        region_lock();
        moved_leave(fresh, fresh + had);
        region_unlock();
    }
    /* Mapped anew, or it would never join its neighbours again. */
    if (moves)
        mmap(memory, had, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    errno = saved;
    return moves ? HAS_MOVED : anew || keeps ? STAYS : TARGET_LOST;
}

/* A longer block that begins with a page, so that the next time its pages can move. NULL: there is
 * none. */
static void *carry(void *memory, size_t had, size_t bytes) {
    char *fresh = mallocx(bytes, je_align(region.page));
    if (!fresh) return NULL;
    enum moving moving = move_pages(fresh, memory, had);
    if (moving == TARGET_LOST) return NULL; /* and so is the block */
    if (moving == STAYS) memcpy(fresh, memory, had);
    je_free(memory);
    return fresh;
}

/* Makes a block of jemalloc's longer, or shorter, where its realloc cannot or shall not. */
static void *leave(void *memory, size_t bytes) {
    void *block = malloc(bytes);
    if (!block) return NULL;
    size_t had = je_malloc_usable_size(memory);
    memcpy(block, memory, had < bytes ? had : bytes);
    je_free(memory);
    return block;
}

static __attribute__((noinline)) void *our_realloc(void *memory, size_t bytes) {
    enum { worth_carrying = 256 << 10 };
    if (bytes == 0) { /* as glibc */
        je_free(memory);
        return NULL;
    }
    if (bytes > blocks.most) return leave(memory, bytes);
    if (bytes >= worth_carrying && region_holds(memory)) {
        size_t had = je_malloc_usable_size(memory);
        if (had >= worth_carrying && bytes > had) {
            if (xallocx(memory, bytes, 0, 0) >= bytes) return memory;
            void *carried = carry(memory, had, bytes);
            if (carried) return carried;
        }
    }
    if (blocks_are_theirs(bytes)) return leave(memory, bytes);
    /* jemalloc's realloc goes through functions that nothing else uses, and a rank whose processor
     * others have used since has none of them in a cache. malloc and free it has. */
    if (bytes < middle_block) {
        bool suits = nallocx(enough(bytes), 0) == je_malloc_usable_size(memory);
        return suits ? memory : leave(memory, bytes);
    }
    void *block = je_realloc(memory, bytes);
    return block ? block : leave(memory, bytes);
}

/* A block of the C library becomes long, and may have to move into the region. If it is much longer
 * already, because there was no region, it stays: the C library moves its page tables. */
static __attribute__((noinline)) void *lengthen(void *memory, size_t bytes) {
    enum { much = 2 * long_block };
    if (!memory) return malloc(bytes);
    size_t had = blocks_serve() ? malloc_usable_size(memory) : much;
    void *block = had < much ? malloc(bytes) : NULL;
    if (!block) return blocks.theirs.realloc(memory, bytes);
    memcpy(block, memory, had < bytes ? had : bytes);
    blocks.theirs.free(memory);
    return block;
}

__attribute__((hot)) void *realloc(void *memory, size_t bytes) {
    begin();
    if (blocks_own(memory)) return our_realloc(memory, bytes);
    if (memory && bytes < blocks.from + blocks.length) return blocks.theirs.realloc(memory, bytes);
    return lengthen(memory, bytes);
}

int malloc_trim(size_t pad) {
    begin();
    int gave = next.malloc_trim(pad);
    return give_back() || gave;
}

static size_t statistic(const char *name) {
    size_t value = 0, size = sizeof value;
    return mallctl(name, &value, &size, NULL, 0) == 0 ? value : 0;
}

/* The figures of one kind as the other one's numbers. */
#define MALLINFO(kind, number, all)                                                                \
    ((struct kind){.arena = (number)(all).arena,                                                   \
                   .ordblks = (number)(all).ordblks,                                               \
                   .smblks = (number)(all).smblks,                                                 \
                   .hblks = (number)(all).hblks,                                                   \
                   .hblkhd = (number)(all).hblkhd,                                                 \
                   .usmblks = (number)(all).usmblks,                                               \
                   .fsmblks = (number)(all).fsmblks,                                               \
                   .uordblks = (number)(all).uordblks,                                             \
                   .fordblks = (number)(all).fordblks,                                             \
                   .keepcost = (number)(all).keepcost})

static struct mallinfo2 their_mallinfo(void) {
    if (next.mallinfo2) return next.mallinfo2();
    struct mallinfo narrow = next.mallinfo();
    return MALLINFO(mallinfo2, unsigned, narrow);
}

/* The C library's, and of ours arena: bytes of address space in use or kept; uordblks: allocated;
 * fordblks: free; keepcost: what malloc_trim would give back. */
struct mallinfo2 mallinfo2(void) {
    begin();
    struct mallinfo2 all = their_mallinfo();
    if (!blocks_served()) return all;
    uint64_t epoch = 1;
    mallctl("epoch", NULL, NULL, &epoch, sizeof epoch);
    size_t allocated = statistic("stats.allocated"), active = statistic("stats.active"),
           resident = statistic("stats.resident");
    size_t idle = resident > active ? resident - active : 0;
    all.arena += active + idle;
    all.uordblks += allocated;
    all.fordblks += active + idle - allocated;
    all.keepcost += idle;
    return all;
}

struct mallinfo mallinfo(void) {
    struct mallinfo2 all = mallinfo2();
    return MALLINFO(mallinfo, int, all);
}
