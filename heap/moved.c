/* SPDX-License-Identifier: BSD-3-Clause */
/* moved - moves pages into the region's file at their own address (li2018 section 2, whose heap is
 * shared from the first byte; here a page is shared once collectives use it). The contents are
 * written into the file, which is then mapped over the pages. MAP_FIXED replaces pages at once, so
 * that other threads and system calls read the same bytes before, after and meanwhile. A store of
 * another thread between copy and mapping would be lost: so a caller moves only what nobody may
 * write, the whole pages inside of a buffer of an MPI call. The pages at its ends, which hold other
 * data as well, stay (reach/shown.c).
 *
 * A page of malloc's memory has the file's offset that equals its place in the region. Other
 * memory's is in places.c.
 *
 * The C library's mmap is used, which RDMA libraries watch to forget their registrations. A child
 * of a raw clone does not inherit what has moved (MADV_DONTFORK): it would write to its parent's
 * memory; after fork see fork.c. */
#define _GNU_SOURCE
#include "heap/moved.h"

#include "heap/huge.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/mempolicy.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

struct moved moved;

enum { word_bits = 64, most_entries = 512, most_mappings = 64 };

/* Each move may split a mapping in three. The system allows a process 65530 (vm.max_map_count), and
 * the program may want them. */
enum { crowd = 8192 };

int moved_begin(void) {
    if (moved.bits) return 0;
    size_t ranges = most_heap_ranges * sizeof *moved.ranges;
    size_t bytes = ranges + region.bytes / region.page / 8 + sizeof *moved.bits;
    char *tables = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    void *alias = segment_lay(NULL, region.fd, 0, region.bytes, PROT_READ | PROT_WRITE);
    if (tables == MAP_FAILED || alias == MAP_FAILED) {
        int error = -errno;
        if (tables != MAP_FAILED) munmap(tables, bytes);
        if (alias != MAP_FAILED) munmap(alias, region.bytes);
        return error;
    }
    madvise(alias, region.bytes, MADV_DONTDUMP);
    moved.ranges = (struct heap_range *)(void *)tables;
    moved.bits = (_Atomic uint64_t *)(void *)(tables + ranges);
    moved.alias = alias;
    return 0;
}

static bool is_moved(size_t offset) {
    size_t page = offset / region.page;
    return atomic_load_explicit(&moved.bits[page / word_bits], memory_order_relaxed) >>
               page % word_bits &
           1;
}

static void mark(size_t offset, size_t bytes, bool set) {
    for (size_t at = offset; at < offset + bytes; at += region.page) {
        size_t page = at / region.page;
        uint64_t bit = (uint64_t)1 << page % word_bits;
        if (set) atomic_fetch_or(&moved.bits[page / word_bits], bit);
        else atomic_fetch_and(&moved.bits[page / word_bits], ~bit);
    }
    if (set) heap_uses((size_t *)&moved.end, offset + bytes);
    if (set) atomic_fetch_add(&moved.bytes, bytes);
    else atomic_fetch_sub(&moved.bytes, bytes);
}

/* Gives the file's pages back to the system. What was there reads as zeros. Programs may close all
 * descriptors when MPI has ended, and free their buffers then; and a container may refuse
 * fallocate, which is what madvise does inside the kernel. */
static void punch(size_t offset, size_t bytes) {
    const int how = FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE;
    if (!region_fd_valid() || syscall(SYS_fallocate, region.fd, how, offset, bytes) != 0)
        syscall(SYS_madvise, moved.alias + offset, bytes, MADV_REMOVE);
}

static int map_shared(char *start, size_t bytes, size_t offset, int protection) {
    void *map = mmap(start, bytes, protection, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, region.fd,
                     (off_t)offset);
    if (map == MAP_FAILED) return -errno;
    madvise(start, bytes, MADV_DONTFORK);
    mark(offset, bytes, true);
    return 0;
}

int moved_born(char *start, size_t bytes) {
    size_t offset = (size_t)(start - region.base);
    if (!region_fd_valid()) return -EBADF;
    punch(offset, bytes);
    return map_shared(start, bytes, offset, PROT_READ | PROT_WRITE);
}

/* The end of the run of pages from `at`, which begins one, on that have all moved, or all not. */
static size_t run_end(size_t at, size_t end) {
    bool kind = is_moved(at);
    while (at < end && is_moved(at) == kind) {
        size_t page = at / region.page;
        uint64_t word = moved.bits[page / word_bits];
        bool whole = page % word_bits == 0 && word == (kind ? UINT64_MAX : 0);
        at += whole ? word_bits * region.page : region.page;
    }
    return at < end ? at : end;
}

/* The offset of the page in which this memory begins; *end: where the memory ends. */
static size_t first_page(const void *memory, size_t bytes, size_t *end) {
    size_t offset = (size_t)((const char *)memory - region.base);
    *end = offset + bytes;
    return offset / region.page * region.page;
}

bool moved_within(const void *memory, size_t bytes) {
    size_t end, offset = first_page(memory, bytes, &end);
    if (moved.end <= offset) return false;
    return is_moved(offset) || run_end(offset, end) < end;
}

bool moved_wholly(const void *memory, size_t bytes) {
    size_t end, offset = first_page(memory, bytes, &end);
    return moved.bits && is_moved(offset) && run_end(offset, end) >= end;
}

void moved_return(char *start, size_t bytes) {
    size_t at = (size_t)(start - region.base), end = at + bytes;
    if (moved.end <= at) return;
    region_lock();
    for (size_t next; at < end && at < moved.end; at = next) {
        next = run_end(at, end);
        if (!is_moved(at)) continue;
        void *map = mmap(region.base + at, next - at, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
        if (map != MAP_FAILED) mark(at, next - at, false);
        else if (region_fd_valid()) /* the program may have closed it, and opened another file */
            map_if_gone(region.base + at, next - at, PROT_READ | PROT_WRITE, MAP_SHARED, region.fd,
                        at);
    }
    /* All of it: the file also has copies of pages that have not moved, the ends of buffers. */
    punch((size_t)(start - region.base), bytes);
    region_unlock();
}

bool moved_next(size_t offset, struct extent *run, char **address) {
    if (!moved.bits) return false;
    while (offset < moved.end && !is_moved(offset)) offset = run_end(offset, moved.end);
    if (offset >= moved.end) return false;
    size_t end = run_end(offset, moved.end);
    struct heap_range place;
    bool placed = place_at(offset, &place);
    *address = placed ? place.start + (offset - place.offset) : region.base + offset;
    if (placed && end > place.offset + place.bytes) end = place.offset + place.bytes;
    if (!placed) end = place_end(offset, end);
    *run = (struct extent){.offset = offset, .bytes = end - offset};
    return true;
}

/* Memory from `at` to `end`: where does it lie in the file? *until: so far that is true. False: it
 * has no place there. */
static bool is_placed(char *at, char **until, size_t *offset) {
    struct heap_range place = {.start = region.base, .bytes = region.bytes};
    if (!place_of(at, &place) && !region_holds(at)) {
        if (region.base > at && region.base < *until) *until = region.base;
        *until = place_next(at, *until);
        return false;
    }
    *offset = (size_t)(at - place.start) + place.offset;
    if (place.start + place.bytes < *until) *until = place.start + place.bytes;
    return true;
}

bool moved_run(char *at, char *end, struct extent *run, char **start) {
    size_t offset;
    for (char *until; moved.bits && at < end; at = until) {
        until = end;
        if (!is_placed(at, &until, &offset) || offset >= moved.end) continue;
        size_t last = offset + (size_t)(until - at), first = offset;
        if (last > moved.end) last = moved.end;
        if (!is_moved(first)) first = run_end(first, last);
        if (first >= last) continue;
        *run = (struct extent){.offset = first, .bytes = run_end(first, last) - first};
        *start = at + (first - offset);
        return true;
    }
    return false;
}

void moved_leave(char *start, char *end) {
    struct extent run;
    for (char *at = start, *found; moved_run(at, end, &run, &found); at = found + run.bytes) {
        mark(run.offset, run.bytes, false);
        punch(run.offset, run.bytes);
    }
}

void moved_clear(size_t offset, size_t bytes) { punch(offset, bytes); }

/* Bytes that are zero stay untouched. */
static void copy_back(char *to, const char *from, size_t bytes) {
    for (size_t at = 0; at < bytes; at += region.page)
        if (!blank(from + at, region.page)) memcpy(to + at, from + at, region.page);
}

static int bring_back(char *start, size_t bytes, size_t offset, int protection) {
    const int usual = PROT_READ | PROT_WRITE, flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED;
    if (mmap(start, bytes, usual, flags, -1, 0) == MAP_FAILED) {
        if (region_fd_valid()) map_if_gone(start, bytes, protection, MAP_SHARED, region.fd, offset);
        return -ENOMEM;
    }
    copy_back(start, moved.alias + offset, bytes);
    if (protection != usual) mprotect(start, bytes, protection);
    mark(offset, bytes, false);
    punch(offset, bytes);
    return 0;
}

int moved_bring_back(char *start, char *end) {
    struct extent run;
    struct mapping one;
    int error = 0, all;
    for (char *at = start, *found; !error && moved_run(at, end, &run, &found); at = found) {
        uintptr_t first = (uintptr_t)found;
        if (mappings_between(first, first + run.bytes, &one, 1, &all) != 1) return -ENOMEM;
        error = bring_back(found, one.end - first, run.offset, one.protection);
    }
    return error;
}

bool moved_holds(const void *address) {
    const char *byte = address;
    if (!moved.bits) return false;
    if (region_holds(byte)) return is_moved((size_t)(byte - region.base));
    struct heap_range place;
    return place_of(byte, &place) && is_moved((size_t)(byte - place.start) + place.offset);
}

/* ---- moving ---- */

static bool write_all(const char *from, size_t bytes, size_t offset) {
    while (bytes > 0) {
        long written = syscall(SYS_pwrite64, region.fd, from, bytes, offset);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        from += written;
        bytes -= (size_t)written;
        offset += (size_t)written;
    }
    return true;
}

/* What the kernel knows of the pages of a piece of up to 2 MiB; bits 63 and 62: in memory, swapped
 * out. False: it does not tell. */
static bool look_up(int pagemap, const char *from, size_t bytes, uint64_t entries[most_entries]) {
    size_t page = region.page, want = bytes / page * sizeof *entries,
           place = (uintptr_t)from / page * sizeof *entries;
    return pagemap >= 0 && syscall(SYS_pread64, pagemap, entries, want, place) == (long)want;
}

static bool holds_data(const uint64_t *known, const char *from, size_t i) {
    return known ? known[i] >> 62 != 0 : !blank(from + i * region.page, region.page);
}

/* Copies the pages of a piece of up to 2 MiB. Those that were never touched (known), or are blank,
 * become holes. What the file held of a page were copies of the same bytes, which peers may be
 * reading for another call: they never see anything else. */
static bool copy_pages(const uint64_t *known, const char *from, size_t bytes, size_t offset) {
    size_t page = region.page, count = bytes / page;
    for (size_t i = 0, run; i < count; i = run) {
        bool held = holds_data(known, from, i);
        for (run = i + 1; run < count && holds_data(known, from, run) == held; run++) continue;
        if (!held) punch(offset + i * page, (run - i) * page);
        else if (!write_all(from + i * page, (run - i) * page, offset + i * page)) return false;
    }
    return true;
}

/* Copies a whole huge page into one of the file's. False: there is none to be had. */
static bool copy_huge(const char *from, size_t offset) {
    char *to = moved.alias + offset;
    if (!huge_wanted() || !write_all(from, 1, offset) || !huge_make(to)) return false;
    memcpy(to, from, huge_page);
    return true;
}

/* anonymous: a page that was never touched is zero. Else it may be a file's. */
static bool copy_piece(int pagemap, bool anonymous, const char *from, size_t bytes, size_t offset) {
    uint64_t entries[most_entries];
    size_t there = 0, count = bytes / region.page;
    bool known = count <= most_entries && look_up(pagemap, from, bytes, entries);
    for (size_t i = 0; i < count && known; i++) there += entries[i] >> 62 != 0;
    if (bytes == huge_page && known && there >= count / 2 && copy_huge(from, offset)) return true;
    return copy_pages(known && anonymous ? entries : NULL, from, bytes, offset);
}

/* Where the program wants these pages (mbind) the file shall have them, too. */
static void keep_policy(const char *start, size_t bytes, size_t offset) {
    enum { most_nodes = 1024 }; /* the kernel's own bound */
    static bool any;
    unsigned long nodes[most_nodes / (8 * sizeof(long))] = {0};
    int policy;
    long told = syscall(SYS_get_mempolicy, &policy, nodes, most_nodes, start, MPOL_F_ADDR);
    if (told != 0 || (policy == MPOL_DEFAULT && !any)) return;
    any = true;
    syscall(SYS_mbind, moved.alias + offset, bytes, policy, nodes, most_nodes + 1, 0);
}

/* Moves a piece of one mapping that has not moved. The lock is held. */
static int move_piece(int pagemap, char *start, size_t bytes, size_t offset, int protection) {
    struct heap_range place;
    bool fine = region_fd_valid(), anonymous = !place_of(start, &place) || place.leaves;
    keep_policy(start, bytes, offset);
    for (size_t at = 0, step; at < bytes && fine; at += step) {
        size_t to_border = huge_page - (offset + at) % huge_page;
        step = to_border < bytes - at ? to_border : bytes - at;
        fine = copy_piece(pagemap, anonymous, start + at, step, offset + at);
    }
    return fine ? map_shared(start, bytes, offset, protection) : -ENOMEM;
}

/* Moves what has not moved of one mapping, bit by bit, so that others can allocate in between, and
 * little memory is there twice: ranks that move at the same time may be near a limit. */
static int move_mapping(int pagemap, const struct mapping *mapping, size_t offset) {
    const size_t most = huge_page;
    size_t bytes = mapping->end - mapping->start;
    int error = 0;
    for (size_t at = 0, next; at < bytes && !error; at = next) {
        region_lock();
        next = run_end(offset + at, offset + bytes) - offset;
        if (next - at > most) next = (offset + at + most) / huge_page * huge_page - offset;
        if (!is_moved(offset + at))
            error = move_piece(pagemap, (char *)mapping->start + at, next - at, offset + at,
                               mapping->protection);
        region_unlock();
    }
    return error;
}

/* Moves what lies in the first mappings of this memory. range NULL: it lies in the region. Returns
 * of how many bytes, or -errno; then some of it may have moved. */
static ssize_t move_first(int pagemap, uintptr_t start, size_t bytes, size_t offset,
                          const struct heap_range *range) {
    struct mapping list[most_mappings];
    int all, error = 0, count = mappings_between(start, start + bytes, list, most_mappings, &all);
    if (count <= 0 || all > crowd) return -EAGAIN;
    size_t covered = 0;
    for (int i = 0; i < count; i++) {
        bool ours = list[i].shared && moved_holds((char *)list[i].start);
        if (list[i].start != start + covered) error = -EFAULT;
        if (!(list[i].protection & PROT_READ) || (list[i].shared && !ours)) error = -EFAULT;
        if ((!range || range->leaves) && list[i].of_file && !ours)
            error = -EFAULT; /* the program has mapped it here */
        covered += list[i].end - list[i].start;
    }
    if (covered != bytes && count < most_mappings) error = -EFAULT;
    for (int i = 0; i < count && !error; i++)
        error = move_mapping(pagemap, &list[i], offset + (list[i].start - start));
    return error ? error : (ssize_t)covered;
}

int mortar_heap_move(void *memory, size_t bytes) {
    char *start = memory;
    struct heap_range place, *range = NULL;
    if (region.bytes == 0 || !moved.bits || !region_fd_valid()) return -EFAULT;
    if (!region_holds(start)) {
        if (!place_of(start, &place) && !place_new(start, bytes, &place)) return -EFAULT;
        range = &place;
        if (bytes > range->bytes - (size_t)(start - range->start)) return -EFAULT;
        if (!place_is_real(range, start, bytes)) return -EFAULT;
    }
    if (bytes == 0) return 0;
    size_t offset =
        range ? (size_t)(start - range->start) + range->offset : (size_t)(start - region.base);
    if (!segment_may_be(offset + bytes) || must_stay((uintptr_t)start, (uintptr_t)start + bytes))
        return -EAGAIN;
    int saved = errno, pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    ssize_t moves = 0;
    for (size_t at = 0; at < bytes && moves >= 0; at += (size_t)moves)
        moves = move_first(pagemap, (uintptr_t)start + at, bytes - at, offset + at, range);
    if (pagemap >= 0) close(pagemap);
    errno = saved;
    return moves < 0 ? (int)moves : 0;
}
