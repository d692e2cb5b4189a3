/* SPDX-License-Identifier: BSD-3-Clause */
/* chain - scans through the rings of src/coll/node/chain.c. Numbers: of calls; 1: every second
 * call has records of two lines, 2: all but every third; how many calls less each rank makes than
 * the one before, but one at least. */
#include "../crew.h"

extern const struct algorithm_code algorithm_chain;

static void begin(void) {
    crew_plain();
    size_t p = (size_t)scene_threads();
    struct shared wanted = algorithm_chain.shared;
    char *memory = share(p * wanted.each);
    for (size_t r = 0; r < p; r++) {
        name_memory(memory + r * wanted.each, wanted.each, "ring");
        name_memory(memory + r * wanted.each, 8, "filled");
        name_memory(memory + r * wanted.each + 8, 4, "claimed");
        name_memory(memory + r * wanted.each + 64, 8, "taken");
        teams[r].shared[ALGORITHM_chain] = memory;
    }
}

static void combine(const struct reduction *reduction, const char *in, char *inout, size_t count) {
    (void)reduction;
    const uint64_t *from = (const uint64_t *)(const void *)in;
    uint64_t *to = (uint64_t *)(void *)inout;
    for (size_t i = 0; i < count; i++) to[i] = 10 * from[i] + to[i]; /* does not commute */
}

static void scans(int me, enum collective collective) {
    int calls = scene_number(0) - me * scene_number(2);
    for (int k = 0; k < calls || k == 0; k++) {
        crew_enter();
        bool exclusive = collective == COLL_exscan;
        uint64_t send[4], recv[4] = {0}, sum = 0;
        size_t count = scene_number(1) && k % (scene_number(1) + 1) ? 4 : 1;
        for (size_t i = 0; i < count; i++) send[i] = (uint64_t)(k + 1);
        for (int r = 0; r < me + !exclusive; r++) sum = 10 * sum + (uint64_t)(k + 1);
        struct reduction reduction = {.combine = combine, .bytes = 8, .count = count};
        struct call call = {.shape = {.collective = collective, .bytes = 8 * count},
                            .send = (const char *)send,
                            .recv = (char *)recv,
                            .reduction = &reduction};
        expect(algorithm_chain.run(crew_team(), &call, &(struct arguments){0}) == DONE, "left");
        for (size_t i = 0; i < count; i++) expect(recv[i] == sum, "a wrong sum");
    }
}
static void scan(int me) { scans(me, COLL_scan); }
static void exscan(int me) { scans(me, COLL_exscan); }

/* The last rank writes no records. */
static void end(void) {
    int last = scene_threads() - 1;
    const char *rings = teams[last].shared[ALGORITHM_chain],
               *ring = rings + (size_t)last * algorithm_chain.shared.each;
    expect(word_at_end(ring, 8) == 0, "written beyond a ring");
}

const struct scene scenes[] = {{"scan", begin, scan, end}, {"exscan", begin, exscan, end}};
const int scene_count = sizeof scenes / sizeof scenes[0];
