/* SPDX-License-Identifier: BSD-3-Clause */
/* vector - alltoallvs by cards (src/coll/node/vector.c, offers.c): packed into the stage, in
 * several rounds if they are too long for it, or in place. Numbers: of calls; of 64-bit words in
 * a block; 1: rank 0's buffers are out of reach, 2: all ranks' are. */
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
        teams[r].cells[ORDER_rows][0] = cells[0][r];
        teams[r].cells[ORDER_columns][0] = cells[1][r];
    }
}

static void alltoalls(const struct algorithm_code *code, enum order_id order) {
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
        expect(code->run(team, &call, &arguments) == DONE, "left");
        for (int i = 0; i < p; i++) {
            uint64_t value = (uint64_t)(100 * k + 10 * i + team->me + 1);
            expect(mine->recv[i * words] == value && mine->recv[(i + 1) * words - 1] == value,
                   "a wrong block");
        }
        memset(mine, 0, sizeof *mine);
    }
}
static void staged(int me) { (void)me, alltoalls(&algorithm_cico, ORDER_rows); }
static void rows(int me) { (void)me, alltoalls(&algorithm_pull, ORDER_rows); }
static void columns(int me) { (void)me, alltoalls(&algorithm_pull, ORDER_columns); }

const struct scene scenes[] = {{"staged", begin, staged, NULL},
                               {"rows", begin, rows, NULL},
                               {"columns", begin, columns, NULL}};
const int scene_count = sizeof scenes / sizeof scenes[0];
