/* SPDX-License-Identifier: BSD-3-Clause */
/* heap.h - the shared heap (li2018 section 2). malloc gives private memory, and the pages that
 * collectives use move into a file that all ranks of the node can map. libmortar-heap.so exports
 * these functions and the malloc family. It works without mortar and without MPI. */
#ifndef MORTAR_HEAP_H
#define MORTAR_HEAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Memory outside the region that has a place in its file: static data, the stack, the program's own
 * mappings. Addresses in [start, start + bytes) have the file's offsets from `offset` on. */
struct heap_range {
    char *start;
    size_t bytes, offset;
    bool leaves;      /* the program's mapping: it may unmap it */
    unsigned changes; /* odd: in the middle of one. See heap_range_of */
};
enum { most_heap_ranges = 64 };

/* Before mortar_heap_begin blocks of at least so many bytes come from the region, and shorter ones
 * from the C library: those that it would map by themselves, too. With those from 32 KiB on, as
 * many folders that are read and tables of Open MPI are, a rank of it that hardly does more than
 * MPI_Init, and makes 1,260 page faults by itself, made 45 more. */
enum { long_block = 128 << 10 };
/* Afterwards those that are shorter, or at least as long, come from the region (heap/blocks.h). */
enum { middle_block = 897, middle_end = 16 << 10 };

struct heap_region {
    char *base;   /* address of the region in this process; offset 0 of the descriptor's file */
    size_t bytes; /* its length */
    int fd;       /* memfd, sealed against resizing; owned by the heap: do not close it */
    size_t page;
    /* One bit for each page of the file; other threads set and clear them. Set: the page is mapped
     * at its address. Else the memory at that address is private, and the file's page may be used
     * for copies. NULL: all of the region is shared, as in a simulation, whose ranks are one
     * process. */
    const uint64_t *moved;
    char *alias; /* the whole file, writable, elsewhere in this process */
    const struct heap_range *ranges;
    const int *range_count; /* grows as other threads move memory */
    bool loses_huge;        /* memory that moves loses its huge pages */
    size_t *end;            /* nothing in the file at or behind this offset has ever been used */
};

/* Raises such an end. Who copies into pages of the file that have not moved calls it before, or
 * they would never go back to the system. Thread safe. */
static inline void heap_uses(size_t *end, size_t until) {
    size_t seen = __atomic_load_n(end, __ATOMIC_RELAXED);
    while (seen < until && !__atomic_compare_exchange_n(end, &seen, until, true, __ATOMIC_RELAXED,
                                                        __ATOMIC_RELAXED))
        continue;
}

/* Copies the range that holds this memory to *found. False: none does. While the memory is there,
 * its range does not change: one that another thread is changing is for other memory. */
static inline bool heap_range_of(const struct heap_range *ranges, const int *range_count,
                                 const void *memory, size_t bytes, struct heap_range *found) {
    int count = __atomic_load_n(range_count, __ATOMIC_RELAXED);
    for (int i = 0; i < count; i++) {
        const struct heap_range *range = &ranges[i];
        unsigned changes = __atomic_load_n(&range->changes, __ATOMIC_ACQUIRE);
        size_t length = __atomic_load_n(&range->bytes, __ATOMIC_RELAXED);
        char *start = __atomic_load_n(&range->start, __ATOMIC_RELAXED);
        size_t inside = (size_t)((const char *)memory - start);
        if (inside >= length || bytes > length - inside) continue;
        *found = (struct heap_range){.start = start,
                                     .bytes = length,
                                     .offset = __atomic_load_n(&range->offset, __ATOMIC_RELAXED),
                                     .leaves = __atomic_load_n(&range->leaves, __ATOMIC_RELAXED),
                                     .changes = changes};
        __atomic_thread_fence(__ATOMIC_ACQUIRE);
        if (!(changes & 1) && __atomic_load_n(&range->changes, __ATOMIC_RELAXED) == changes)
            return true;
    }
    return false;
}

/* Fills *region. 0, or -errno if no memory can move (switched off, refused, or in a forked child).
 * Thread safe. */
int mortar_heap_region(struct heap_region *region);

/* Why not, or why malloc's blocks cannot (another malloc is used), in words that a user can act on;
 * NULL: all can. Static storage. */
const char *mortar_heap_why(void);

/* From now on short blocks come from the region, too: MPI_Init has ended. jemalloc takes half the
 * time of glibc for them. */
void mortar_heap_begin(void);

/* Moves whole pages into the file: malloc's memory, static data of the executable, the stack of the
 * thread that began with main, or the program's own mappings. Nobody may write to them meanwhile;
 * others may read them. 0; or -errno, and then some pages may have moved and the others are as they
 * were: -EFAULT: such memory never moves. bytes 0: only asks whether it may, and gives it a place.
 * Thread safe. */
int mortar_heap_move(void *start, size_t bytes);

/* True: the program cannot unmap its mappings unseen, so what has moved of them may be used. Once
 * false it stays so. Thread safe. */
bool mortar_heap_sees(void);

/* Memory that is shared from the beginning; mortar_heap_free frees it, free does too. NULL: none,
 * or nobody has called mortar_heap_region yet. Thread safe. */
void *mortar_heap_alloc(size_t alignment, size_t bytes);
void mortar_heap_free(void *memory);

#endif
