/* SPDX-License-Identifier: BSD-3-Clause */
/* vector - alltoallvs by notes (src/coll/node/vector.c, notes.c): packed into the stage; by cards
 * (offers.c): in several rounds if they are too long for it, or in place; allgathervs without
 * either (counted.c). Numbers: of calls; of 64-bit words in a block; 1: rank 0's buffers are out of
 * reach, 2: all ranks' are; ranks at a gate, 0: all, 9: no gates. */
#include "../crew.h"

#include <string.h>

enum { slot = 128, most_words = 16 };
extern const struct algorithm_code algorithm_pull, algorithm_cico;

static struct buffers {
    uint64_t send[most_threads * most_words], recv[most_threads * most_words];
} *buffers; /* [p] */
static struct cell cells[2][most_threads][most_threads];

static void begin(void) {
    crew_begin(slot);
    crew_show();
    uint32_t p = (uint32_t)scene_threads();
    buffers = share(p * sizeof *buffers);
    name_memory(buffers, p * sizeof *buffers, "buffers");
    for (uint32_t r = 0; r < p; r++) {
        hidden[r] = scene_number(2) == 2 || (scene_number(2) == 1 && r == 0);
        teams[r].map_error[0] = 0;
        for (uint32_t k = 0; k < p; k++) {
            cells[0][r][k] = (struct cell){.source = (r + k) % p, .dest = r};
            cells[1][r][k] = (struct cell){.source = r, .dest = (r + k) % p};
        }
        if (scene_number(3)) crew_shape(&teams[r], (uint32_t)scene_number(3));
        teams[r].cells[ORDER_rows][0] = cells[0][r];
        teams[r].cells[ORDER_columns][0] = cells[1][r];
    }
}

/* steps: call by call some ranks take the single steps that known calls take, others do not. */
static void run(const struct algorithm_code *code, struct team *team, const struct call *call,
                const struct arguments *arguments, bool steps) {
    const struct single *single = single_for(code, team, call, arguments);
    struct single_state state;
    expect(single || !steps, "more than one barrier");
    if (!steps) {
        expect(code->run(team, call, arguments) == DONE, "left");
        return;
    }
    single_begin(single, team, call, arguments, &state);
    expect(single_end(single, team, call, arguments, &state) == DONE, "left");
}

static void alltoalls(const struct algorithm_code *code, enum order_id order, bool steps) {
    struct team *team = crew_team();
    struct buffers *mine = &buffers[team->me];
    int words = scene_number(1), p = team->p;
    for (int k = 0; k < scene_number(0); k++) {
        crew_enter();
        struct blocks sends = {.base = (char *)mine->send,
                               .count = p,
                               .layout = &layout_bytes,
                               .each = 8 * (size_t)words},
                      recvs = sends;
        recvs.base = (char *)mine->recv;
        struct call call = {.shape = {.collective = COLL_alltoallv, .bytes = sends.each},
                            .sends = &sends,
                            .recvs = &recvs};
        struct arguments arguments = {.walk = {.order = order}};
        for (int j = 0; j < p; j++)
            mine->send[j * words] = mine->send[(j + 1) * words - 1] =
                (uint64_t)(100 * k + 10 * team->me + j + 1);
        run(code, team, &call, &arguments, steps && (team->me + k) % 2 > 0);
        for (int i = 0; i < p; i++) {
            uint64_t value = (uint64_t)(100 * k + 10 * i + team->me + 1);
            expect(mine->recv[i * words] == value && mine->recv[(i + 1) * words - 1] == value,
                   "a wrong block");
        }
        memset(mine, 0, sizeof *mine);
    }
}
/* Blocks of all counts from none to the longest. */
static void counted(int me) {
    struct team *team = crew_team();
    struct buffers *mine = &buffers[me];
    int64_t counts[most_threads], displs[most_threads];
    int words = scene_number(1), p = team->p;
    for (int k = 0; k < scene_number(0); k++) {
        crew_enter();
        for (int r = 0; r < p; r++)
            counts[r] = 8 * ((r + k) % p * words / (p - 1)), displs[r] = 8 * r * words;
        struct blocks sends = {.base = (char *)mine->send,
                               .count = 1,
                               .layout = &layout_bytes,
                               .each = (size_t)counts[me]},
                      recvs = byte_runs((char *)mine->recv, p, counts, displs);
        struct call call = {.shape = {.collective = COLL_allgatherv, .bytes = 8},
                            .sends = &sends,
                            .recvs = &recvs,
                            .longest = 8 * (size_t)words};
        const struct arguments arguments = {0};
        for (int w = 0; w < words; w++) mine->send[w] = (uint64_t)(100 * k + 10 * me + w + 1);
        run(&algorithm_cico, team, &call, &arguments, (me + k) % 2 > 0);
        for (int r = 0; r < p; r++)
            for (int w = 0; w < words; w++)
                expect(mine->recv[r * words + w] ==
                           (8 * w < counts[r] ? (uint64_t)(100 * k + 10 * r + w + 1) : 0),
                       "a wrong block");
        memset(mine, 0, sizeof *mine);
    }
}
static void staged(int me) { (void)me, alltoalls(&algorithm_cico, ORDER_rows, false); }
static void rows(int me) { (void)me, alltoalls(&algorithm_pull, ORDER_rows, false); }
static void columns(int me) { (void)me, alltoalls(&algorithm_pull, ORDER_columns, false); }
/* By note, unless they do not fit. */
static void noted(int me) {
    crew_team()->short_bytes = SIZE_MAX;
    (void)me, alltoalls(&algorithm_pull, ORDER_rows, true);
}

const struct scene scenes[] = {{"staged", begin, staged, NULL},
                               {"rows", begin, rows, NULL},
                               {"columns", begin, columns, NULL},
                               {"noted", begin, noted, NULL},
                               {"counted", begin, counted, NULL}};
const int scene_count = sizeof scenes / sizeof scenes[0];
