/* SPDX-License-Identifier: BSD-3-Clause */
/* slices - reductions from buffer to buffer (src/coll/node/slices.c), within domains of memory
 * first (levels.c), and barriers of the program's own (central.c). Between calls every rank writes
 * over its buffers at once. Numbers: of calls; of elements, of one cache line each; domains, 0:
 * one, 1: the last rank has its own, 2: rank 1 has, and the operation commutes; in every second
 * call 1: rank 0's buffers are out of reach, 2: its memory for copies, too; if not 0, in place;
 * lines of a slot, 0: one. */
#include "../crew.h"

#include <string.h>

extern const struct algorithm_code algorithm_slices, algorithm_central;

/* x -> slope x + offset; composed, which commutes for shifts only. */
struct map {
    _Alignas(64) uint64_t slope;
    uint64_t offset;
};
enum { most_elements = 6 };
static struct buffers {
    struct map send[most_elements], recv[most_elements];
} *buffers; /* [p] */

static void begin(void) {
    static uint32_t domain_of[most_threads];
    uint32_t p = (uint32_t)scene_threads();
    crew_begin((scene_number(5) ? (size_t)scene_number(5) : 1) * sizeof(struct map));
    crew_show();
    buffers = share(p * sizeof *buffers);
    name_memory(buffers, p * sizeof *buffers, "buffers");
    for (uint32_t r = 0; r < p; r++) {
        domain_of[r] = r == (scene_number(2) == 2 ? 1 : p - 1);
        teams[r].figures.domains = scene_number(2) ? 2 : 1;
        if (scene_number(2)) teams[r].domain_of = domain_of;
    }
}

static void compose(const struct reduction *reduction, const char *in, char *inout, size_t count) {
    (void)reduction;
    const struct map *from = (const struct map *)(const void *)in;
    struct map *to = (struct map *)(void *)inout;
    for (size_t i = 0; i < count; i++) {
        to[i].offset += from[i].offset * to[i].slope;
        to[i].slope *= from[i].slope;
    }
}

static struct map map_of(int call, int rank, size_t element) {
    uint64_t slope = scene_number(2) == 2 ? 1 : 3 + 2 * (uint64_t)rank;
    return (struct map){slope, (uint64_t)(100 * call + 10 * rank) + element};
}

static struct map map_upto(int call, int ranks, size_t element) {
    struct map all = map_of(call, 0, element);
    for (int r = 1; r < ranks; r++) {
        struct map next = map_of(call, r, element);
        compose(NULL, (char *)&all, (char *)&next, 1);
        all = next;
    }
    return all;
}

static void reductions(enum collective collective) {
    struct team *team = crew_team();
    struct buffers *mine = &buffers[team->me];
    size_t count = (size_t)scene_number(1);
    bool in_place = scene_number(4), parts = collective == COLL_reduce_scatter_block;
    for (int k = 0; k < scene_number(0); k++) {
        crew_enter();
        bool odd = scene_number(3) && k % 2 == 0;
        hidden[team->me] = odd && team->me == 0;
        scarce[team->me] = hidden[team->me] && scene_number(3) == 2;
        struct map *send = in_place ? mine->recv : mine->send;
        for (size_t i = 0; i < count; i++) send[i] = map_of(k, team->me, i);
        struct reduction reduction = {.combine = compose,
                                      .bytes = sizeof *send,
                                      .count = count,
                                      .commutes = scene_number(2) == 2};
        size_t received = parts ? count / (size_t)team->p : count;
        struct call call = {.shape = {.collective = collective, .bytes = received * sizeof *send},
                            .send = (const char *)send,
                            .recv = (char *)mine->recv,
                            .in_place = in_place,
                            .root = collective == COLL_reduce ? k % team->p : 0,
                            .reduction = &reduction};
        enum outcome outcome = algorithm_slices.run(team, &call, &(struct arguments){0});
        expect(outcome == (odd && scene_number(3) == 2 ? STAGED : DONE),
               "ranks do not turn the same way");
        size_t first = parts ? received * (size_t)team->me : 0;
        int operands = among(collective, SCANS) ? team->me + 1 : team->p;
        if (collective == COLL_exscan) operands--;
        if (collective == COLL_reduce && team->me != call.root) operands = 0;
        for (size_t i = 0; i < received && operands > 0; i++) {
            struct map right = map_upto(k, operands, first + i);
            expect(mine->recv[i].slope == right.slope && mine->recv[i].offset == right.offset,
                   "a wrong result");
        }
        memset(mine, 0, sizeof *mine);
    }
}
static void allreduce(int me) { (void)me, reductions(COLL_allreduce); }
static void reduce(int me) { (void)me, reductions(COLL_reduce); }
static void scatter(int me) { (void)me, reductions(COLL_reduce_scatter_block); }
static void scan(int me) { (void)me, reductions(COLL_scan); }
static void exscan(int me) { (void)me, reductions(COLL_exscan); }

/* What a program may do between its own barriers: each rank writes, and its peers read. */
static void central(int me) {
    struct team *team = crew_team();
    struct call call = {.shape = {.collective = COLL_barrier}};
    for (int k = 0; k < scene_number(0); k++) {
        crew_enter();
        buffers[me].send[0].offset = (uint64_t)(10 * k + me);
        expect(algorithm_central.run(team, &call, &(struct arguments){0}) == DONE, "left");
        for (int r = 0; r < team->p; r++)
            expect(buffers[r].send[0].offset == (uint64_t)(10 * k + r), "a barrier lets ranks by");
        expect(algorithm_central.run(team, &call, &(struct arguments){0}) == DONE, "left");
    }
}

const struct scene scenes[] = {
    {"allreduce", begin, allreduce, NULL}, {"reduce", begin, reduce, NULL},
    {"scatter", begin, scatter, NULL},     {"scan", begin, scan, NULL},
    {"exscan", begin, exscan, NULL},       {"central", begin, central, NULL}};
const int scene_count = sizeof scenes / sizeof scenes[0];
