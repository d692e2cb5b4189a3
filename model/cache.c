/* SPDX-License-Identifier: BSD-3-Clause */
/* cache - sets of line numbers with three ways to choose which line goes. */
#include "cachesim.h"

#include <stdlib.h>
#include <string.h>

const char *const policy_names[POLICIES] = {"lru", "tree", "age"};

const char *cache_shaped(struct cache *cache, const struct cache_shape *shape,
                         uint32_t line_bytes) {
    uint64_t lines = shape->bytes / line_bytes, ways = shape->ways ? shape->ways : lines;
    memset(cache, 0, sizeof *cache);
    if (lines == 0 || lines > UINT32_MAX) return "1 to 4G lines";
    if (lines % ways != 0) return "its lines make no sets of so many ways";
    if (shape->policy == POLICY_tree && (ways > 8 || (ways & (ways - 1)) != 0))
        return "a tree has 1, 2, 4 or 8 ways";
    *cache = (struct cache){
        .ways = (uint32_t)ways, .sets = (uint32_t)(lines / ways), .policy = shape->policy};
    cache->scattered = shape->scattered && cache->sets > 64 && cache->sets % 64 == 0;
    return NULL;
}

bool cache_divides(const struct cache_shape *shape, uint32_t line_bytes, uint32_t sample) {
    struct cache cache;
    if (shape->bytes == 0) return true;
    if (cache_shaped(&cache, shape, line_bytes)) return false;
    return (cache.scattered ? 64 : cache.sets) % sample == 0; /* see set_of */
}

bool cache_make(struct cache *cache, const struct cache_shape *shape, uint32_t line_bytes) {
    if (cache_shaped(cache, shape, line_bytes)) return false;
    size_t lines = (size_t)cache->sets * cache->ways;
    cache->lines = calloc(lines, sizeof *cache->lines);
    if (cache->policy != POLICY_lru) cache->state = calloc(lines, 1);
    if (cache->lines && (cache->state || cache->policy == POLICY_lru)) return true;
    cache_free(cache);
    return false;
}

void cache_free(struct cache *cache) {
    free(cache->lines);
    free(cache->state);
    memset(cache, 0, sizeof *cache);
}

/* Pages lie anywhere, lines inside a page where they are: 64 sets belong together. */
static uint32_t set_of(const struct cache *cache, uint32_t line) {
    if (!cache->scattered) return line % cache->sets;
    uint64_t page = (uint64_t)(line / 64) * 0x9e3779b97f4a7c15u;
    page = (page ^ page >> 29) * 0xbf58476d1ce4e5b9u;
    return line % 64 + 64 * (uint32_t)(((page >> 32) * (cache->sets / 64)) >> 32);
}

static uint32_t *find(const struct cache *cache, uint32_t line, size_t *first) {
    if (cache->sets == 0) return NULL; /* there is no such cache */
    *first = (size_t)set_of(cache, line) * cache->ways;
    uint32_t *set = cache->lines + *first;
    for (uint32_t way = 0; way < cache->ways; way++)
        if (set[way] == line) return set + way;
    return NULL;
}

/* The tree: bit n of the set's first state byte says on which side of node n the next line falls; a
 * use turns the bits on its way. */
static void tree_use(uint8_t *bits, uint32_t ways, uint32_t way) {
    uint32_t node = 1;
    for (uint32_t half = ways / 2; half > 0; half /= 2) {
        bool right = (way & half) != 0;
        *bits = (uint8_t)(right ? *bits & ~(1u << node) : *bits | 1u << node);
        node = 2 * node + right;
    }
}

static uint32_t tree_victim(uint8_t bits, uint32_t ways) {
    uint32_t node = 1, way = 0;
    for (uint32_t half = ways / 2; half > 0; half /= 2) {
        bool right = bits >> node & 1;
        if (right) way += half;
        node = 2 * node + right;
    }
    return way;
}

static void used(struct cache *cache, size_t first, uint32_t way) {
    uint32_t *set = cache->lines + first, line = set[way];
    if (cache->policy == POLICY_tree) {
        tree_use(&cache->state[first], cache->ways, way);
    } else if (cache->policy == POLICY_age) {
        cache->state[first + way] = 0;
    } else {
        memmove(set + 1, set, way * sizeof *set);
        set[0] = line;
    }
}

bool cache_use(struct cache *cache, uint32_t line) {
    size_t first;
    uint32_t *place = find(cache, line, &first);
    if (!place) return false;
    used(cache, first, (uint32_t)((size_t)(place - cache->lines) - first));
    return true;
}

bool cache_holds(const struct cache *cache, uint32_t line) {
    size_t first;
    return find(cache, line, &first) != NULL;
}

/* The first line of the greatest age; all grow older until there is one. */
static uint32_t oldest(uint8_t *ages, uint32_t ways) {
    for (;;) {
        for (uint32_t way = 0; way < ways; way++)
            if (ages[way] >= 3) return way;
        for (uint32_t way = 0; way < ways; way++) ages[way]++;
    }
}

uint32_t cache_fill(struct cache *cache, uint32_t line) {
    size_t first;
    uint32_t *empty = find(cache, line, &first), *set = cache->lines + first, way = cache->ways - 1;
    if (empty) return 0;
    for (uint32_t i = 0; i < cache->ways && !empty; i++)
        if (set[i] == 0) empty = set + i;
    if (empty) {
        way = (uint32_t)(empty - set);
    } else if (cache->policy == POLICY_tree) {
        way = tree_victim(cache->state[first], cache->ways);
    } else if (cache->policy == POLICY_age) {
        way = oldest(cache->state + first, cache->ways);
    }
    uint32_t gone = set[way];
    set[way] = line;
    used(cache, first, way);
    /* Young only when it is used again. */
    if (cache->policy == POLICY_age) cache->state[first + way] = 2;
    return gone;
}

void cache_drop(struct cache *cache, uint32_t line) {
    size_t first;
    uint32_t *place = find(cache, line, &first);
    if (!place) return;
    uint32_t way = (uint32_t)((size_t)(place - cache->lines) - first);
    if (cache->policy == POLICY_lru) { /* the empty place goes to the end */
        memmove(place, place + 1, (cache->ways - way - 1) * sizeof *place);
        place = cache->lines + first + cache->ways - 1;
    }
    *place = 0;
}
