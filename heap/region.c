/* SPDX-License-Identifier: BSD-3-Clause */
/* region - reserves the region's addresses and keeps its free extents in a sorted array. Extents
 * that are taken are private anonymous memory, as malloc's is without mortar; moved.c makes pages
 * of it shared. Of free extents only the fence, the first and the last page, is accessible, for
 * reading: libraries read a little beyond blocks, in whole vectors, which is harmless with the C
 * library's malloc and must be here. */
#define _GNU_SOURCE
#include "heap/region.h"

#include "heap/blocks.h"
#include "heap/huge.h"
#include "heap/mapped.h"
#include "heap/moved.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#ifndef MAP_FIXED_NOREPLACE
#define MAP_FIXED_NOREPLACE 0x100000
#endif

static const size_t least_region = 16 << 20; /* as option HEAP_BYTES has it */

struct region region = {.fd = -1};

enum { most_spares = 4096 };
static struct extent spares[most_spares]; /* free extents by offset; none are adjacent */
static size_t spare_count;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int cancels; /* may its holder be cancelled, when it has gone on? */
static __thread volatile bool mine;

/* To make a region takes a close, and so does a fork: there a cancelled thread would end, and keep
 * the lock. malloc and fork are no places where threads may be cancelled. */
void region_lock(void) {
    int before;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before);
    mine = true;
    pthread_mutex_lock(&lock);
    cancels = before;
}

void region_unlock(void) {
    int before = cancels;
    pthread_mutex_unlock(&lock);
    mine = false;
    pthread_setcancelstate(before, NULL);
}

bool region_is_mine(void) { return mine; }

/* Sanitizers have their own malloc and their own layout of the address space. */
void __asan_init(void) __attribute__((weak));
void __lsan_init(void) __attribute__((weak));
void __tsan_init(void) __attribute__((weak));

enum { reserved = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE };

/* A debugger's core file (gcore) would have all of it, as zeros. */
static void leave_out(void *start, size_t bytes) { madvise(start, bytes, MADV_DONTDUMP); }

/* Reserves addresses inside a larger reservation. Its read-only rim separates the region from other
 * mappings, so that no range of memory lies half in the region. Inaccessible first: after
 * mlockall(MCL_FUTURE) the system would fill all of it with pages. */
static char *reserve_between_guards(size_t bytes) {
    size_t all = bytes + 2 * huge_page;
    char *rim = mmap(NULL, all, PROT_NONE, reserved, -1, 0);
    if (rim == MAP_FAILED) return NULL;
    munlock(rim, all);
    leave_out(rim, all);
    char *base = (char *)(((uintptr_t)rim + huge_page) & ~(uintptr_t)(huge_page - 1));
    char *end = base + bytes;
    if (mprotect(rim, (size_t)(base - rim), PROT_READ) == 0 &&
        mprotect(end, (size_t)(rim + all - end), PROT_READ) == 0)
        return base;
    munmap(rim, all);
    return NULL;
}

/* What the environment says when the library is loaded. The program may change it before its first
 * long block, or take it away, or another thread may just be changing it. */
static struct {
    bool off, aside;
    size_t bytes;
    int ranks; /* of this node; 0: the launcher does not say */
} wanted;

/* A library linked with -z initfirst may allocate before libc has set environ. The kernel puts the
 * environment on the first stack, after the argument count, the arguments and a NULL. */
static void find_environment(void) {
    if (environ) return;
    char **word = __libc_stack_end;
    environ = word + 1 + (intptr_t)word[0] + 1;
}

void region_settings(void) {
    find_environment();
    int choice = option_choice(OPTION_HEAP, "on|off|aside");
    wanted.off = choice == 1;
    wanted.aside = choice == 2;
    wanted.bytes = option_number(OPTION_HEAP_BYTES);
    wanted.ranks = launcher_local_ranks();
}

bool region_stands_aside(void) { return wanted.aside; }

int region_ranks(void) { return wanted.ranks; }

/* A limit on address space (ulimit -v) counts every mapping: the region and its alias, and those of
 * each peer, for reading and for writing. A quarter for all of them leaves most of it to the
 * program. Who does not know its peers is held back when it maps them (reach/peers.c). */
static size_t region_room(void) {
    size_t bytes = wanted.bytes, shares = 8 * (size_t)(wanted.ranks > 2 ? wanted.ranks : 2);
    struct rlimit space;
    if (getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY &&
        space.rlim_cur / shares < bytes)
        bytes = space.rlim_cur / shares;
    return bytes & ~(huge_page - 1);
}

/* NULL, or why there can be no region. */
static const char *reserve(void) {
    if (wanted.off) return "MORTAR_HEAP=off";
    if (__asan_init || __lsan_init || __tsan_init) return "the program runs under a sanitizer";
    size_t bytes = region_room();
    if (bytes < least_region)
        return "the limit on address space (ulimit -v) leaves too little for a region";
    int fd = segment_create("mortar-heap", bytes);
    if (fd == -EFBIG) return "the limit on file size (ulimit -f) is below MORTAR_HEAP_BYTES";
    if (fd < 0) return "the system refused a memfd of MORTAR_HEAP_BYTES";
    fd = segment_hide(fd);
    char *base = NULL;
    if (segment_name(fd, &region.name) == 0) base = reserve_between_guards(bytes);
    if (!base) {
        close(fd);
        return "the address space has no room for MORTAR_HEAP_BYTES";
    }
    region.page = (size_t)sysconf(_SC_PAGESIZE);
    spares[spare_count++] = (struct extent){.offset = 0, .bytes = bytes};
    region.fd = fd;
    region.base = base;
    region.bytes = bytes;
    blocks.base = base;
    __atomic_store_n(&blocks.span, bytes, __ATOMIC_RELEASE);
    return NULL;
}

bool region_open(void) {
    int saved = errno;
    region_lock();
    region.why = reserve();
    if (region.why) region.error = -ENODEV;
    region_unlock();
    errno = saved;
    return !region.why;
}

bool region_fd_valid(void) {
    struct segment_name name;
    return segment_name(region.fd, &name) == 0 && name.inode == region.name.inode &&
           name.device == region.name.device;
}

static void insert_spare(size_t i, struct extent extent) {
    memmove(&spares[i + 1], &spares[i], (spare_count - i) * sizeof spares[0]);
    spares[i] = extent;
    spare_count++;
}

static void remove_spare(size_t i) {
    spare_count--;
    memmove(&spares[i], &spares[i + 1], (spare_count - i) * sizeof spares[0]);
}

/* Takes [offset, offset + bytes) out of spare i. False: no free entry for the remainder. */
static bool carve(size_t i, size_t offset, size_t bytes) {
    struct extent *spare = &spares[i];
    size_t before = offset - spare->offset, after = spare->bytes - before - bytes;
    if (before > 0 && after > 0) {
        if (spare_count == most_spares) return false;
        spare->bytes = before;
        insert_spare(i + 1, (struct extent){.offset = offset + bytes, .bytes = after});
    } else if (before > 0) {
        spare->bytes = before;
    } else if (after > 0) {
        *spare = (struct extent){.offset = offset + bytes, .bytes = after};
    } else {
        remove_spare(i);
    }
    return true;
}

/* Makes a spare inaccessible, except its fence. The fence of other extents stays readable at all
 * times, because other threads run on. The lock is held. */
static void fence(struct extent spare) {
    size_t page = region.page;
    char *first = region.base + spare.offset, *last = first + spare.bytes - page;
    mprotect(first, page, PROT_READ);
    mprotect(last, page, PROT_READ);
    if (last > first + page) mprotect(first + page, (size_t)(last - first) - page, PROT_NONE);
}

/* Where an extent was taken out of a spare, what is left of it on either side needs a fence there;
 * its other end has one. The lock is held. */
static void fence_around(struct extent extent) {
    size_t page = region.page, end = extent.offset + extent.bytes;
    for (size_t i = 0; i < spare_count && spares[i].offset <= end; i++) {
        if (spares[i].offset + spares[i].bytes == extent.offset)
            mprotect(region.base + extent.offset - page, page, PROT_READ);
        if (spares[i].offset == end) mprotect(region.base + end, page, PROT_READ);
    }
}

static char *region_find(size_t bytes) {
    size_t alignment = bytes >= huge_page ? huge_page : 64 << 10;
    for (size_t i = 0; i < spare_count; i++) {
        size_t offset = (spares[i].offset + alignment - 1) & ~(alignment - 1);
        size_t skipped = offset - spares[i].offset;
        if (skipped > spares[i].bytes || spares[i].bytes - skipped < bytes) continue;
        if (carve(i, offset, bytes)) return region.base + offset;
    }
    return NULL;
}

/* Returns the spare that now contains the extent. NULL: no free entry, so the extent stays taken;
 * its addresses are lost, its memory is not. The lock is held. */
static struct extent *put_back(struct extent extent) {
    size_t i = 0;
    while (i < spare_count && spares[i].offset < extent.offset) i++;
    bool joins_left = i > 0 && spares[i - 1].offset + spares[i - 1].bytes == extent.offset;
    bool joins_right = i < spare_count && extent.offset + extent.bytes == spares[i].offset;
    if (joins_left) {
        i--;
        spares[i].bytes += extent.bytes;
        if (!joins_right) return &spares[i];
        spares[i].bytes += spares[i + 1].bytes;
        remove_spare(i + 1);
    } else if (joins_right) {
        spares[i] =
            (struct extent){.offset = extent.offset, .bytes = extent.bytes + spares[i].bytes};
    } else if (spare_count < most_spares) {
        insert_spare(i, extent);
    } else {
        return NULL;
    }
    return &spares[i];
}

bool map_if_gone(char *at, size_t bytes, int protection, int flags, int fd, size_t offset) {
    char *map = mmap(at, bytes, protection, flags | MAP_FIXED_NOREPLACE, fd, (off_t)offset);
    if (map != at && map != MAP_FAILED) munmap(map, bytes); /* it does not know this flag */
    return map == at;
}

void *region_take(size_t bytes, bool *refused) {
    if (refused) *refused = false;
    int saved = errno;
    region_lock();
    char *address = region.bytes > 0 ? region_find(bytes) : NULL;
    if (address) {
        struct extent extent = {.offset = (size_t)(address - region.base), .bytes = bytes};
        /* Not `reserved`: the system refuses more than it has, as without mortar. */
        void *map = mmap(address, bytes, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        if (map == MAP_FAILED) {
            bool gone = map_if_gone(address, bytes, PROT_NONE, reserved, -1, 0);
            const struct extent *spare = put_back(extent);
            if (gone && spare) fence(*spare); /* else the fences are still there */
            if (refused) *refused = true;
            address = NULL;
        } else {
            /* Who gave it away may have had no mapping left. */
            moved_leave(address, address + bytes);
            fence_around(extent);
        }
    }
    region_unlock();
    errno = saved;
    return address;
}

/* Fails for want of mappings, or after mlockall(MCL_FUTURE) for more than may be locked. */
static bool map_anew(void *address, size_t bytes) {
    region_lock();
    bool fine = mmap(address, bytes, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != MAP_FAILED;
    if (fine) moved_leave(address, (char *)address + bytes);
    region_unlock();
    return fine;
}

void region_clear(void *address, size_t bytes) {
    /* glibc maps and unmaps such blocks by themselves, always. So what the program has asked of
     * their pages (mprotect, madvise, userfaultfd) does not outlive them, and it may leave it. */
    enum { surely_unmapped = 32 << 20 };
    int saved = errno;
    moved_return(address, bytes);
    bool fresh = bytes >= surely_unmapped && map_anew(address, bytes);
    /* madvise fails for locked pages. What is mapped anew is not locked, as after munmap. */
    if (!fresh && madvise(address, bytes, MADV_DONTNEED) != 0 && !map_anew(address, bytes))
        memset(address, 0, bytes);
    errno = saved;
}

void region_give(void *address, size_t bytes) {
    int saved = errno;
    moved_return(address, bytes);
    region_lock();
    const struct extent *spare = put_back(
        (struct extent){.offset = (size_t)((char *)address - region.base), .bytes = bytes});
    void *map = mmap(address, bytes, PROT_NONE, reserved | MAP_FIXED, -1, 0);
    if (map == MAP_FAILED) madvise(address, bytes, MADV_DONTNEED);
    else leave_out(address, bytes);
    if (spare) fence(*spare);
    region_unlock();
    errno = saved;
}

/* The spare at the region's end. NULL: that is taken. */
static struct extent *last_spare(void) {
    struct extent *last = spare_count > 0 ? &spares[spare_count - 1] : NULL;
    return last && last->offset + last->bytes == region.bytes ? last : NULL;
}

/* Nobody has seen the file yet, so a shorter one takes its place: the second mapping, and those of
 * the peers, are as long as that. If there is none to be had the peers do without theirs. */
static void shorten_file(void) {
    struct segment_name name;
    int fd = segment_create("mortar-heap", region.bytes);
    if (fd < 0) return;
    fd = segment_hide(fd);
    if (!region_fd_valid() || segment_name(fd, &name) != 0) {
        close(fd);
        return;
    }
    close(region.fd);
    region.fd = fd;
    region.name = name;
}

/* Down to `bytes`, or what is in use. A new rim, as there was, and the old one stays. */
static void shorten(struct extent *last, size_t bytes) {
    size_t used = (last->offset + huge_page - 1) & ~(huge_page - 1);
    if (bytes < used) bytes = used;
    if (bytes + huge_page >= region.bytes) return;
    char *rim = region.base + bytes;
    if (mprotect(rim, huge_page, PROT_READ) != 0) return;
    munmap(rim + huge_page, region.bytes - bytes - huge_page);
    region.bytes = blocks.span = bytes;
    last->bytes = bytes - last->offset;
    if (last->bytes > 0) fence(*last);
    else remove_spare(spare_count - 1);
    shorten_file();
}

void region_fit(void) {
    int saved = errno;
    region_lock();
    size_t bytes = region_room();
    struct extent *last = region.bytes > bytes ? last_spare() : NULL;
    /* A child of vfork has its parent's memory, but not its descriptors, nor its limits. */
    if (last && region.name.pid == getpid()) {
        if (!moved.bits) shorten(last, bytes);
        else /* collectives know the region as it is */
            warn_job(
                "the limit on address space falls: the %zu MiB that the shared heap has reserved "
                "count, twice; smaller with MORTAR_HEAP_BYTES, or if the limit is set before the "
                "first collectives",
                region.bytes >> 20);
    }
    region_unlock();
    errno = saved;
}

void region_leave(int error, const char *why) {
    /* A limit counts what nobody has used, too. */
    const struct extent *last = last_spare();
    if (last && last->bytes > region.page) {
        blocks.span = last->offset + region.page;
        syscall(SYS_munmap, region.base + blocks.span, last->bytes - region.page);
    }
    region.bytes = 0;
    region.fd = -1;
    region.why = why;
    region.error = error;
    moved.range_count = 0;
    moved.bits = NULL;
    moved.bytes = 0;
    mapped_in_child();
}
