/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce - reductions through the stage (src/coll/reduce.c): the last rank to arrive combines
 * alone, between arriving and releasing, or all combine their shares. Numbers: of calls; of
 * rounds in each, of one cache line per rank; of the call, from 1, in which rank 1 cannot take
 * part. */
#include "../crew.h"

enum { line = 64, words = line / 8, most_rounds = 3 };

static void begin(void) { crew_begin(line); }

static void combine(const struct reduction *reduction, const char *in, char *inout, size_t count) {
    (void)reduction;
    const uint64_t *from = (const uint64_t *)(const void *)in;
    uint64_t *to = (uint64_t *)(void *)inout;
    for (size_t i = 0; i < count; i++) to[i] = 10 * from[i] + to[i]; /* does not commute */
}

static void allreduces(bool alone, enum collective collective) {
    struct team *team = crew_team();
    for (int k = 0; k < scene_number(0); k++) {
        crew_enter();
        uint64_t send[most_rounds * words], recv[most_rounds * words] = {0}, all = 0;
        size_t count = words * (size_t)scene_number(1);
        bool absent = k + 1 == scene_number(2), scan = collective == COLL_scan;
        for (size_t i = 0; i < count; i++) send[i] = (uint64_t)(k + 1);
        int operands = scan ? team->me + 1 : team->p;
        for (int r = 0; r < operands; r++) all = 10 * all + (uint64_t)(k + 1);
        struct reduction reduction = {.combine = combine, .bytes = 8, .count = count};
        struct call call = {.shape = {.collective = collective, .bytes = 8 * count},
                            .send = (const char *)send,
                            .recv = (char *)recv,
                            .trouble = absent && team->me == 1 ? NO_MEMORY : 0,
                            .reduction = &reduction};
        enum outcome outcome = staged_reduction(team, &call, alone);
        expect(outcome == (absent ? LEFT : DONE), "ranks do not leave together");
        for (size_t i = 0; i < count; i++) expect(recv[i] == (absent ? 0 : all), "a wrong result");
    }
}
static void alone(int me) { (void)me, allreduces(true, COLL_allreduce); }
static void together(int me) { (void)me, allreduces(false, COLL_allreduce); }
static void scan(int me) { (void)me, allreduces(true, COLL_scan); }

const struct scene scenes[] = {{"alone", begin, alone, NULL},
                               {"together", begin, together, NULL},
                               {"scan", begin, scan, NULL}};
const int scene_count = sizeof scenes / sizeof scenes[0];
