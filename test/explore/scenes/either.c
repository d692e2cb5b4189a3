/* SPDX-License-Identifier: BSD-3-Clause */
/* either - reductions to a root by src/coll/node/either.c: meetings that all ranks reach, and
 * meetings that some rank gives up, with what follows of slices.c and arrival.c. Between calls
 * every rank writes over its buffers at once. Numbers: of calls; of elements, of one cache line
 * each; if not 0, rank 0's buffers are out of reach in every second call; if not 0, rank 1 alone
 * may lose its patience. */
#include "../crew.h"

#include <string.h>

extern const struct algorithm_code algorithm_either, algorithm_arrival;

enum { most_calls = 8, most_elements = 4 };
struct digits {
    _Alignas(64) uint64_t digits;
};
static struct buffers {
    struct digits send[most_elements], recv[most_elements];
} *buffers; /* [p] */
/* A rank has patience in a call if it finds a word set that its neighbour sets on entering that
 * call. It may or may not find it, as its loads are relaxed: so it gives up or not. */
static _Atomic uint32_t *patience; /* [p][most_calls] */
static int call_now[most_threads];

static void begin(void) {
    size_t p = (size_t)scene_threads();
    crew_begin(64);
    crew_show();
    buffers = share(p * sizeof *buffers);
    name_memory(buffers, p * sizeof *buffers, "buffers");
    patience = share(p * most_calls * sizeof *patience);
    size_t entries = p * algorithm_arrival.shared.each,
           room = algorithm_either.shared.all + p * algorithm_either.shared.each;
    char *tree = share(entries), *meetings = share(room);
    name_memory(tree, entries, "entries");
    name_memory(meetings, room, "meetings");
    for (size_t r = 0; r < p; r++) {
        teams[r].figures.domains = 1;
        teams[r].shared[ALGORITHM_arrival] = tree;
        teams[r].shared[ALGORITHM_either] = meetings;
    }
}

/* So no pace is known, and a trial goes on while nobody gives up. */
double clock_seconds(void) { return 0; }

bool flag_wait_for(struct team *team, struct flag *flag, uint32_t old, double seconds) {
    (void)seconds;
    _Atomic uint32_t *mine = &patience[team->me * most_calls + call_now[team->me]];
    bool patient = scene_number(3) && team->me != 1;
    if (!patient && atomic_load_explicit(mine, memory_order_relaxed) == 0) return false;
    flag_wait(team, flag, old);
    return true;
}

/* The digits of `in` before those of `inout`. */
static void follow(const struct reduction *reduction, const char *in, char *inout, size_t count) {
    (void)reduction;
    const struct digits *from = (const struct digits *)(const void *)in;
    struct digits *to = (struct digits *)(void *)inout;
    for (size_t i = 0; i < count; i++) {
        uint64_t shift = 1;
        while (shift <= to[i].digits) shift *= 10;
        to[i].digits += shift * from[i].digits;
    }
}

static void reduce(int me) {
    struct team *team = crew_team();
    struct buffers *mine = &buffers[me];
    size_t count = (size_t)scene_number(1);
    int p = team->p, next = (me + 1) % p;
    for (int k = 0; k < scene_number(0); k++) {
        crew_enter();
        call_now[me] = k;
        atomic_store_explicit(&patience[next * most_calls + k], 1, memory_order_relaxed);
        bool odd = scene_number(2) && k % 2 == 0;
        hidden[me] = scarce[me] = odd && me == 0;
        uint64_t all = 0;
        for (int r = 0; r < p; r++) all = 10 * all + (uint64_t)(1 + (r + k) % 9);
        for (size_t i = 0; i < count; i++) mine->send[i].digits = (uint64_t)(1 + (me + k) % 9);
        struct reduction reduction = {
            .combine = follow, .bytes = sizeof(struct digits), .count = count};
        struct call call = {
            .shape = {.collective = COLL_reduce, .bytes = count * sizeof(struct digits)},
            .send = (const char *)mine->send,
            .recv = (char *)mine->recv,
            .root = k % p,
            .reduction = &reduction};
        enum outcome outcome = algorithm_either.run(team, &call, &(struct arguments){0});
        expect(outcome == DONE || (odd && outcome == STAGED), "turned away, or trouble stays");
        for (size_t i = 0; i < count && me == call.root; i++)
            expect(mine->recv[i].digits == all, "a wrong result");
        memset(mine, 0, sizeof *mine);
    }
}

const struct scene scenes[] = {{"reduce", begin, reduce, NULL}};
const int scene_count = sizeof scenes / sizeof scenes[0];
