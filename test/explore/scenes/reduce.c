/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce - reductions through the stage (src/coll/reduce.c): the last rank to arrive combines
 * alone, between arriving and releasing, or all combine their shares, or each combines for itself
 * (apiece.c). Numbers: of calls; of rounds in each, of one cache line per rank, 0: of what a
 * beacon's line holds; of the call, from 1, in which rank 1 cannot take part; ranks at a gate, 0:
 * all, 9: no gates; if not 0, ranks sit there in another order, and the operation, 1: commutes. */
#include "../crew.h"

/* x -> slope x + offset; composed, which commutes for shifts only. */
struct map {
    uint64_t slope, offset;
};
enum { line = 64, most_rounds = 3, maps = line / sizeof(struct map) };
extern const struct algorithm_code algorithm_apiece;

static void begin(void) {
    static uint32_t domain_of[most_threads];
    uint32_t p = (uint32_t)scene_threads(), fan = (uint32_t)scene_number(3);
    crew_begin(line);
    for (uint32_t r = 0; r < p; r++) domain_of[r] = r == 0;
    for (uint32_t r = 0; r < p && fan; r++) {
        if (scene_number(4)) teams[r].domain_of = domain_of;
        crew_shape(&teams[r], fan);
    }
}

static void combine(const struct reduction *reduction, const char *in, char *inout, size_t count) {
    (void)reduction;
    const struct map *from = (const struct map *)(const void *)in;
    struct map *to = (struct map *)(void *)inout;
    for (size_t i = 0; i < count; i++) {
        to[i].offset += from[i].offset * to[i].slope;
        to[i].slope *= from[i].slope;
    }
}

static struct map map_of(int call, int rank) {
    uint64_t slope = scene_number(4) == 1 ? 1 : 3 + 2 * (uint64_t)rank;
    return (struct map){slope, (uint64_t)(10 * call + rank + 1)};
}

/* A call of a single barrier, step by step. */
static enum outcome by_steps(const struct single *single, struct team *team,
                             const struct call *call) {
    struct single_state state;
    expect(single->is(team, call, NULL), "more than one barrier");
    single_begin(single, team, call, NULL, &state);
    return single_end(single, team, call, NULL, &state);
}

enum how { BY_ONE, TOGETHER, APIECE };
static enum outcome run(enum how how, bool steps, struct team *team, const struct call *call) {
    if (steps)
        return by_steps(how == APIECE ? algorithm_apiece.singles[0] : &reduction_single, team,
                        call);
    if (how == APIECE) return algorithm_apiece.run(team, call, NULL);
    return staged_reduction(team, call, how == BY_ONE ? ALONE : AS_ONE);
}

static void allreduces(enum how how, enum collective collective, bool some_by_steps) {
    struct team *team = crew_team();
    for (int k = 0; k < scene_number(0); k++) {
        crew_enter();
        struct map send[most_rounds * maps], recv[most_rounds * maps] = {{0, 0}};
        size_t lines = (size_t)scene_number(1),
               count = lines ? maps * lines : BEACON_INSIDE / sizeof(struct map);
        bool absent = k + 1 == scene_number(2), scan = collective == COLL_scan,
             commutes = scene_number(4) == 1;
        struct map mine = map_of(k, team->me), all = map_of(k, 0);
        for (size_t i = 0; i < count; i++) send[i] = mine;
        int operands = scan ? team->me + 1 : team->p;
        for (int r = 1; r < operands; r++) {
            struct map next = map_of(k, r);
            combine(NULL, (char *)&all, (char *)&next, 1);
            all = next;
        }
        struct reduction reduction = {
            .combine = combine, .bytes = sizeof mine, .count = count, .commutes = commutes};
        struct call call = {.shape = {.collective = collective, .bytes = count * sizeof mine},
                            .send = (const char *)send,
                            .recv = (char *)recv,
                            .trouble = absent && team->me == 1 ? NO_MEMORY : 0,
                            .reduction = &reduction};
        bool steps = some_by_steps && count <= maps && !call.trouble && (team->me + k) % 3;
        enum outcome outcome = run(how, steps, team, &call);
        expect(outcome == (absent ? LEFT : DONE), "ranks do not leave together");
        for (size_t i = 0; i < count; i++)
            expect(recv[i].slope == (absent ? 0 : all.slope) &&
                       recv[i].offset == (absent ? 0 : all.offset),
                   "a wrong result");
    }
}
static void alone(int me) { (void)me, allreduces(BY_ONE, COLL_allreduce, false); }
static void single(int me) { (void)me, allreduces(BY_ONE, COLL_allreduce, true); }
static void together(int me) { (void)me, allreduces(TOGETHER, COLL_allreduce, false); }
static void scan(int me) { (void)me, allreduces(BY_ONE, COLL_scan, false); }
static void apiece(int me) { (void)me, allreduces(APIECE, COLL_allreduce, true); }

const struct scene scenes[] = {{"alone", begin, alone, NULL},
                               {"single", begin, single, NULL},
                               {"together", begin, together, NULL},
                               {"scan", begin, scan, NULL},
                               {"apiece", begin, apiece, NULL}};
const int scene_count = sizeof scenes / sizeof scenes[0];
