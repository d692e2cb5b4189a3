/* SPDX-License-Identifier: BSD-3-Clause */
/* barrier - src/reach/sync.c: halves, posts, trouble, sums and texts. Numbers: of calls; which
 * ranks have trouble; if not 0, the counters are about to wrap; ranks at a gate, 0: all, 9: no
 * gates, each watches all others; the call at which they get these gates. */
#include "../crew.h"

#include "test/passed.h"

#include <string.h>

static void begin(void) {
    uint32_t p = (uint32_t)scene_threads(), fan = (uint32_t)scene_number(3);
    uint32_t epoch = scene_number(2) == 0 ? 0 : UINT32_MAX;
    crew_begin(64);
    for (uint32_t r = 0; r < p; r++) {
        struct team *team = &teams[r];
        if (fan && scene_number(4) == 0) crew_shape(team, fan);
        have_passed(team, epoch);
    }
}

/* Rank r has trouble in call k: in turn; all; none; rank 0 only in the first call. */
static uint32_t trouble_of(int call, int rank) {
    switch (scene_number(1)) {
    case 0: return (call + rank) % 2 ? 1u << rank : 0;
    case 1: return 1u << rank;
    case 2: return 0;
    default: return call == 0 && rank == scene_number(1) - 3 ? 1 : 0;
    }
}

/* One barrier per call: each rank posts, and all read the posts of all. */
static void posts(int me) {
    struct team *team = crew_team();
    for (int k = 0; k < scene_number(0); k++) {
        crew_enter();
        if (k > 0 && k == scene_number(4)) crew_shape(team, (uint32_t)scene_number(3));
        uint32_t half = team->epoch & 1, all = 0;
        for (int r = 0; r < team->p; r++) all |= trouble_of(k, r);
        post_of(team, half, me)->send = (uint64_t)(100 * k + me);
        uint32_t trouble = sync_all(team, trouble_of(k, me));
        expect(trouble == all, "a barrier returns wrong trouble");
        for (int r = 0; r < team->p; r++)
            expect(post_of(team, half, r)->send == (uint64_t)(100 * k + r), "a wrong post");
    }
}

/* Two barriers per call: between them peers read this rank's buffer. */
static void straight(int me) {
    struct team *team = crew_team();
    static uint32_t *buffers[most_threads];
    buffers[me] = (uint32_t *)(void *)(team->stage + 64 * me);
    for (int k = 0; k < scene_number(0); k++) {
        crew_enter();
        *buffers[me] = (uint32_t)(100 * k + me);
        sync_all(team, 0);
        for (int r = 0; r < team->p; r++)
            expect(*(uint32_t *)(void *)(team->stage + 64 * r) == (uint32_t)(100 * k + r),
                   "a peer's buffer is not what it was");
        sync_all(team, 0);
    }
}

static void sums(int me) {
    struct team *team = crew_team();
    uint64_t got[sum_words];
    for (int k = 0; k < scene_number(0); k++) {
        crew_enter();
        uint64_t p = (uint64_t)team->p, mine[sum_words] = {(uint64_t)(k + me), 1};
        sums_add(team, mine, got);
        sync_all(team, 0);
        sums_read(team, got);
        expect(got[0] == p * (uint64_t)k + p * (p - 1) / 2 && got[1] == p, "wrong sums");
    }
}

static void texts(int me) {
    for (int k = 0; k < scene_number(0); k++) {
        crew_enter();
        char text[64] = {(char)('a' + k + 10 * me)};
        team_tell(crew_team(), text);
        expect(text[0] == 'a' + k, "a wrong text");
    }
}

static void agree(int me) {
    struct team *team = crew_team();
    for (int k = 0; k < scene_number(0); k++) {
        crew_enter();
        bool all = true;
        for (int r = 0; r < team->p; r++) all = all && trouble_of(k, r) == 0;
        expect(team_agree(team, trouble_of(k, me) == 0) == all, "ranks do not agree");
    }
}

const struct scene scenes[] = {{"posts", begin, posts, NULL},
                               {"straight", begin, straight, NULL},
                               {"sums", begin, sums, NULL},
                               {"texts", begin, texts, NULL},
                               {"agree", begin, agree, NULL}};
const int scene_count = sizeof scenes / sizeof scenes[0];
