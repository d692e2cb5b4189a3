/* SPDX-License-Identifier: BSD-3-Clause */
/* mapped - the program's own mappings can move as malloc's memory does (moved.c), because what
 * takes them away comes by here: mmap over them, munmap, mremap, madvise. Allocators that the
 * program brings along get their memory so (jemalloc, mimalloc), and programs that want
 * huge pages or a pool. What has moved is a mapping of a file, which peers see until its pages are
 * taken out; and on which some requests mean something else than on private memory: those are
 * served here as private memory's would be.
 *
 * Noted is private anonymous memory that was mapped by a call of mmap that came here. Whoever makes
 * such a call unmaps by calls, too. What the C library maps for itself, threads' stacks and its
 * own malloc's blocks, it maps and unmaps without calls that can be seen: it is never noted, nor
 * what a library maps by system calls of its own. UCX and others overwrite these functions in the C
 * library, to see what is unmapped. The heap's dlsym shows them the C library's (lookup.c), and
 * those are what is called here, so they see all that they would see without the heap. Should
 * somebody overwrite the functions here, or come before them, it is found out (mapped_is_seen), and
 * nothing that is noted moves any more. */
#define _GNU_SOURCE
#include "heap/mapped.h"

#include "heap/blocks.h"
#include "heap/moved.h"
#include "heap/next.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Newer than the oldest headers that this is built with. */
enum { dontneed_locked = 24 /* Linux 5.18 */, keeps_old = 4 /* MREMAP_DONTUNMAP, Linux 5.7 */ };

/* Peers reach buffers of 16 KiB and more. A part of the table is for what remains of mappings that
 * are unmapped in parts. Under the region's lock; the count is looked at without it by who asks
 * whether there is anything to do. */
enum { least_noted = 64 << 10, most_noted = 512, most_mapped = most_noted / 2 };
static struct noted { char *start, *end; } noted[most_noted];
static _Atomic int count;

static atomic_bool lost; /* somebody unmaps unseen, or has put functions of their own in place */

/* Calls with this address and no length are only to see whether they arrive; how many of this
 * thread's have. */
static char probe;
static __thread volatile unsigned probes;

static bool is_probe(const void *address, size_t bytes) {
    if (__builtin_expect(address != &probe || bytes > 0, 1)) return false;
    probes++;
    errno = EINVAL; /* as the system would say */
    return true;
}

/* ---- what is noted ---- */

static struct noted *noted_with(const char *start, const char *end) {
    for (int i = 0; i < count; i++)
        if (start < noted[i].end && end > noted[i].start) return &noted[i];
    return NULL;
}

bool mapped_touches(const void *memory, size_t bytes) {
    return atomic_load(&lost) || noted_with(memory, (const char *)memory + bytes) != NULL;
}

bool mapped_holds(const void *memory, size_t bytes, char **start, char **end) {
    const char *first = memory;
    const struct noted *found = noted_with(first, first + (bytes ? bytes : 1));
    if (!found || first < found->start || first + bytes > found->end) return false;
    *start = found->start, *end = found->end;
    return true;
}

/* If the table is full it stays where it is. Without a region nothing will move. */
static void remember(char *start, char *end) {
    if (region.error == 0 && count < most_mapped && end >= start + least_noted)
        noted[count++] = (struct noted){start, end};
}

/* However short it is: a call may be using it. */
static void keep(char *start, char *end) {
    if (count < most_noted) noted[count++] = (struct noted){start, end};
    else atomic_store(&lost, true);
}

static void forget(char *start, char *end) {
    for (struct noted *found; (found = noted_with(start, end));) {
        struct noted was = *found;
        *found = noted[--count];
        if (was.start < start) keep(was.start, start);
        if (was.end > end) keep(end, was.end);
    }
}

void mapped_in_child(void) {
    if (count > 0) count = 0; /* or the child would copy this page */
}

/* Nothing has moved, and nothing is noted, so nothing is to be done. A handler of a signal may come
 * while its thread holds the lock: profilers map memory there. What it unmaps is not seen then. */
static bool is_idle(void) {
    if (count == 0 && atomic_load(&moved.bytes) == 0) return true;
    if (!region_is_mine()) return false;
    atomic_store(&lost, true);
    return true;
}

static size_t in_pages(size_t bytes) {
    size_t page = region.page ? region.page : (size_t)sysconf(_SC_PAGESIZE);
    return (bytes + page - 1) / page * page;
}

/* Something else is mapped here now, or nothing. */
static void leave(char *start, size_t bytes) {
    char *end = start + in_pages(bytes);
    moved_leave(start, end);
    forget(start, end);
}

/* ---- mmap, munmap ---- */

static bool can_move(size_t bytes, int flags) {
    const int needed = MAP_PRIVATE | MAP_ANONYMOUS,
              never = MAP_SHARED | MAP_GROWSDOWN | MAP_STACK | MAP_HUGETLB | MAP_LOCKED;
    return (flags & (needed | never)) == needed && bytes >= least_noted;
}

static void *map_over(void *address, size_t bytes, int protection, int flags, int fd,
                      off_t offset) {
    char *start, *end;
    region_lock();
    void *map = next_mmap(address, bytes, protection, flags, fd, offset);
    int saved = errno;
    if (map != MAP_FAILED) {
        char *map_end = (char *)map + in_pages(bytes);
        bool within = mapped_holds(map, bytes, &start, &end) && can_move(least_noted, flags);
        if (within) moved_leave(map, map_end);
        else leave(map, bytes);
        if (!within && can_move(bytes, flags)) remember(map, map_end);
    }
    region_unlock();
    place_release();
    errno = saved;
    return map;
}

void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset) {
    begin();
    if (is_probe(address, bytes)) return MAP_FAILED;
    bool ours = can_move(bytes, flags);
    bool over = flags & MAP_FIXED;
    if (over && (!is_idle() || (ours && !region_is_mine())))
        return map_over(address, bytes, protection, flags, fd, offset);
    void *map = next_mmap(address, bytes, protection, flags, fd, offset);
    if (map == MAP_FAILED || !ours || region_is_mine()) return map;
    region_lock();
    if (noted_with(map, (char *)map + bytes)) lost = true; /* somebody has unmapped it unseen */
    leave(map, bytes);
    remember(map, (char *)map + in_pages(bytes));
    region_unlock();
    return map;
}

/* With 64 bits it is the same. */
void *mmap64(void *address, size_t bytes, int protection, int flags, int fd, off64_t offset)
    __attribute__((alias("mmap")));

int munmap(void *address, size_t bytes) {
    begin();
    if (is_probe(address, bytes)) return -1;
    if (is_idle()) return next_munmap(address, bytes);
    region_lock();
    int error = next_munmap(address, bytes), saved = errno;
    if (error == 0) leave(address, bytes);
    region_unlock();
    place_release();
    errno = saved;
    return error;
}

/* ---- mremap ---- */

/* Memory that has moved is made longer by other memory behind it, where there is room: other
 * threads may be writing to it. */
static bool extend(char *end, size_t bytes) {
    struct mapping last;
    int all;
    if (mappings_between((uintptr_t)end - 1, (uintptr_t)end, &last, 1, &all) != 1) return false;
    return map_if_gone(end, bytes, last.protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
}

static void *remap(char *old, size_t old_bytes, size_t new_bytes, int flags, void *to) {
    struct extent run;
    struct heap_range place;
    char *at, *start, *end;
    bool shrinks = new_bytes <= old_bytes && !(flags & (MREMAP_FIXED | keeps_old));
    bool grows = new_bytes > old_bytes && !(flags & (MREMAP_FIXED | keeps_old));
    bool ours = mapped_holds(old, old_bytes, &start, &end);
    if (!shrinks && moved_run(old, old + old_bytes, &run, &at)) {
        if (grows && extend(old + old_bytes, new_bytes - old_bytes)) {
            if (ours) remember(old + old_bytes, old + new_bytes);
            return old;
        }
        /* Who lets it go elsewhere has no thread that uses it meanwhile. */
        int error = flags & MREMAP_MAYMOVE ? moved_bring_back(old, old + old_bytes) : -ENOMEM;
        if (error) {
            errno = -error;
            return MAP_FAILED;
        }
    }
    char *new = next_mremap(old, old_bytes, new_bytes, flags, to);
    if (new == MAP_FAILED) return new;
    int saved = errno;
    if (new == old) {
        if (new_bytes < old_bytes) leave(old + new_bytes, old_bytes - new_bytes);
        /* A place that it has already (moved.h) does not become longer. */
        bool whole = ours && new_bytes > old_bytes && !place_of(old, &place);
        if (whole) forget(start, end), keep(start, old + new_bytes);
        else if (ours && new_bytes > old_bytes) remember(old + old_bytes, old + new_bytes);
    } else {
        if (!(flags & keeps_old)) leave(old, old_bytes);
        leave(new, new_bytes);
        if (ours) remember(new, new + new_bytes);
    }
    errno = saved;
    return new;
}

void *mremap(void *old, size_t old_bytes, size_t new_bytes, int flags, ...) {
    va_list list;
    va_start(list, flags);
    void *to = flags & MREMAP_FIXED ? va_arg(list, void *) : NULL;
    va_end(list);
    begin();
    if (is_probe(old, old_bytes)) return MAP_FAILED;
    if (is_idle()) return next_mremap(old, old_bytes, new_bytes, flags, to);
    region_lock();
    void *new = remap(old, in_pages(old_bytes), in_pages(new_bytes), flags, to);
    region_unlock();
    int saved = errno;
    place_release();
    errno = saved;
    return new;
}

/* ---- madvise ---- */

/* Advice that means something else on a file's mapping: to discard the contents. On private memory
 * they read as zeros then. And that a child is to have the pages: it would have them in common with
 * its parent. It has a copy, as of all that has moved (fork.c). */
static bool discards(int advice) {
    return advice == MADV_DONTNEED || advice == MADV_FREE || advice == dontneed_locked;
}

static int advise_moved(char *start, size_t bytes, size_t offset, int advice) {
    if (advice == MADV_DOFORK) return 0;
    int error = next_madvise(start, bytes, advice == MADV_FREE ? MADV_DONTNEED : advice);
    if (error == 0) moved_clear(offset, bytes);
    return error;
}

static int advise(char *at, char *end, int advice) {
    struct extent run;
    int result = 0, saved = errno;
    while (at < end) {
        char *start = end;
        bool found = moved_run(at, end, &run, &start);
        if (start > at && next_madvise(at, (size_t)(start - at), advice) != 0)
            result = -1, saved = errno;
        if (found && advise_moved(start, run.bytes, run.offset, advice) != 0)
            result = -1, saved = errno;
        at = found ? start + run.bytes : end;
    }
    errno = saved;
    return result;
}

int madvise(void *address, size_t bytes, int advice) {
    begin();
    if (is_probe(address, bytes)) return -1;
    struct extent run;
    char *start = address, *at, *end;
    bool differs = discards(advice) || advice == MADV_DOFORK;
    if (!differs || atomic_load(&moved.bytes) == 0 || is_idle() || bytes == 0 ||
        (uintptr_t)start % region.page != 0)
        return next_madvise(address, bytes, advice);
    region_lock();
    end = start + in_pages(bytes);
    bool some = moved_run(start, end, &run, &at);
    int result = some ? advise(start, end, advice) : next_madvise(address, bytes, advice);
    region_unlock();
    return result;
}

/* ---- does all of that arrive here? ---- */

/* By the names that the program calls. Whoever takes their place, or overwrites their code, hardly
 * calls these with what means nothing; and if it does, all is well. */
bool mapped_is_seen(void) {
    enum { names = 4 };
    if (atomic_load_explicit(&lost, memory_order_relaxed)) return false;
    int saved = errno;
    unsigned before = probes;
    mmap(&probe, 0, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    munmap(&probe, 0);
    mremap(&probe, 0, 0, 0);
    madvise(&probe, 0, MADV_NORMAL);
    errno = saved;
    bool seen = probes - before == names;
    if (!seen) atomic_store(&lost, true);
    return seen;
}
