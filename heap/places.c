/* SPDX-License-Identifier: BSD-3-Clause */
/* places - memory outside the region that has a place in the region's file, so that its pages can
 * move (moved.c): static data of the executable, and the stack of the thread that began with main.
 * Neither goes away by itself while the program runs, as a library, another thread's stack or what
 * the program has mapped may. A piece of the region is set aside for each; it is a second mapping
 * of what has moved. */
#define _GNU_SOURCE
#include "heap/huge.h"
#include "heap/moved.h"

#include <errno.h>
#include <link.h>
#include <sys/mman.h>
#include <sys/resource.h>

const struct heap_range *place_at(size_t offset) {
    for (int i = 0; i < moved.range_count; i++)
        if (offset - moved.ranges[i].offset < moved.ranges[i].bytes) return &moved.ranges[i];
    return NULL;
}

const struct heap_range *place_of(const void *address) {
    for (int i = 0; i < moved.range_count; i++)
        if ((size_t)((const char *)address - moved.ranges[i].start) < moved.ranges[i].bytes)
            return &moved.ranges[i];
    return NULL;
}

struct search {
    uintptr_t start, end; /* what is looked for; then the whole pages of the segment around it */
    bool found;
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
    const struct heap_range *place = has_stack ? place_of(address) : NULL;
    return place && place == place_of(__libc_stack_end) ? stack_protection : usual;
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
    uintptr_t near = (uintptr_t)__libc_stack_end;
    if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < most) most = limit.rlim_cur;
    most &= ~(region.page - 1);
    if (near - search->start > most || place_of(__libc_stack_end)) return;
    if (!find_stack(&stack) || stack.end - search->start > most) return;
    *search = (struct search){.start = stack.end - most, .end = stack.end, .found = true};
    look_at_protection();
    has_stack = true;
}

bool place_is_real(const struct heap_range *place, const void *memory) {
    static _Atomic uintptr_t known = UINTPTR_MAX; /* the stack never becomes shorter */
    uintptr_t start = (uintptr_t)place->start, first = (uintptr_t)__libc_stack_end;
    struct below stack;
    if (first - start >= place->bytes || (uintptr_t)memory >= known) return true;
    if (find_stack(&stack)) known = stack.start;
    return (uintptr_t)memory >= known;
}

const struct heap_range *place_new(const void *memory, size_t bytes) {
    struct search search = {.start = (uintptr_t)memory, .end = (uintptr_t)memory + bytes};
    if (moved.range_count == most_heap_ranges) return NULL;
    dl_iterate_phdr(look_in, &search);
    if (!search.found) look_for_stack(&search);
    if (!search.found) return NULL;
    /* The system uses huge pages only if file offset and address are equal modulo their size. */
    size_t lead = search.start % huge_page, all = search.end - search.start;
    char *piece = region_take(lead + all + huge_page, NULL); /* so long that it is aligned */
    if (!piece) return NULL;
    size_t offset = (size_t)(piece - region.base) + lead;
    region_lock();
    int i = moved.range_count;
    void *map = MAP_FAILED;
    if (i < most_heap_ranges && !place_of(memory)) /* another thread may have been here */
        map = segment_lay(region.base + offset, region.fd, offset, all, PROT_READ | PROT_WRITE);
    bool fine = map != MAP_FAILED;
    if (fine) {
        /* A core file contains the data once, at the address where a debugger looks. */
        madvise(map, all, MADV_DONTDUMP);
        madvise(map, all, MADV_DONTFORK);
        moved.ranges[i] = (struct heap_range){(char *)search.start, all, offset};
        atomic_store(&moved.range_count, i + 1);
    }
    region_unlock();
    if (!fine) region_give(piece, lead + all + huge_page);
    return place_of(memory);
}
