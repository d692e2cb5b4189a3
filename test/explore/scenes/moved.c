/* SPDX-License-Identifier: BSD-3-Clause */
/* moved - pages that move into the heap's file while other threads of the program call collectives
 * on the same memory, or write beside it (heap/moved.c, src/reach/shown.c). Threads 0 and 1 are of
 * one process; thread 2 is a peer, which sees that process's file only. Numbers: of calls; 0: the
 * memory is malloc's, 1: static data, 2: mappings of the program's.
 *
 * The kernel's part is played here: memory is `private`, and a page that is mapped is the file's. A
 * thread of the program looks which of both it is for each access, as the processor does. What the
 * kernel writes into the file is no access if the bytes are the same. Pages are 64 bytes. */
#include "../crew.h"

#include "heap/heap.h"
#include "heap/mapped.h"
#include "heap/moved.h"

#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { page = 64, pages = 4, bytes = page * pages, in_page = page / 4, file_number = 1000 };
/* The threads' buffers, in words of 4 bytes: thread 0's begins and ends inside of pages, thread 1's
 * is the two pages between. */
static const struct buffer {
    size_t first, count;
} parts[] = {{8, 40}, {in_page, 2 * in_page}};

static char *private, *file;
static _Atomic uint8_t *is_mapped;                 /* [pages] */
static struct turns {
    _Atomic uint32_t taken, served;
} *region_turns, *wants_turns; /* the two locks */
static struct line {
    _Alignas(64) struct flag told, taken;
    uint64_t offset;
} *lines;                 /* [2] from a thread to its peer */
static struct flag *both; /* between the calls of threads 0 and 1 */

/* ---- the kernel and the allocator ---- */

struct region region;
void share_wants(void);

/* By turns, so that no word that is waited for has an old value again. */
static void take(struct turns *lock) {
    uint32_t mine = atomic_fetch_add_explicit(&lock->taken, 1, memory_order_relaxed), now;
    while ((now = atomic_load_explicit(&lock->served, memory_order_acquire)) != mine)
        await_change(&lock->served, now);
}
static void give(struct turns *lock) {
    uint32_t mine = atomic_load_explicit(&lock->served, memory_order_relaxed);
    atomic_store_explicit(&lock->served, mine + 1, memory_order_release);
}
void region_lock(void) { take(region_turns); }
void region_unlock(void) { give(region_turns); }
int explored_pthread_mutex_lock(void *mutex);
int explored_pthread_mutex_lock(void *mutex) {
    (void)mutex;
    take(wants_turns);
    return 0;
}
int explored_pthread_mutex_unlock(void *mutex);
int explored_pthread_mutex_unlock(void *mutex) {
    (void)mutex;
    give(wants_turns);
    return 0;
}
bool region_fd_valid(void) { return true; }
bool must_stay(uintptr_t start, uintptr_t end) {
    (void)start, (void)end;
    return false;
}
bool segment_may_be(size_t length) {
    (void)length;
    return true;
}
bool huge_wanted(void) { return false; }

int mappings_between(uintptr_t start, uintptr_t end, struct mapping *list, int most, int *all) {
    int found = 0;
    *all = 1;
    for (uintptr_t at = start; at < end && found < most; at += page) {
        bool shared = atomic_load(&is_mapped[(at - (uintptr_t) private) / page]);
        if (found > 0 && list[found - 1].shared == shared) list[found - 1].end = at + page;
        else
            list[found++] = (struct mapping){at, at + page, PROT_READ | PROT_WRITE, shared, shared};
    }
    return found;
}

void *explored_mmap(void *start, size_t length, int protection, int flags, int fd, long offset);
void *explored_mmap(void *start, size_t length, int protection, int flags, int fd, long offset) {
    (void)protection, (void)fd, (void)offset;
    size_t from = (size_t)((char *)start - private);
    for (size_t at = 0; from < bytes && at < length; at += page) /* not the file's second mapping */
        atomic_store(&is_mapped[(from + at) / page], flags & MAP_SHARED ? 1 : 0);
    return start;
}

void *segment_lay(void *at, int fd, size_t offset, size_t length, int protection) {
    (void)fd, (void)offset, (void)length, (void)protection;
    return at;
}

int explored_open(const char *name, int how);
int explored_open(const char *name, int how) {
    (void)name, (void)how;
    return -1; /* no pagemap */
}

static void into_file(size_t offset, const char *from, size_t length) {
    for (size_t at = 0; at < length; at += 4)
        if (memcmp(file + offset + at, from + at, 4) != 0) memcpy(file + offset + at, from + at, 4);
}

long scene_syscall(long number, va_list list) {
    static const char zeros[bytes];
    if (number == SYS_get_mempolicy) return -1; /* the program has asked for no place */
    expect(va_arg(list, int) == file_number, "a call that is not for the file");
    if (number == SYS_pwrite64) {
        const char *from = va_arg(list, const char *);
        size_t length = va_arg(list, size_t);
        into_file(va_arg(list, size_t), from, length);
        return (long)length;
    }
    int how = va_arg(list, int);
    size_t offset = va_arg(list, size_t);
    expect(number == SYS_fallocate && how != 0, "a system call that this scene does not know");
    into_file(offset, zeros, va_arg(list, size_t));
    return 0;
}

/* All of the memory is one segment of the executable. */
int explored_dl_iterate_phdr(int (*look)(struct dl_phdr_info *, size_t, void *), void *state);
int explored_dl_iterate_phdr(int (*look)(struct dl_phdr_info *, size_t, void *), void *state) {
    ElfW(Phdr) head = {
        .p_type = PT_LOAD, .p_flags = PF_W, .p_vaddr = (uintptr_t) private, .p_memsz = bytes};
    struct dl_phdr_info object = {.dlpi_phdr = &head, .dlpi_phnum = 1};
    return look(&object, sizeof object, state);
}
bool mappings_below(uintptr_t address, struct below *below) {
    (void)address, (void)below;
    return false; /* no stack */
}
void *region_take(size_t length, bool *refused) {
    (void)length, (void)refused;
    return region.base;
}
void region_give(void *memory, size_t length) { (void)memory, (void)length; }

/* Three mappings of the program's: pages 0, 1, and 2 and 3. */
static const size_t mapping_starts[] = {0, page, 2 * page, bytes};
static _Atomic uint32_t *is_noted; /* [3] */

bool mapped_holds(const void *memory, size_t length, char **start, char **end) {
    for (int i = 0; i < 3; i++) {
        *start = private + mapping_starts[i], *end = private + mapping_starts[i + 1];
        bool inside = (const char *)memory >= *start && (const char *)memory + length <= *end;
        if (inside && atomic_load(&is_noted[i])) return true;
    }
    return false;
}
bool mapped_touches(const void *memory, size_t length) {
    char *start, *end;
    return mapped_holds(memory, length, &start, &end);
}
bool mapped_is_seen(void) { return true; }

/* ---- what shown.c asks for ---- */

int mortar_heap_region(struct heap_region *now) {
    *now = (struct heap_region){region.base,
                                region.bytes,
                                region.fd,
                                region.page,
                                (const uint64_t *)moved.bits,
                                moved.alias,
                                moved.ranges,
                                (const int *)&moved.range_count,
                                false,
                                (size_t *)&moved.end};
    return 0;
}
void *mortar_heap_alloc(size_t alignment, size_t length) {
    (void)alignment, (void)length;
    return NULL;
}
void mortar_heap_free(void *memory) { (void)memory; }
void *explored_dlsym(void *library, const char *name);
void *explored_dlsym(void *library, const char *name) {
    (void)library;
    if (strcmp(name, "mortar_heap_region") == 0) return (void *)mortar_heap_region;
    if (strcmp(name, "mortar_heap_move") == 0) return (void *)mortar_heap_move;
    if (strcmp(name, "mortar_heap_sees") == 0) return (void *)mapped_is_seen;
    return strcmp(name, "mortar_heap_alloc") == 0 ? (void *)mortar_heap_alloc
                                                  : (void *)mortar_heap_free;
}
int segment_name(int fd, struct segment_name *name) {
    (void)fd, (void)name;
    return 0;
}
double clock_seconds(void) { return 0; }
bool gpus_know(const void *start, size_t length) {
    (void)start, (void)length;
    return false;
}
int option_choice(enum option option, const char *words) {
    (void)option, (void)words;
    return 2; /* START=first: it moves at once */
}

/* ---- the program ---- */

static void begin(void) {
    struct segment_name name;
    crew_plain();
    char *memory = share(2 * bytes), *elsewhere = share(16 * bytes);
    private = memory + (bytes - (uintptr_t)memory % bytes) % bytes;
    file = share(bytes);
    name_memory(private, bytes, "private memory");
    name_memory(file, bytes, "the file");
    is_mapped = share(pages);
    is_noted = share(3 * sizeof *is_noted);
    for (int i = 0; i < 2 && scene_number(1) == 2; i++) is_noted[i] = 1;
    region_turns = share(sizeof *region_turns), wants_turns = share(sizeof *wants_turns);
    lines = share(2 * sizeof *lines);
    both = share(sizeof *both);
    moved_at = share(sizeof *moved_at);
    moved.bits = share(8);
    moved.ranges = share(most_heap_ranges * sizeof *moved.ranges);
    name_memory(moved_at, sizeof *moved_at, "what has moved");
    moved.alias = file;
    region = (struct region){.base = scene_number(1) ? elsewhere : private,
                             .bytes = scene_number(1) ? 16 * bytes : bytes,
                             .page = page,
                             .fd = file_number};
    share_wants();
    for (int r = 0; r < scene_threads(); r++) shown_begin(&teams[r], &name);
    for (int r = 0; r < scene_threads(); r++) teams[r].region = region.base;
}

/* The program's memory, where the page of this word is now. */
static uint32_t *memory_of(size_t word) {
    bool there = atomic_load(&is_mapped[word / in_page]);
    return (uint32_t *)(void *)(there ? file : private);
}
static uint32_t said(int k, size_t word) { return (uint32_t)(100 * k) + (uint32_t)word; }

/* Thread 0 fills its buffer, or finds it filled. */
static void fill(int k, bool looks) {
    uint32_t *memory = NULL;
    for (size_t w = parts[0].first; w < parts[0].first + parts[0].count; w++) {
        if (!memory || w % in_page == 0) memory = memory_of(w);
        if (looks) expect(memory[w] == said(k, w), "what the peer wrote is not there");
        else memory[w] = said(k, w);
    }
}

static void wait_for(struct flag *flag, int value) {
    for (uint32_t seen; (seen = flag_look(flag)) != (uint32_t)value;)
        flag_wait(crew_team(), flag, seen);
}

/* A call in which the peer reads this thread's buffer, or writes it. The flags are its barriers. */
static void call(int me, int k, enum showing how) {
    struct line *line = &lines[me];
    void *buffer = private + 4 * parts[me].first;
    size_t length = 4 * parts[me].count;
    expect(team_shows(crew_team(), buffer, length, how | SHOW_NOW, &line->offset) == SHOWN,
           "it cannot be shown");
    flag_set(&line->told, (uint32_t)k);
    wait_for(&line->taken, k);
    if (how == SHOW_TO_WRITERS) team_takes_back(crew_team(), buffer, length);
}

static void peer(int thread, int k, bool writes) {
    struct line *line = &lines[thread];
    wait_for(&line->told, k);
    uint32_t *theirs = (uint32_t *)(void *)(file + line->offset);
    for (size_t i = 0; i < parts[thread].count; i++) {
        if (writes) theirs[i] = said(k, parts[thread].first + i);
        else expect(theirs[i] == said(k, parts[thread].first + i), "the peer reads wrong data");
    }
    flag_set(&line->taken, (uint32_t)k);
}

/* Both threads send, each on a communicator of its own; who comes first moves what both have.
 * Thread 0 writes it anew between the calls. */
static void sends(int me) {
    for (int k = 1; k <= scene_number(0); k++) {
        if (me == 2) {
            for (int thread = 1; thread >= 0; thread--) peer(thread, k, false);
            continue;
        }
        if (me == 0) fill(k, false), flag_set(both, (uint32_t)(2 * k - 1));
        else wait_for(both, 2 * k - 1);
        call(me, k, SHOW_TO_READERS);
        if (me == 1) flag_set(both, (uint32_t)(2 * k));
        else wait_for(both, 2 * k);
    }
}

/* Thread 1 writes beside thread 0's buffer, in the pages of its ends. */
static void beside(int me, enum showing how) {
    const size_t before = parts[0].first - 1, behind = parts[0].first + parts[0].count;
    for (int k = 1; k <= scene_number(0); k++) {
        if (me == 2) {
            peer(0, k, how == SHOW_TO_WRITERS);
        } else if (me == 1) {
            memory_of(before)[before] = memory_of(behind)[behind] = (uint32_t)k;
            expect(memory_of(before)[before] == (uint32_t)k &&
                       memory_of(behind)[behind] == (uint32_t)k,
                   "what was written beside the buffer is lost");
        } else {
            if (how == SHOW_TO_READERS) fill(k, false);
            call(0, k, how);
            fill(k, true);
        }
    }
}
static void reads(int me) { beside(me, SHOW_TO_READERS); }
static void writes(int me) { beside(me, SHOW_TO_WRITERS); }

/* Thread 1 exposes a part of what thread 0 sends: from then on it stays where it is. */
static void stays(int me) {
    const struct buffer *part = &parts[0];
    if (me == 0) {
        uint64_t offset;
        for (int k = 1; k <= scene_number(0); k++)
            team_shows(crew_team(), private + 4 * part->first, 4 * part->count, SHOW_NOW, &offset);
        flag_set(both, 1);
    } else {
        struct staying memory = {.start = (uintptr_t)(private + page), .bytes = 1};
        shown_stays(&memory);
        bool there = atomic_load(&is_mapped[1]);
        wait_for(both, 1);
        expect(atomic_load(&is_mapped[1]) == there, "memory that must stay has moved");
        shown_may_move(&memory);
    }
}

/* Thread 1 unmaps the first mapping, and the last one takes its place in the list of ranges, while
 * thread 0 looks for the one between, and for the last. */
static void begin_leaves(void) {
    struct heap_range place;
    begin();
    for (int i = 0; i < 2; i++)
        expect(place_new(private + mapping_starts[i], page, &place), "a place");
}
static void leaves(int me) {
    struct heap_range place;
    char *between = private + mapping_starts[1], *last = private + mapping_starts[2];
    if (me == 0) {
        for (int k = 0; k < scene_number(0); k++) {
            expect(place_of(between, &place), "it is not found");
            expect(place.start == between && place.offset == page, "another one is found");
            if (place_of(last, &place)) expect(place.offset == 2 * page, "it lies elsewhere");
        }
        return;
    }
    atomic_store(&is_noted[0], 0);
    place_release();
    atomic_store(&is_noted[2], 1);
    expect(place_new(last, 2 * page, &place), "another place");
}

const struct scene scenes[] = {{"sends", begin, sends, NULL},
                               {"leaves", begin_leaves, leaves, NULL},
                               {"reads", begin, reads, NULL},
                               {"writes", begin, writes, NULL},
                               {"stays", begin, stays, NULL}};
const int scene_count = sizeof scenes / sizeof scenes[0];
