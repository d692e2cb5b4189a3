/* SPDX-License-Identifier: BSD-3-Clause */
/* exchange - whole alltoalls between two barriers (pull), through the stage (cico), and where a
 * buffer is out of reach. Between calls every rank writes over its buffers at once. Numbers: of
 * calls; ranks at a gate, 0: all, 9: no gates. */
#include "../crew.h"

#include <string.h>

enum { most_calls = 4, slot = 256 };
extern const struct algorithm_code algorithm_pull, algorithm_cico;

static struct buffers {
    _Alignas(64) uint64_t send[most_threads], recv[most_threads];
} * buffers;                                             /* [p] */
static struct cell cells[2][most_threads][most_threads]; /* [own dest, own source] */

static void begin(void) {
    crew_begin(slot);
    crew_show();
    uint32_t p = (uint32_t)scene_threads();
    buffers = share(p * sizeof *buffers);
    name_memory(buffers, p * sizeof *buffers, "buffers");
    for (uint32_t r = 0; r < p; r++) {
        for (uint32_t k = 0; k < p; k++) {
            cells[0][r][k] = (struct cell){.source = (r + k) % p, .dest = r};
            cells[1][r][k] = (struct cell){.source = r, .dest = (r + k) % p};
        }
        if (scene_number(1)) crew_shape(&teams[r], (uint32_t)scene_number(1));
        teams[r].cells[ORDER_rows][0] = cells[0][r];
        teams[r].cells[ORDER_columns][0] = cells[1][r];
    }
}

/* A call of a single barrier, step by step. */
static enum outcome by_steps(const struct algorithm_code *code, struct team *team,
                             const struct call *call, const struct arguments *arguments) {
    struct single_state state;
    const struct single *single = single_for(code, team, call, arguments);
    expect(single != NULL, "more than one barrier");
    single_begin(single, team, call, arguments, &state);
    return single_end(single, team, call, arguments, &state);
}

static enum outcome alltoall(const struct algorithm_code *code, struct arguments arguments, int k,
                             bool steps) {
    struct team *team = crew_team();
    struct buffers *mine = &buffers[team->me];
    crew_enter();
    struct call call = {.shape = {.collective = COLL_alltoall, .bytes = sizeof mine->send[0]},
                        .send = (const char *)mine->send,
                        .recv = (char *)mine->recv};
    for (int j = 0; j < team->p; j++) mine->send[j] = (uint64_t)(100 * k + 10 * team->me + j);
    enum outcome outcome =
        steps ? by_steps(code, team, &call, &arguments) : code->run(team, &call, &arguments);
    for (int i = 0; i < team->p; i++)
        expect(mine->recv[i] == (uint64_t)(100 * k + 10 * i + team->me), "a wrong block");
    memset(mine, 0, sizeof *mine);
    return outcome;
}

static void walk(enum order_id order) {
    for (int k = 0; k < scene_number(0); k++)
        alltoall(&algorithm_pull, (struct arguments){.walk = {.order = order}}, k, false);
}
static void rows(int me) { (void)me, walk(ORDER_rows); }
static void columns(int me) { (void)me, walk(ORDER_columns); }
static void staged(int me) {
    (void)me;
    for (int k = 0; k < scene_number(0); k++)
        alltoall(&algorithm_cico, (struct arguments){0}, k, false);
}
/* Some ranks take the steps, others do not. */
static void single(int me) {
    for (int k = 0; k < scene_number(0); k++)
        alltoall(&algorithm_cico, (struct arguments){0}, k, (me + k) % 3 > 0);
}
/* Rank 0's buffers are out of reach in every second call. */
static void turned(int me) {
    for (int k = 0; k < scene_number(0); k++) {
        hidden[me] = me == 0 && k % 2 == 0;
        enum outcome outcome =
            alltoall(&algorithm_pull, (struct arguments){.walk = {.order = ORDER_rows}}, k, false);
        expect(outcome == (k % 2 == 0 ? STAGED : DONE), "ranks do not turn the same way");
    }
}

const struct scene scenes[] = {{"rows", begin, rows, NULL},
                               {"columns", begin, columns, NULL},
                               {"staged", begin, staged, NULL},
                               {"single", begin, single, NULL},
                               {"turned", begin, turned, NULL}};
const int scene_count = sizeof scenes / sizeof scenes[0];
