/* SPDX-License-Identifier: BSD-3-Clause */
/* places - memory outside the region that has a place in the region's file, so that its pages can
 * move (moved.c): static data of the executable, the stack of the thread that began with main, and
 * the program's own mappings. The first two stay while the program runs, as a library or another
 * thread's stack may not; the third cannot go unseen (mapped.c). A piece of the region is set aside
 * for each; it is a second mapping of what has moved. */
#define _GNU_SOURCE
#include "heap/huge.h"
#include "heap/mapped.h"
#include "heap/moved.h"

#include <errno.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/resource.h>

/* Another thread may be changing it. */
static struct heap_range range_number(int i) {
    const struct heap_range *range = &moved.ranges[i];
    return (struct heap_range){.start = __atomic_load_n(&range->start, __ATOMIC_RELAXED),
                               .bytes = __atomic_load_n(&range->bytes, __ATOMIC_RELAXED),
                               .offset = __atomic_load_n(&range->offset, __ATOMIC_RELAXED),
                               .leaves = __atomic_load_n(&range->leaves, __ATOMIC_RELAXED)};
}

bool place_at(size_t offset, struct heap_range *place) {
    for (int i = 0; i < moved.range_count; i++) {
        *place = range_number(i);
        if (offset - place->offset < place->bytes) return true;
    }
    return false;
}

bool place_of(const void *address, struct heap_range *place) {
    return heap_range_of(moved.ranges, (const int *)&moved.range_count, address, 1, place);
}

size_t place_end(size_t offset, size_t end) {
    for (int i = 0; i < moved.range_count; i++) {
        struct heap_range place = range_number(i);
        if (place.bytes > 0 && place.offset > offset && place.offset < end) end = place.offset;
    }
    return end;
}

char *place_next(const char *address, char *end) {
    for (int i = 0; i < moved.range_count; i++) {
        struct heap_range place = range_number(i);
        if (place.bytes > 0 && place.start > address && place.start < end) end = place.start;
    }
    return end;
}

struct search {
    uintptr_t start, end; /* what is looked for; then the whole pages of the segment around it */
    bool found, leaves;
};

/* The first object is the executable. Others may be unloaded. */
static int look_in(struct dl_phdr_info *object, size_t size, void *state) {
    (void)size;
    struct search *search = state;
    uintptr_t page = region.page;
    for (int i = 0; i < object->dlpi_phnum && !search->found; i++) {
        const ElfW(Phdr) *head = &object->dlpi_phdr[i];
        if (head->p_type != PT_LOAD || !(head->p_flags & PF_W)) continue;
        uintptr_t start = object->dlpi_addr + head->p_vaddr, end = start + head->p_memsz;
        start &= ~(page - 1), end = (end + page - 1) & ~(page - 1);
        if (search->start < start || search->end > end) continue;
        *search = (struct search){.start = start, .end = end, .found = true};
    }
    return 1;
}

/* The stack's mapping, and what has moved of it, lie without a gap. The kernel keeps other mappings
 * away from its lower end. */
static bool find_stack(struct below *stack) {
    return mappings_below((uintptr_t)__libc_stack_end, stack);
}

static atomic_bool has_stack;

bool place_has_stack(void) { return has_stack; }

enum { usual = PROT_READ | PROT_WRITE };
static _Atomic int stack_protection = usual; /* of the page where it begins, when last looked at */

static void look_at_protection(void) {
    struct mapping one = {.protection = usual};
    uintptr_t first = (uintptr_t)__libc_stack_end;
    int all;
    mappings_between(first, first + 1, &one, 1, &all);
    stack_protection = one.protection;
}

int place_protection(const void *address) {
    struct heap_range place, stack;
    if (!has_stack || !place_of(address, &place) || !place_of(__libc_stack_end, &stack))
        return usual;
    return place.start == stack.start ? stack_protection : usual;
}

struct loads {
    unsigned long long seen, now;
    bool needed; /* something that is loaded needs an executable stack */
};

static int look_at_loads(struct dl_phdr_info *object, size_t size, void *state) {
    (void)size;
    struct loads *loads = state;
    loads->now = object->dlpi_adds;
    if (loads->now == loads->seen) return 1;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *head = &object->dlpi_phdr[i];
        loads->needed |= head->p_type == PT_GNU_STACK && head->p_flags & PF_X;
    }
    return loads->needed;
}

/* What the program has protected otherwise, as a guard, stays so. The lock is held. */
static void make_executable(void) {
    enum { most = 64 };
    struct below stack;
    struct mapping list[most];
    int all, count = most;
    if (!find_stack(&stack)) return;
    for (uintptr_t at = stack.start; at < stack.end && count == most; at = list[most - 1].end) {
        count = mappings_between(at, stack.end, list, most, &all);
        for (int i = 0; i < count; i++)
            if (list[i].protection == usual)
                mprotect((void *)list[i].start, list[i].end - list[i].start, usual | PROT_EXEC);
    }
}

/* Up to 2.40 glibc makes the stack executable for a library that needs that, by an mprotect that
 * ends where what has moved begins. The program gets at such a library by dlsym, mostly; not where
 * the library's constructor needs it already. */
void place_follow(void) {
    static _Atomic unsigned long long seen;
    struct loads loads = {.seen = seen};
    if (!has_stack) return;
    dl_iterate_phdr(look_at_loads, &loads);
    seen = loads.now;
    if (!loads.needed) return;
    int saved = errno;
    region_lock();
    look_at_protection();
    if (stack_protection & PROT_EXEC) make_executable();
    region_unlock();
    errno = saved;
}

/* As much as the stack may grow to, or a 64th of the region if that is less. */
static void look_for_stack(struct search *search) {
    struct rlimit limit;
    size_t most = region.bytes / 64;
    struct below stack;
    struct heap_range place;
    uintptr_t near = (uintptr_t)__libc_stack_end;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < most) most = limit.rlim_cur;
    most &= ~(region.page - 1);
    if (near - search->start > most || place_of(__libc_stack_end, &place)) return;
    if (!find_stack(&stack) || stack.end - search->start > most) return;
    *search = (struct search){.start = stack.end - most, .end = stack.end, .found = true};
    look_at_protection();
    has_stack = true;
}

static bool is_mapped(const void *memory, size_t bytes) {
    char *start, *end;
    if (!mapped_is_seen()) return false;
    region_lock();
    bool holds = mapped_holds(memory, bytes, &start, &end);
    region_unlock();
    return holds;
}

bool place_is_real(const struct heap_range *place, const void *memory, size_t bytes) {
    static _Atomic uintptr_t known = UINTPTR_MAX; /* the stack never becomes shorter */
    uintptr_t start = (uintptr_t)place->start, first = (uintptr_t)__libc_stack_end;
    struct below stack;
    if (place->leaves) return is_mapped(memory, bytes);
    if (first - start >= place->bytes || (uintptr_t)memory >= known) return true;
    if (find_stack(&stack)) known = stack.start;
    return (uintptr_t)memory >= known;
}

/* What another place does not have already. False: that has some of the memory itself. */
static bool keep_apart(const struct search *memory, struct search *search) {
    for (int i = 0; i < moved.range_count; i++) {
        struct heap_range other = range_number(i);
        uintptr_t start = (uintptr_t)other.start, end = start + other.bytes;
        if (other.bytes == 0) continue;
        if (start < memory->end && end > memory->start) return false;
        if (end <= memory->start && end > search->start) search->start = end;
        if (start >= memory->end && start < search->end) search->end = start;
    }
    return true;
}

/* Of a mapping that is longer than a 16th of the region only as much around the memory. */
static void look_for_mapping(struct search *search) {
    struct search memory = *search;
    const uintptr_t most = region.bytes / 16 & ~(uintptr_t)(huge_page - 1);
    char *start, *end;
    bool holds = mapped_holds((void *)memory.start, memory.end - memory.start, &start, &end);
    if (!holds || memory.end - memory.start > most) return;
    *search = (struct search){.start = (uintptr_t)start, .end = (uintptr_t)end, .leaves = true};
    if (search->end - search->start > most) {
        uintptr_t window = memory.start & ~(uintptr_t)(huge_page - 1);
        if (window > search->start) search->start = window;
        if (memory.end - search->start > most) search->start = memory.start & ~(region.page - 1);
        if (search->end - search->start > most) search->end = search->start + most;
    }
    search->found = true;
}

/* The piece of the region that is set aside for a place, with what aligns it: the system uses huge
 * pages only if file offset and address are equal modulo their size. */
static size_t lead_of(uintptr_t start) { return start % huge_page; }

static size_t piece_of(const struct search *search) {
    return lead_of(search->start) + (search->end - search->start) + huge_page;
}

/* Others look for their places meanwhile, without the lock. */
static void set_range(struct heap_range *range, const struct search *search, size_t offset) {
    unsigned changes = __atomic_load_n(&range->changes, __ATOMIC_RELAXED);
    __atomic_store_n(&range->changes, changes + 1, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_RELEASE);
    __atomic_store_n(&range->start, (char *)search->start, __ATOMIC_RELAXED);
    __atomic_store_n(&range->bytes, search->end - search->start, __ATOMIC_RELAXED);
    __atomic_store_n(&range->offset, offset, __ATOMIC_RELAXED);
    __atomic_store_n(&range->leaves, search->leaves, __ATOMIC_RELAXED);
    __atomic_store_n(&range->changes, changes + 2, __ATOMIC_RELEASE);
}

/* NULL: there are too many. */
static struct heap_range *free_range(void) {
    int count = moved.range_count;
    for (int i = 0; i < count; i++)
        if (range_number(i).bytes == 0) return &moved.ranges[i];
    if (count == most_heap_ranges) return NULL;
    return &moved.ranges[count];
}

/* The lock is held. False: there is no room, or another thread has been here. */
static bool settle(const struct search *search, size_t offset) {
    struct heap_range *range = free_range();
    struct search alone = *search;
    size_t all = search->end - search->start;
    if (!range || !keep_apart(search, &alone)) return false;
    if (search->leaves && !mapped_touches((void *)search->start, all)) return false;
    if (search->leaves && moved.set_aside + piece_of(search) > region.bytes / 2) return false;
    void *map = segment_lay(region.base + offset, region.fd, offset, all, PROT_READ | PROT_WRITE);
    if (map == MAP_FAILED) return false;
    /* A core file contains the data once, at the address where a debugger looks. */
    madvise(map, all, MADV_DONTDUMP);
    madvise(map, all, MADV_DONTFORK);
    set_range(range, search, offset);
    if (search->leaves) moved.set_aside += piece_of(search);
    int count = moved.range_count;
    if (range == &moved.ranges[count]) atomic_store(&moved.range_count, count + 1);
    return true;
}

bool place_new(const void *memory, size_t bytes, struct heap_range *place) {
    const struct search wanted = {.start = (uintptr_t)memory, .end = (uintptr_t)memory + bytes};
    struct search search = wanted;
    region_lock();
    look_for_mapping(&search);
    region_unlock();
    if (!search.found) dl_iterate_phdr(look_in, &search);
    if (!search.found) look_for_stack(&search);
    if (!search.found || !keep_apart(&wanted, &search)) return false;
    char *piece = region_take(piece_of(&search), NULL);
    if (!piece) return false;
    region_lock();
    bool fine = settle(&search, (size_t)(piece - region.base) + lead_of(search.start));
    region_unlock();
    if (!fine) region_give(piece, piece_of(&search));
    return place_of(memory, place);
}

/* The lock is held. False: all places have their memory. */
static bool unsettle(char **piece, size_t *bytes) {
    for (int i = 0; i < moved.range_count; i++) {
        struct heap_range place = range_number(i);
        if (!place.leaves || mapped_touches(place.start, place.bytes)) continue;
        struct search was = {.start = (uintptr_t)place.start,
                             .end = (uintptr_t)place.start + place.bytes};
        *piece = region.base + place.offset - lead_of(was.start);
        *bytes = piece_of(&was);
        moved.set_aside -= *bytes;
        set_range(&moved.ranges[i], &(struct search){0}, 0);
        return true;
    }
    return false;
}

void place_release(void) {
    char *piece = NULL;
    size_t bytes = 0;
    for (bool some = true; some;) {
        if (moved.range_count == 0) return;
        region_lock();
        some = unsettle(&piece, &bytes);
        region_unlock();
        if (some) region_give(piece, bytes);
    }
}
