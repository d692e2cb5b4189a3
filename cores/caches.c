/* SPDX-License-Identifier: BSD-3-Clause */
/* caches - which lines they have room for: set-associative, the line that was used longest ago goes
 * first. A core's own cache is one (L1 and L2 together), and the cores of a group share an L3.
 * Inclusive: L3 takes what its cores take, and what it throws out they lose, too. Otherwise it
 * takes what they throw out (victim cache). Sets are found by a line's place in its page and by
 * the page's number, mixed: pages lie anywhere in memory. */
#define _GNU_SOURCE
#include "cores.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

struct cache {
    uint32_t *tags; /* [sets * ways] lines' numbers + 1, of a set the latest first; 0: free */
    uint32_t sets, ways;
};
static struct cache owned[most_cores], shared[most_groups];

void *reserve(size_t bytes) {
    void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) return memory;
    perror("mortar cores: no address space");
    exit(1);
}

/* ---- one cache ---- */

static void cache_reset(struct cache *cache, const struct cache_shape *shape) {
    if (cache->tags) munmap(cache->tags, (size_t)cache->sets * cache->ways * sizeof *cache->tags);
    *cache = (struct cache){0};
    if (shape->bytes == 0) return;
    cache->ways = shape->ways;
    cache->sets = (uint32_t)(shape->bytes / line_bytes / shape->ways);
    cache->tags = reserve((size_t)cache->sets * cache->ways * sizeof *cache->tags);
}

static uint32_t *set_of(const struct cache *cache, uint32_t number) {
    uint32_t page = number / page_lines * 2654435761u;
    uint32_t set = (number % page_lines + page_lines * (page >> 12)) % cache->sets;
    return cache->tags + (size_t)set * cache->ways;
}

/* Puts the line in front. Returns the tag that has to go, 0: none. */
static uint32_t cache_take(struct cache *cache, uint32_t number) {
    uint32_t *set = set_of(cache, number), tag = number + 1, i = 0, before = tag;
    do {
        uint32_t here = set[i];
        set[i] = before;
        before = here;
    } while (before != tag && before != 0 && ++i < cache->ways);
    return before == tag ? 0 : before;
}

static void cache_drop(struct cache *cache, uint32_t number) {
    if (!cache->tags) return;
    uint32_t *set = set_of(cache, number), i = 0;
    while (i < cache->ways && set[i] != number + 1) i++;
    if (i == cache->ways) return;
    memmove(set + i, set + i + 1, (cache->ways - i - 1) * sizeof *set);
    set[cache->ways - 1] = 0;
}

void caches_reset(void) {
    for (uint32_t c = 0; c < machine.cores; c++) cache_reset(&owned[c], &machine.l2);
    for (uint32_t g = 0; machine.l3.bytes && g < machine.cores / machine.group; g++)
        cache_reset(&shared[g], &machine.l3);
}

/* ---- all of them ---- */

static bool is_held(const struct line *line) {
    uint64_t any = line->shared;
    for (uint32_t word = 0; word < most_cores / 64; word++) any |= line->holders[word];
    return any != 0;
}

static void release(struct line *line, uint32_t core) {
    line->holders[core / 64] &= ~((uint64_t)1 << core % 64);
}

/* The last cache that has it, one of this group, throws it out. */
static void write_back(struct line *line, uint32_t number, uint32_t group) {
    if (!line->dirty || is_held(line)) return;
    line->dirty = false;
    way_to_memory(group, line_home(number));
}

static void leaves_shared(uint32_t number, uint32_t group) {
    struct line *line = line_at(number);
    line->shared &= ~((uint64_t)1 << group);
    for (uint32_t c = group * machine.group; machine.inclusive && c < (group + 1) * machine.group;
         c++)
        if (holds(line, c)) {
            release(line, c);
            cache_drop(&owned[c], number);
        }
    write_back(line, number, group);
}

static void takes_place(uint32_t number, uint32_t group) {
    uint32_t out = cache_take(&shared[group], number);
    if (out) leaves_shared(out - 1, group);
}

void shared_uses(uint32_t number, uint32_t group) {
    if (machine.l3.bytes == 0) return;
    line_at(number)->shared |= (uint64_t)1 << group;
    takes_place(number, group);
}

void cache_uses(uint32_t number, uint32_t core) {
    if (machine.l2.bytes == 0) return;
    uint32_t out = cache_take(&owned[core], number), group = group_of(core);
    if (machine.inclusive) takes_place(number, group);
    if (!out) return;
    struct line *line = line_at(out - 1);
    release(line, core);
    if (machine.l3.bytes) shared_uses(out - 1, group);
    else write_back(line, out - 1, group);
}

void caches_drop(uint32_t number, uint32_t writer) {
    struct line *line = line_at(number);
    uint64_t groups = line->shared;
    for (uint32_t word = 0; word < most_cores / 64; word++)
        for (uint64_t left = line->holders[word]; left; left &= left - 1) {
            uint32_t core = word * 64 + (uint32_t)__builtin_ctzll(left);
            if (core == writer) continue;
            cache_drop(&owned[core], number);
            if (machine.inclusive) groups |= (uint64_t)1 << group_of(core);
        }
    for (; groups; groups &= groups - 1) cache_drop(&shared[__builtin_ctzll(groups)], number);
    memset(line->holders, 0, sizeof line->holders);
    line->shared = 0;
}
