/* SPDX-License-Identifier: BSD-3-Clause */
/* ahead - tape and chain, the calls in which ranks run ahead on rings, with threads as ranks:
 * random roots, lengths from nothing to the longest, late ranks, one that cannot take part, an
 * operation that does not commute, in place or not, both kinds of calls mixed or alone, counters
 * that wrap, a root that was none for 2^31 calls; and a rank returns from as many calls as a ring
 * holds before another one has begun.
 * ahead [SEED [CALLS]] */
#include "crew.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { longest_block = 700, longest_vector = 55, guard = 8, ahead = 48 };

static int calls = 600;

/* ---- an operation that does not commute: one map x -> factor x + add after another ---- */

struct map {
    uint64_t factor, add;
};

static struct map after(struct map first, struct map then) {
    return (struct map){then.factor * first.factor, then.factor * first.add + then.add};
}

static void combine(const struct reduction *reduction, const char *in, char *inout, size_t count) {
    (void)reduction;
    expect(((uintptr_t)in | (uintptr_t)inout) % 16 == 0, "operands at %p and %p", (const void *)in,
           (void *)inout);
    for (size_t i = 0; i < count; i++) {
        struct map left, right;
        memcpy(&left, in + i * sizeof left, sizeof left);
        memcpy(&right, inout + i * sizeof right, sizeof right);
        right = after(left, right);
        memcpy(inout + i * sizeof right, &right, sizeof right);
    }
}

static struct map map_of(uint64_t key, int rank, size_t i) {
    return (struct map){(key ^ (uint64_t)rank * 77) | 1, key * (uint64_t)(rank + 3) + i};
}

/* ---- one call ---- */

static void scan(struct rank *rank, bool exclusive, uint64_t key, size_t count, bool in_place) {
    struct team *team = &rank->team;
    struct map mine[longest_vector], result[longest_vector + 1];
    memset(result, 0x77, sizeof result);
    for (size_t i = 0; i < count; i++) mine[i] = map_of(key, team->me, i);
    if (in_place) memcpy(result, mine, count * sizeof *mine);
    struct reduction reduction = {.combine = combine, .bytes = sizeof *mine, .count = count};
    struct call call = {
        .shape = {.collective = exclusive ? COLL_exscan : COLL_scan, .bytes = count * sizeof *mine},
        .send = (const char *)(in_place ? result : mine),
        .recv = (char *)result,
        .in_place = in_place,
        .reduction = &reduction};
    enum outcome outcome =
        algorithms[ALGORITHM_chain].code->run(team, &call, &(struct arguments){.chunk = 0});
    expect(outcome == DONE, "chain: outcome %d", (int)outcome);
    bool nothing = exclusive && team->me == 0;
    for (size_t i = 0; i < count && !nothing; i++) {
        struct map all = map_of(key, 0, i);
        for (int r = 1; r <= team->me - exclusive; r++) all = after(all, map_of(key, r, i));
        expect(memcmp(&all, &result[i], sizeof all) == 0,
               "p=%d rank %d: element %zu of %zu of %s%s is wrong", team->p, team->me, i, count,
               exclusive ? "exscan" : "scan", in_place ? " in place" : "");
    }
    for (size_t i = 0; i < sizeof *result; i++)
        expect(((char *)&result[count])[i] == 0x77, "p=%d rank %d: written behind %zu elements",
               team->p, team->me, count);
}

static void bcast(struct rank *rank, uint64_t key, size_t bytes, int root, int absent) {
    struct team *team = &rank->team;
    char block[longest_block + guard];
    memset(block, 0x77, sizeof block);
    for (size_t i = 0; i < bytes && team->me == root; i++) block[i] = (char)(key >> i % 57);
    struct blocks one = {.base = block, .count = 1, .layout = &layout_bytes, .each = bytes},
                  none = {.layout = &layout_bytes};
    struct call call = {.shape = {.collective = COLL_bcast, .bytes = bytes},
                        .root = root,
                        .sends = team->me == root ? &one : &none,
                        .recvs = team->me == root ? &none : &one,
                        .trouble = team->me == absent ? NO_MEMORY : 0};
    enum outcome outcome =
        algorithms[ALGORITHM_tape].code->run(team, &call, &(struct arguments){.chunk = 0});
    expect(outcome == (absent == root && team->me != root ? FAILED : DONE), "tape: outcome %d",
           (int)outcome);
    bool got = team->me == root || (absent != team->me && absent != root);
    for (size_t i = 0; i < sizeof block; i++) {
        char wanted = (char)(i < bytes && got ? key >> i % 57 : 0x77);
        expect(block[i] == wanted,
               "p=%d rank %d: byte %zu of %zu from root %d is %02x instead of %02x", team->p,
               team->me, i, bytes, root, (uint8_t)block[i], (uint8_t)wanted);
    }
}

/* ---- many ---- */

/* As if so many lines, or calls, had gone before; before anybody makes a call. up: the call that
 * all ranks had finished when this one was a root of the tape the last time. */
static void begin_at(struct team *team, uint32_t number, uint32_t up) {
    enum { line = 64 / sizeof(uint32_t) };
    struct shared chain = shared_wanted(ALGORITHM_chain), tape = shared_wanted(ALGORITHM_tape);
    uint32_t *ring =
        (uint32_t *)(void *)(team->shared[ALGORITHM_chain] + (size_t)team->me * chain.each);
    uint32_t *reader = (uint32_t *)(void *)(team->shared[ALGORITHM_tape] + tape.all +
                                            (size_t)team->me * tape.each);
    uint32_t *slots = (uint32_t *)(void *)team->shared[ALGORITHM_tape];
    for (size_t i = 0; team->me == 0 && i < tape.all / 64 / 3; i++) slots[3 * line * i] = number;
    ring[line] = reader[0] = number; /* flags; then what only the rank itself counts */
    for (int i = 0; i < 3; i++) ring[2 * line + i] = reader[line + i] = number;
    reader[line + 2] = up;
    ring[0] = ring[2 * line + 3] = 2 * number; /* what is filled, and its copy */
    ring[2] = number;                          /* what is claimed */
    sync_all(team, 0);
}

static void body(struct rank *rank) {
    uint64_t *common = &rank->common;
    uint32_t first = UINT32_MAX - 100 - draw_below(common, (uint32_t)calls / 2);
    if (draw_below(common, 2)) first = 0;
    begin_at(&rank->team, first, first);
    for (int number = 0; number < calls; number++) {
        uint64_t key = draw(common);
        uint32_t what = draw_below(common, 3), small = draw_below(common, 2);
        /* One kind alone: the other would hold the ranks together. */
        if (number / 150 % 2) what = (uint32_t)(number / 300 % 2);
        bool in_place = draw_below(common, 2);
        size_t count = draw_below(common, small ? 4 : longest_vector),
               bytes = draw_below(common, small ? 17 : longest_block + 1);
        int root = draw_below(common, number / 150 % 2 ? 80u : 4u)
                       ? 0
                       : (int)draw_below(common, (uint32_t)rank->team.p);
        int absent = draw_below(common, 16) ? -1 : (int)draw_below(common, (uint32_t)rank->team.p);
        if (draw_below(&rank->own, 8) == 0) dawdle(&rank->own);
        struct waits *waits = &rank->team.waits;
        if (number % 100 > 50) waits_begin(&rank->team, clock_seconds());
        if (what == 0) bcast(rank, key, bytes, root, absent);
        else scan(rank, what == 1, key, count, in_place);
        expect(!waits->on || waits->late_seconds <= waits->seconds + 1e-9,
               "waited %g s for late ranks, of %g", waits->late_seconds, waits->seconds);
        waits_end(&rank->team);
        if (number % 300 == 299 && !crew_goes_on(rank)) return;
    }
}

/* Rank 0 returns from so many calls before the others have begun; else this never ends. */
static void run_ahead(struct rank *rank) {
    for (int round = 0; round < 12; round++) {
        if (rank->team.me > 0) sync_all(&rank->team, 0);
        for (int k = 0; k < ahead; k++) {
            uint64_t key = (uint64_t)round * 1000003 + (uint64_t)k * 7919 + 1;
            if (round % 2) bcast(rank, key, 8, 0, -1);
            else scan(rank, false, key, 3, false);
        }
        if (rank->team.me == 0) sync_all(&rank->team, 0);
        sync_all(&rank->team, 0);
    }
}

/* Rank 1 is the root again after 2^31 calls, and all others come late to its first ones. */
static void long_away(struct rank *rank) {
    enum { before = 128 };
    uint32_t number = UINT32_MAX / 2 + 1000;
    begin_at(&rank->team, number, rank->team.me == 0 ? number : number - (1u << 31) + before / 2);
    for (int k = 0; k < 3 * before; k++) {
        if (k == before && rank->team.me != 1)
            nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        bcast(rank, (uint64_t)k * 7919 + 1, 8, k >= before, -1);
    }
}

int main(int count, char **words) {
    uint64_t random = seed_from(count, words);
    if (count > 2) calls = atoi(words[2]);
    static const int sizes[] = {2, 3, 4, 7, 16};
    for (int o = 0; o < OPTIONS; o++) unsetenv(option_rows[o].name);
    for (size_t i = 0; i < 2 * sizeof sizes / sizeof *sizes; i++) {
        static struct crew crew;
        int p = sizes[i / 2];
        crew = (struct crew){.p = p,
                             .reach = REACH_NOTHING,
                             .slot = 64 * (size_t)p,
                             .room = 1 << 16,
                             .spinning = p <= processors_here() && p <= 4 && i % 2,
                             .seed = draw(&random),
                             .body = body};
        crew_run(&crew);
        crew.body = run_ahead;
        crew_run(&crew);
        crew.body = long_away;
        crew_run(&crew);
    }
    printf("teams of up to 16 threads, at most %d calls each\n", calls);
    return 0;
}
