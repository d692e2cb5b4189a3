/* SPDX-License-Identifier: BSD-3-Clause */
/* lines - who holds a cache line, and what it takes to get it; cores.h says by which rules. */
#define _GNU_SOURCE
#include "cores.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { line_bytes = 64, page_bytes = 4096, most_overlap = 64, most_ahead = 64 };
static const size_t arena_bytes = (size_t)8 << 30;

struct line {
    uint64_t holders[most_cores / 64];
    double busy; /* until then it is on its way to a writer, or being copied for a reader */
    /* [group] likewise of a group that has it from another one; 0: it has not. NULL: none has. */
    double *copies;
    uint16_t watchers; /* the first rank that waits, + 1 */
};
struct core {
    double seen;   /* when others see its latest store */
    double loaded; /* when the data of its copies are there */
    double under_way[most_overlap];
    uint32_t slot;
    struct { /* lines that it has fetched ahead, and when they are there */
        const struct line *line;
        double comes;
    } ahead[most_ahead];
    uint32_t fetched;
    uint16_t next_watcher;
};

uint64_t lines_moved[distances];
static char *arena;
static size_t taken;
static struct line *lines;
static struct core cores[most_cores];

/* ---- memory ---- */

static void *reserve(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) return memory;
    perror("mortar cores: no address space");
    exit(1);
}

void *shared_take(size_t bytes) {
    if (!arena) {
        arena = reserve(arena_bytes);
        lines = reserve(arena_bytes / line_bytes * sizeof *lines);
    }
    char *memory = arena + taken;
    taken += (bytes + page_bytes - 1) / page_bytes * page_bytes;
    if (taken <= arena_bytes) return memory;
    fputs("mortar cores: expected smaller blocks: the ranks share more than 8 GiB\n", stderr);
    exit(2);
}

void lines_reset(void) {
    for (size_t i = 0; i < taken / line_bytes; i++) free(lines[i].copies);
    if (taken > 0) {
        madvise(arena, taken, MADV_DONTNEED);
        madvise(lines, taken / line_bytes * sizeof *lines, MADV_DONTNEED);
    }
    taken = 0;
    memset(cores, 0, sizeof cores);
    memset(lines_moved, 0, sizeof lines_moved);
}

static bool is_shared(const volatile void *at) { return (uintptr_t)at - (uintptr_t)arena < taken; }

static struct line *line_of(const volatile void *at) {
    return &lines[((uintptr_t)at - (uintptr_t)arena) / line_bytes];
}

/* ---- distances ---- */

static uint32_t group_of(uint32_t core) { return core / machine.group; }

static int distance(uint32_t a, uint32_t b) {
    if (group_of(a) == group_of(b)) return 0;
    return a / machine.socket == b / machine.socket ? 1 : 2;
}

static bool holds(const struct line *line, uint32_t core) {
    return line->holders[core / 64] >> core % 64 & 1;
}

/* Of all other holders the distance to the nearest, or to the farthest; -1: there is none. */
static int distance_to(const struct line *line, uint32_t me, bool farthest) {
    int found = -1;
    for (uint32_t word = 0; word < most_cores / 64; word++)
        for (uint64_t left = line->holders[word]; left; left &= left - 1) {
            uint32_t core = word * 64 + (uint32_t)__builtin_ctzll(left);
            int d = core == me ? -1 : distance(me, core);
            if (d >= 0 && (found < 0 || (farthest ? d > found : d < found))) found = d;
        }
    return found;
}

/* ---- a line comes ---- */

static double later(double a, double b) { return a > b ? a : b; }

/* When the core has the line for reading. */
static double line_comes(struct line *line, uint32_t me, double now) {
    uint32_t group = group_of(me);
    if (holds(line, me)) return now + machine.touch;
    int d = distance_to(line, me, false);
    line->holders[me / 64] |= (uint64_t)1 << me % 64;
    if (d < 0) return later(now, line->busy) + machine.memory;
    bool here = d == 0 && line->copies && line->copies[group] > 0;
    double *source = here ? &line->copies[group] : &line->busy;
    double begin = later(now, *source), done = begin + machine.hand_over[d];
    *source = begin + machine.reading * machine.hand_over[d];
    lines_moved[d]++;
    if (d == 0) return done;
    if (!line->copies) line->copies = calloc(machine.cores / machine.group, sizeof(double));
    if (!line->copies) abort();
    return line->copies[group] = done;
}

/* When the core may write to it. */
static double line_owned(struct line *line, uint32_t me, double now) {
    int near = distance_to(line, me, false), far = distance_to(line, me, true);
    if (far < 0 && holds(line, me)) return later(now, line->busy) + machine.touch;
    double begin = later(now, line->busy);
    double done = begin + (far < 0 ? machine.memory : machine.hand_over[far]);
    if (!holds(line, me) && near >= 0) lines_moved[near]++;
    memset(line->holders, 0, sizeof line->holders);
    line->holders[me / 64] |= (uint64_t)1 << me % 64;
    free(line->copies);
    line->copies = NULL;
    return line->busy = done;
}

/* ---- what ranks do ---- */

static void wake_watchers(struct line *line, double time) {
    while (line->watchers) {
        uint32_t rank = line->watchers - 1u;
        line->watchers = cores[rank].next_watcher;
        rank_wake(rank, time);
    }
}

/* The line's new contents are there for others at `time`. */
static void seen_at(struct line *line, struct core *core, double time) {
    core->seen = time;
    line->busy = later(line->busy, time);
    wake_watchers(line, time);
}

/* When the core can read a line that it may have fetched ahead. */
static double came_ahead(const struct core *core, const struct line *line, double now) {
    for (uint32_t i = 0; i < most_ahead && i < core->fetched; i++)
        if (core->ahead[i].line == line) now = later(now, core->ahead[i].comes);
    return now;
}

void line_access(const volatile void *at, enum access access) {
    if (!is_shared(at)) return;
    uint32_t me = (uint32_t)rank_now;
    struct core *core = &cores[me];
    rank_turn();
    struct line *line = line_of(at);
    double now = rank_time();
    if (access == LOAD) {
        rank_advance(line_comes(line, me, came_ahead(core, line, now)));
        return;
    }
    double before = later(core->seen, core->loaded);
    if (access == STORE) {
        seen_at(line, core, later(before, line_owned(line, me, now)));
        rank_advance(now + machine.touch);
        return;
    }
    double done = line_owned(line, me, later(now, before)) + machine.locked;
    seen_at(line, core, done);
    rank_advance(done);
}

/* A place among the lines that the core has under way: waits for the oldest. */
static double *slot_of(struct core *core) {
    double *slot = &core->under_way[core->slot];
    core->slot =
        (core->slot + 1) % (machine.overlap < most_overlap ? machine.overlap : most_overlap);
    rank_advance(*slot);
    return slot;
}

void lines_copy(const volatile void *at, size_t bytes, bool stores) {
    uint32_t me = (uint32_t)rank_now;
    struct core *core = &cores[me];
    if (bytes == 0 || !is_shared(at)) return;
    rank_turn();
    struct line *line = line_of(at), *last = line_of((const volatile char *)at + bytes - 1);
    for (; line <= last; line++) {
        double *slot = slot_of(core), now = rank_time();
        if (stores) {
            *slot = line_owned(line, me, now);
            seen_at(line, core, later(*slot, core->seen));
        } else {
            *slot = line_comes(line, me, came_ahead(core, line, now));
            core->loaded = later(core->loaded, *slot);
        }
        rank_advance(now + machine.touch);
    }
}

void line_soon(const volatile void *at) {
    if (!is_shared(at)) return;
    struct core *core = &cores[rank_now];
    rank_turn();
    double *slot = slot_of(core), now = rank_time();
    struct line *line = line_of(at);
    uint32_t place = core->fetched++ % most_ahead;
    *slot = core->ahead[place].comes = line_comes(line, (uint32_t)rank_now, now);
    core->ahead[place].line = line;
    rank_advance(now + machine.touch);
}

void line_fence(void) { rank_advance(later(rank_time(), cores[rank_now].seen)); }

void line_await(const volatile void *at) {
    struct line *line = line_of(at);
    struct core *core = &cores[rank_now];
    core->next_watcher = line->watchers;
    line->watchers = (uint16_t)(rank_now + 1);
    rank_park();
}
