/* SPDX-License-Identifier: BSD-3-Clause */
/* lines - who holds a cache line, and what it takes to get it; cores.h says by which rules. */
#define _GNU_SOURCE
#include "cores.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { page_bytes = line_bytes * page_lines, most_overlap = 64, arrivals_kept = 1 << 16 };
static const size_t arena_bytes = (size_t)8 << 30;

struct core {
    double seen;   /* when others see its latest store */
    double loaded; /* when the data of its copies are there */
    double under_way[most_overlap];
    uint32_t slot;
    uint16_t next_watcher;
};

uint64_t lines_moved[most_cores][sources];
static char *arena;
static size_t taken;
static struct line *lines;
static uint8_t *homes; /* [page] the socket that has touched it first, + 1 */
static struct core cores[most_cores];

/* Until when the copy is busy that the first reader of a group has fetched from another one. Only
 * the latest are known: of older ones nobody has to wait for. */
static struct arrival {
    uint32_t number, stores, group; /* number + 1 */
    double busy;
} arrivals[arrivals_kept];

/* ---- memory ---- */

void *shared_take(size_t bytes) {
    if (!arena) {
        arena = reserve(arena_bytes);
        lines = reserve(arena_bytes / line_bytes * sizeof *lines);
        homes = reserve(arena_bytes / page_bytes);
    }
    char *memory = arena + taken;
    taken += (bytes + page_bytes - 1) / page_bytes * page_bytes;
    if (taken <= arena_bytes) return memory;
    fputs("mortar cores: expected smaller blocks: the ranks share more than 8 GiB\n", stderr);
    exit(2);
}

void lines_reset(void) {
    if (taken > 0) {
        madvise(arena, taken, MADV_DONTNEED);
        madvise(lines, taken / line_bytes * sizeof *lines, MADV_DONTNEED);
        memset(homes, 0, taken / page_bytes);
    }
    taken = 0;
    memset(cores, 0, sizeof cores);
    memset(lines_moved, 0, sizeof lines_moved);
    memset(arrivals, 0, sizeof arrivals);
    caches_reset();
    ways_reset();
    ahead_reset();
}

void lines_flush(void) {
    for (size_t i = 0; i < taken / line_bytes; i++) {
        memset(lines[i].holders, 0, sizeof lines[i].holders);
        lines[i].shared = 0;
        lines[i].dirty = false;
    }
    caches_reset();
}

void lines_count(uint64_t sum[sources], bool behind) {
    for (int s = 0; s < sources; s++) {
        uint64_t moved = lines_moved[rank_now][s];
        sum[s] += behind ? moved : -moved;
    }
}

static bool is_shared(const volatile void *at) { return (uintptr_t)at - (uintptr_t)arena < taken; }

static uint32_t number_of(const volatile void *at) {
    return (uint32_t)(((uintptr_t)at - (uintptr_t)arena) / line_bytes);
}

struct line *line_at(uint32_t number) { return &lines[number]; }

uint32_t line_home(uint32_t number) { return homes[number / page_lines] - 1u; }

/* ---- who has it ---- */

static int distance(uint32_t group, uint32_t to) {
    if (group == group_of(to)) return 0;
    return group * machine.group / machine.socket == socket_of(to) ? 1 : 2;
}

/* Where a line is but in this core: the nearest place and the farthest; distance -1: nowhere. What
 * the core's own group shares is no other place. Of several groups that are as near, the one whose
 * way out is free first gives the line. */
struct places {
    int near, far;
    uint32_t group; /* of the nearest */
};

static void look_at(struct places *places, uint32_t group, uint32_t me) {
    int d = distance(group, me);
    bool sooner = d == places->near && way_is_free(group) < way_is_free(places->group);
    if (places->near < 0 || d < places->near || sooner) places->near = d, places->group = group;
    if (d > places->far) places->far = d;
}

static struct places places_of(const struct line *line, uint32_t me) {
    struct places places = {.near = -1, .far = -1};
    for (uint32_t word = 0; word < most_cores / 64; word++)
        for (uint64_t left = line->holders[word]; left; left &= left - 1) {
            uint32_t core = word * 64 + (uint32_t)__builtin_ctzll(left);
            if (core != me) look_at(&places, group_of(core), me);
        }
    for (uint64_t left = line->shared; left; left &= left - 1) {
        uint32_t group = (uint32_t)__builtin_ctzll(left);
        if (group != group_of(me)) look_at(&places, group, me);
    }
    return places;
}

static bool group_shares(const struct line *line, uint32_t me) {
    return machine.l3.bytes && line->shared >> group_of(me) & 1;
}

static struct arrival *arrival_at(uint32_t number, uint32_t group) {
    return &arrivals[(number * 31 + group) % arrivals_kept];
}

static double *busy_in_group(struct line *line, uint32_t number, uint32_t group) {
    struct arrival *a = arrival_at(number, group);
    bool known = a->number == number + 1 && a->group == group && a->stores == line->stores;
    return known ? &a->busy : &line->busy;
}

/* ---- a line comes ---- */

static void touched(uint32_t number, uint32_t me) {
    uint8_t *home = &homes[number / page_lines];
    if (*home == 0) *home = (uint8_t)(socket_of(me) + 1);
}

static void has_it(struct line *line, uint32_t number, uint32_t me) {
    line->holders[me / 64] |= (uint64_t)1 << me % 64;
    cache_uses(number, me);
}

static double memory_time(uint32_t number, uint32_t me) {
    return machine.memory[line_home(number) != socket_of(me)];
}

/* While it waits for its way, somebody else may still have it. */
static double free_way(double wait) { return rank_time() + wait; }

double line_comes(uint32_t number, uint32_t me, double now) {
    struct line *line = &lines[number];
    uint32_t group = group_of(me);
    touched(number, me);
    if (holds(line, me)) {
        cache_uses(number, me);
        return now + machine.touch;
    }
    struct places places = places_of(line, me);
    bool here = group_shares(line, me);
    double done;
    if (!here && places.near < 0) {
        done = later(later(now, line->busy), free_way(way_from_memory(line_home(number), me))) +
               memory_time(number, me);
        line->busy = done;
        lines_moved[me][FROM_MEMORY]++;
    } else {
        bool near = here || places.near == 0;
        double *busy = near ? busy_in_group(line, number, group) : &line->busy,
               takes = here ? machine.l3_time : machine.hand_over[places.near],
               begin = later(now, *busy);
        *busy = begin + machine.reading * takes;
        done = near ? begin : later(begin, free_way(way_from_group(places.group, me)));
        done += takes;
        lines_moved[me][here ? FROM_SHARED : places.near]++;
        if (!near)
            *arrival_at(number, group) = (struct arrival){number + 1, line->stores, group, done};
    }
    has_it(line, number, me);
    if (machine.inclusive) shared_uses(number, group);
    return done;
}

double line_owned(uint32_t number, uint32_t me, double now) {
    struct line *line = &lines[number];
    struct places places = places_of(line, me);
    bool had = holds(line, me), here = group_shares(line, me);
    double begin = later(now, line->busy), takes, wait = 0;
    touched(number, me);
    if (places.far >= 0) takes = machine.hand_over[places.far];
    else if (had) takes = machine.touch;
    else takes = here ? machine.l3_time : memory_time(number, me);
    if (!had && !here)
        wait = places.near < 0 ? way_from_memory(line_home(number), me)
                               : way_from_group(places.group, me);
    if (!had) lines_moved[me][here ? FROM_SHARED : places.near < 0 ? FROM_MEMORY : places.near]++;
    if (places.far >= 0 || line->shared) caches_drop(number, me);
    has_it(line, number, me);
    line->dirty = true;
    if (had && places.far < 0) return begin + takes;
    line->stores++;
    return line->busy = later(begin, free_way(wait)) + takes;
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

void line_access(const volatile void *at, enum access access) {
    if (!is_shared(at)) return;
    uint32_t me = (uint32_t)rank_now, number = number_of(at);
    struct core *core = &cores[me];
    rank_turn();
    struct line *line = &lines[number];
    double now = rank_time();
    if (access == LOAD) {
        rank_advance(line_comes(number, me, ahead_comes(number, me, now)));
        ahead_of(number, me, false, now);
        return;
    }
    double before = later(core->seen, core->loaded);
    if (access == STORE) {
        seen_at(line, core, later(before, line_owned(number, me, now)));
        rank_advance(now + machine.touch);
        return;
    }
    double done = line_owned(number, me, later(now, before)) + machine.locked;
    seen_at(line, core, done);
    rank_advance(done);
}

/* A place among the lines that the core has under way: waits for the oldest. */
static double *slot_of(struct core *core) {
    double *slot = &core->under_way[core->slot];
    core->slot =
        (core->slot + 1) % (machine.overlap < most_overlap ? machine.overlap : most_overlap);
    rank_advance(*slot);
    rank_turn();
    return slot;
}

/* Needs no place among them. */
static bool is_there(uint32_t number, uint32_t me, bool stores) {
    const struct line *line = &lines[number];
    double now = rank_time();
    if (!holds(line, me)) return false;
    return stores ? line->busy <= now && places_of(line, me).far < 0
                  : ahead_comes(number, me, now) <= now;
}

void lines_copy(const volatile void *at, size_t bytes, bool stores) {
    uint32_t me = (uint32_t)rank_now;
    struct core *core = &cores[me];
    if (bytes == 0 || !is_shared(at)) return;
    uint32_t number = number_of(at), last = number_of((const volatile char *)at + bytes - 1);
    for (; number <= last; number++) {
        rank_turn();
        double *slot = is_there(number, me, stores) ? NULL : slot_of(core);
        double now = rank_time(), done;
        if (stores) {
            done = line_owned(number, me, now);
            seen_at(&lines[number], core, later(done, core->seen));
        } else {
            done = line_comes(number, me, ahead_comes(number, me, now));
            core->loaded = later(core->loaded, done);
        }
        if (slot) *slot = done;
        ahead_of(number, me, stores, now);
        rank_advance(now + machine.touch);
    }
}

void line_soon(const volatile void *at) {
    if (!is_shared(at)) return;
    uint32_t number = number_of(at), me = (uint32_t)rank_now;
    rank_turn();
    double *slot = slot_of(&cores[me]), now = rank_time();
    *slot = line_comes(number, me, now);
    ahead_note(number, me, *slot);
    rank_advance(now + machine.touch);
}

void line_fence(void) { rank_advance(later(rank_time(), cores[rank_now].seen)); }

void line_await(const volatile void *at) {
    struct line *line = &lines[number_of(at)];
    struct core *core = &cores[rank_now];
    core->next_watcher = line->watchers;
    line->watchers = (uint16_t)(rank_now + 1);
    rank_park();
}
