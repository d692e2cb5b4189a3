/* SPDX-License-Identifier: BSD-3-Clause */
/* shown - which buffers of this process its peers can touch (li2018 section 2: they load and store
 * each other's memory). A peer sees the file of my heap (heap/heap.h). Pages of mine that have
 * moved into it are the same memory. A buffer moves once its calls have cost three times as much
 * more as moving costs, as in ski rental, where it would be once: programs of a few long calls lose
 * less by it then, and long runs hardly more.
 *
 * Only whole pages inside a buffer move: nobody may write them during the call, so no store can be
 * lost while they are copied. The pages at its ends may hold other data, which other threads and
 * system calls may write at any time. These stay private, and the file's page at the same place is
 * a copy of the buffer's bytes only: made before the barrier for peers that read, and copied back
 * after the last barrier if peers write. A buffer within two pages is copied whole.
 *
 * Each rank decides for itself. The others learn from the barrier what they cannot touch. */
#include "heap/heap.h"

#include "reach/reach.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

_Static_assert((size_t)shown_from == (size_t)middle_end, "as the heap has it");

static struct heap_region heap;
static struct {
    int (*region)(struct heap_region *);
    int (*bring)(void *start, size_t bytes);
    void *(*alloc)(size_t alignment, size_t bytes);
    void (*free)(void *memory);
    void (*begin)(void);
    bool (*sees)(void);
} library;
static pthread_once_t looked = PTHREAD_ONCE_INIT, once = PTHREAD_ONCE_INIT;
static bool has_library;

static void find_library(void) {
    static const char *const names[] = {"mortar_heap_region", "mortar_heap_move",
                                        "mortar_heap_alloc",  "mortar_heap_free",
                                        "mortar_heap_begin",  "mortar_heap_sees"};
    void *symbols[sizeof names / sizeof *names];
    _Static_assert(sizeof symbols == sizeof library, "a pointer for each name");
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (!(symbols[i] = dlsym(RTLD_DEFAULT, names[i]))) return;
    memcpy(&library, symbols, sizeof symbols);
    has_library = true;
}

static void look(void) {
    pthread_once(&looked, find_library);
    if (has_library && library.region(&heap) != 0) heap.bytes = 0;
}

void shown_start(void) {
    pthread_once(&looked,
                 find_library); /* not the heap itself, whose second mapping only a team needs */
    if (has_library) library.begin();
}

int shown_begin(struct team *team, struct segment_name *name) {
    struct heap_region now;
    pthread_once(&once, look);
    if (heap.bytes == 0) return -ENOSYS;
    /* The program may have closed the descriptor since. */
    int error = library.region(&now);
    if (!error) error = segment_name(heap.fd, name);
    if (error) return error;
    team->heap = heap.moved ? &heap : NULL;
    team->region = heap.base;
    team->region_bytes = heap.bytes;
    shown_moves.huge_lost = heap.loses_huge;
    return 0;
}

bool shown_owns(const void *memory) {
    pthread_once(&once, look);
    return (uintptr_t)memory - (uintptr_t)heap.base < heap.bytes;
}

void *shown_born(size_t alignment, size_t bytes) {
    pthread_once(&once, look);
    return heap.bytes > 0 ? library.alloc(alignment, bytes) : NULL;
}

void *shown_alloc(const struct team *team, size_t bytes) {
    void *memory = team->wire ? NULL : shown_born(0, bytes);
    return memory ? memory : malloc(bytes ? bytes : 1);
}

void shown_free(void *memory) {
    if (shown_owns(memory)) library.free(memory);
    else free(memory);
}

/* ---- what is in reach ---- */

static inline bool page_moved(const struct heap_region *h, uint64_t page) {
    return __atomic_load_n(&h->moved[page / 64], __ATOMIC_ACQUIRE) >> page % 64 & 1;
}

HOT static bool pages_moved(const struct heap_region *h, uint64_t first, uint64_t end) {
    for (uint64_t page = first; page < end;) {
        uint64_t word = __atomic_load_n(&h->moved[page / 64], __ATOMIC_ACQUIRE);
        if (page % 64 == 0 && end - page >= 64) {
            if (word != UINT64_MAX) return false;
            page += 64;
        } else {
            if (!(word >> page % 64 & 1)) return false;
            page++;
        }
    }
    return true;
}

/* The file's offset of this memory. *leaves: the program may unmap it. False: it has none. */
HOT static bool place_of(const struct team *team, const void *memory, size_t bytes,
                         uint64_t *offset, bool *leaves) {
    uint64_t inside = (uintptr_t)memory - (uintptr_t)team->region;
    const struct heap_region *h = team->heap;
    struct heap_range range;
    *offset = inside;
    *leaves = false;
    if (inside < team->region_bytes && bytes <= team->region_bytes - inside) return true;
    if (!h || !heap_range_of(h->ranges, h->range_count, memory, bytes, &range)) return false;
    *offset = range.offset + ((uintptr_t)memory - (uintptr_t)range.start);
    *leaves = range.leaves;
    return true;
}

bool team_owns(const struct team *team, const void *address) {
    return (uintptr_t)address - (uintptr_t)team->region < team->region_bytes;
}

/* Of the parts of a buffer at offset .. offset + bytes that lie in pages which are not its own
 * alone and have not moved: copies them into the file, or back. There are at most two. */
HOT static void copy_ends(const struct heap_region *h, char *memory, uint64_t offset, size_t bytes,
                          bool back) {
    uint64_t end = offset + bytes, first = offset / h->page, last = (end - 1) / h->page;
    for (uint64_t page = first; page <= last; page = page < last ? last : last + 1) {
        uint64_t from = page * h->page, to = from + h->page;
        bool whole = from >= offset && to <= end;
        if (from < offset) from = offset;
        if (to > end) to = end;
        if (whole || page_moved(h, page)) continue;
        heap_uses(h->end, (page + 1) * h->page);
        char *mine = memory + (from - offset), *theirs = h->alias + from;
        /* Peers' caches keep what does not change: tables of counts, for example. */
        if (back) memcpy(mine, theirs, to - from);
        else if (memcmp(theirs, mine, to - from) != 0) memcpy(theirs, mine, to - from);
    }
}

/* ---- what stays where it is ---- */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* held while memory moves, too */
static struct staying *first_staying;

void shown_stays(struct staying *memory) {
    pthread_mutex_lock(&lock);
    memory->next = first_staying;
    memory->link = &first_staying;
    if (first_staying) first_staying->link = &memory->next;
    first_staying = memory;
    pthread_mutex_unlock(&lock);
}

void shown_may_move(struct staying *memory) {
    pthread_mutex_lock(&lock);
    *memory->link = memory->next;
    if (memory->next) memory->next->link = memory->link;
    pthread_mutex_unlock(&lock);
}

static bool stays(uintptr_t start, size_t bytes) {
    for (const struct staying *s = first_staying; s; s = s->next)
        if (start - s->start < s->bytes || s->start - start < bytes) return true;
    return gpus_know((const void *)start, bytes);
}

/* ---- when a buffer moves ---- */

/* Buffers that may move, by address; in a set the least recently used makes room. */
enum { want_sets = 128, want_ways = 8 };
static struct want {
    uintptr_t start;
    size_t bytes;
    uint64_t used; /* the value of `turns` at its last use */
    uint32_t uses, needed;
    bool refused; /* at the last attempt */
} wants[want_sets][want_ways];
static uint64_t turns;

struct shown_moves shown_moves;

/* AMD EPYC in a virtual machine, 2 cores, 2026-11: mortar_heap_move takes 75 us and 0.45 ns
 * per byte; a call on memory out of reach copies each byte once more, at some 8
 * GB/s on a loaded node. */
static const double copy_rate = 8e9;

/* Without huge pages the program's own random access to the memory takes up to twice as long, for
 * as long as it lives: so such a move must be worth several. */
static const double loss_of_huge = 4;

static uint32_t uses_needed(size_t bytes) {
    enum { most = 64, at_first = 2, surely = 3 };
    static const double fixed_seconds = 75e-6, byte_seconds = 0.5e-9;
    if (option_choice(OPTION_START, "paid|early|first") == at_first) return 1;
    double rent = (double)bytes / copy_rate;
    double price = surely * (fixed_seconds + (double)bytes * byte_seconds);
    if (heap.loses_huge) price *= loss_of_huge;
    return price < most * rent ? (uint32_t)(price / rent) + 1 : most;
}

static void want_move(struct want *want) {
    double start = clock_seconds();
    int error =
        stays(want->start, want->bytes) ? -EAGAIN : library.bring((void *)want->start, want->bytes);
    double took = clock_seconds() - start;
    want->refused = error != 0;
    want->uses = 0;
    /* Memory that cannot move now may move later, and memory that has moved may go back to the
     * system and be given out again: it is tried less and less often. */
    want->needed = want->needed < 1u << 20 ? 2 * want->needed + (want->refused ? 16 : 0) : 1u << 20;
    if (error == -EFAULT) want->needed = UINT32_MAX;
    if (error || want->bytes == 0) return; /* without pages of its own it got only a place */
    shown_moves.count++;
    shown_moves.saves += (double)want->bytes / copy_rate;
    shown_moves.bytes += want->bytes;
    shown_moves.seconds += took;
}

static struct want *find_want(uintptr_t start, size_t bytes) {
    struct want *set = wants[(start >> 12 ^ start >> 21) % want_sets], *oldest = set;
    for (struct want *w = set; w < set + want_ways; w++) {
        if (w->start == start && w->bytes == bytes) return w;
        if (w->used < oldest->used) oldest = w;
    }
    bool may = library.bring((void *)start, 0) == 0;
    *oldest = (struct want){.start = start,
                            .bytes = bytes,
                            .needed = may ? uses_needed(bytes) : UINT32_MAX,
                            .refused = !may};
    return oldest;
}

/* Memory that could never move may have gone, and the program's own mapping be there now: asked for
 * once in so many uses. */
static bool is_new(struct want *want) {
    enum { between = 1024 };
    if (++want->uses % between != 0 || library.bring((void *)want->start, 0) != 0) return false;
    *want = (struct want){.start = want->start,
                          .bytes = want->bytes,
                          .used = turns,
                          .needed = uses_needed(want->bytes)};
    return true;
}

/* A call could have used these whole pages, had they moved. SHOWN: they have, now. */
static enum shown want(uintptr_t start, size_t bytes, enum showing how) {
    pthread_mutex_lock(&lock);
    struct want *found = find_want(start, bytes);
    found->used = ++turns;
    bool may = found->needed < UINT32_MAX || is_new(found);
    bool due = may && (++found->uses >= found->needed || how & SHOW_NOW);
    enum shown shown = found->refused ? SHOWN_NEVER : SHOWN_LATER;
    if (due && how & SHOW_GAPS) {
        found->uses = 0; /* if it cannot be proved it is asked for less often */
        found->needed = found->needed < 1u << 20 ? 2 * found->needed : found->needed;
        shown = SHOWN_LATER;
    } else if (due) {
        want_move(found);
        shown = found->refused ? SHOWN_NEVER : SHOWN;
    } else if (how & SHOW_GAPS) {
        shown = SHOWN_NEVER;
    }
    pthread_mutex_unlock(&lock);
    return shown;
}

/* The whole pages inside of a buffer. */
static bool inner_of(const struct team *team, const void *memory, size_t bytes, uintptr_t *start,
                     uintptr_t *end) {
    uintptr_t page = team->heap->page, at = (uintptr_t)memory;
    *start = (at + page - 1) & ~(page - 1);
    *end = (at + bytes) & ~(page - 1);
    return *start < *end;
}

HOT enum shown team_shows(const struct team *team, const void *memory, size_t bytes,
                          enum showing how, uint64_t *offset) {
    bool leaves, has_place = place_of(team, memory, bytes, offset, &leaves);
    if (!team->heap) return has_place ? SHOWN : SHOWN_NEVER;
    uintptr_t start, end;
    bool inner = inner_of(team, memory, bytes, &start, &end);
    if (bytes == 0) return has_place ? SHOWN : SHOWN_NEVER;
    if (!has_place && !inner) { /* static data get a place when they are first asked for */
        want(end, 0, how);
        if (!place_of(team, memory, bytes, offset, &leaves)) return SHOWN_NEVER;
        has_place = true;
    }
    uint64_t skipped = start - (uintptr_t)memory;
    for (int tries = 0; inner; tries++) {
        uint64_t first = (*offset + skipped) / team->heap->page;
        if (has_place && pages_moved(team->heap, first, first + (end - start) / team->heap->page))
            break;
        enum shown shown = tries > 0 ? SHOWN_NEVER : want(start, end - start, how);
        if (shown != SHOWN) return shown;
        has_place = place_of(team, memory, bytes, offset, &leaves);
    }
    if (leaves && !library.sees()) return SHOWN_NEVER;
    if (how & SHOW_GAPS && (how & SHOW_TO_WRITERS || team->many_threads)) {
        /* What lies between the blocks may change: it must not be copied back. And another thread
         * may receive there, in a call of its own, what peers have stored already. */
        uint64_t first = *offset / team->heap->page,
                 last = (*offset + bytes - 1) / team->heap->page;
        return page_moved(team->heap, first) && page_moved(team->heap, last) ? SHOWN : SHOWN_NEVER;
    }
    if (!(how & SHOW_ASK)) copy_ends(team->heap, (char *)(uintptr_t)memory, *offset, bytes, false);
    return SHOWN;
}

HOT void team_takes_back(const struct team *team, void *memory, size_t bytes) {
    uint64_t offset;
    bool leaves;
    if (team->heap && bytes > 0 && place_of(team, memory, bytes, &offset, &leaves))
        copy_ends(team->heap, memory, offset, bytes, true);
}
