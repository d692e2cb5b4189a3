/* SPDX-License-Identifier: BSD-3-Clause */
/* arrival - reductions to a root by the order of arrival, src/coll/node/arrival.c: its tree, and
 * its pool. Number: of calls. */
#include "../crew.h"

extern const struct algorithm_code algorithm_arrival;

static void begin(void) {
    crew_plain();
    size_t p = (size_t)scene_threads();
    char *memory = share(p * algorithm_arrival.shared.each);
    name_memory(memory, p * algorithm_arrival.shared.each, "entries");
    for (size_t r = 0; r < p; r++) teams[r].shared[ALGORITHM_arrival] = memory;
}

static void follow(const struct reduction *reduction, const char *in, char *inout, size_t count) {
    (void)reduction, (void)count;
    const uint64_t *from = (const uint64_t *)(const void *)in;
    uint64_t *to = (uint64_t *)(void *)inout;
    uint64_t shift = 1;
    while (shift <= *to) shift *= 10;
    *to += shift * *from; /* the digits of `in` before those of `inout` */
}
static void sum(const struct reduction *reduction, const char *in, char *inout, size_t count) {
    (void)reduction, (void)count;
    *(uint64_t *)(void *)inout += *(const uint64_t *)(const void *)in;
}

static void reduce(int me, bool pool, bool turns) {
    int p = scene_threads();
    for (int k = 0; k < scene_number(0); k++) {
        crew_enter();
        uint64_t send = pool ? 1ull << 8 * me : (uint64_t)me + 1, recv = 0, all = 0;
        for (int r = 0; r < p; r++) all = pool ? all | 1ull << 8 * r : 10 * all + (uint64_t)r + 1;
        struct reduction reduction = {
            .combine = pool ? sum : follow, .bytes = 8, .count = 1, .any_order = pool};
        struct call call = {.shape = {.collective = COLL_reduce, .bytes = 8},
                            .send = (const char *)&send,
                            .recv = (char *)&recv,
                            .root = turns ? k % p : 0,
                            .reduction = &reduction};
        expect(algorithm_arrival.run(crew_team(), &call, &(struct arguments){0}) == DONE, "left");
        expect(me != call.root || recv == all, "a wrong result");
        expect(send == (pool ? 1ull << 8 * me : (uint64_t)me + 1), "a send buffer was written");
    }
}
static void tree(int me) { reduce(me, false, false); }
static void tree_roots(int me) { reduce(me, false, true); }
static void pool(int me) { reduce(me, true, false); }
static void pool_roots(int me) { reduce(me, true, true); }

const struct scene scenes[] = {{"tree", begin, tree, NULL},
                               {"tree_roots", begin, tree_roots, NULL},
                               {"pool", begin, pool, NULL},
                               {"pool_roots", begin, pool_roots, NULL}};
const int scene_count = sizeof scenes / sizeof scenes[0];
