/* SPDX-License-Identifier: BSD-3-Clause */
/* mailbox - whole calls through boxes (src/coll/node/mailbox.c, letters.c, offers.c): broadcasts,
 * gathers, scatters, and neighbours on a ring. Numbers: of calls; of 64-bit words in a block: few
 * are staged, many are read in place; if not 0, no buffer is in reach, so many go in parts. */
#include "../crew.h"

#include <string.h>

extern const struct algorithm_code algorithm_mailbox;

enum { most_words = 160, slot = 64 };
static struct buffers {
    _Alignas(64) uint64_t send[most_threads * most_words], recv[most_threads * most_words];
} *buffers; /* [p] */
static struct flag *left;
static struct neighbours neighbours[most_threads];
static struct edge to[most_threads][2], from[most_threads][2];

static void begin(void) {
    crew_plain();
    crew_show();
    left = share(sizeof *left);
    uint32_t p = (uint32_t)scene_threads();
    char *boxes = share(boxes_size((int)p, slot));
    name_memory(boxes, boxes_size((int)p, slot), "boxes");
    buffers = share(p * sizeof *buffers);
    name_memory(buffers, p * sizeof *buffers, "buffers");
    for (uint32_t r = 0; r < p; r++) {
        boxes_attach(&teams[r], boxes, slot);
        teams[r].figures.processors = (int)p;
        teams[r].map_error[0] = 0;
        hidden[r] = scene_number(2) != 0;
        for (uint32_t i = 0; i < 2; i++) { /* 0: the rank before, 1: the rank behind */
            uint32_t other = (r + (i ? 1 : p - 1)) % p;
            to[r][i] = (struct edge){.source = r, .dest = other, .out = i, .in = 1 - i};
            from[r][i] = (struct edge){.source = other, .dest = r, .out = 1 - i, .in = i};
        }
        neighbours[r] = (struct neighbours){
            .outs = 2, .ins = 2, .to_count = 2, .from_count = 2, .to = to[r], .from = from[r]};
    }
}

static uint64_t value(int call, int source, int out) {
    return (uint64_t)(1000 * call + 10 * source + out + 1);
}

/* The rank that block `in` of this rank's receive buffer comes from, and its number there. */
static void expected(struct call *call, int in, int *source, int *out) {
    int me = thread_now();
    *source = call->root, *out = me;
    if (call->shape.collective == COLL_bcast) *out = 0;
    if (call->shape.collective == COLL_gather) *source = in, *out = 0;
    if (call->neighbours) *source = (int)from[me][in].source, *out = (int)from[me][in].out;
}

static void calls(enum collective collective, bool turns) {
    struct team *team = crew_team();
    struct buffers *mine = &buffers[team->me];
    int words = scene_number(1), p = team->p;
    for (int k = 0; k < scene_number(0); k++) {
        crew_enter();
        bool near = among(collective, NEIGHBORS), bcast = collective == COLL_bcast;
        int root = turns ? k % p : 0;
        bool is_root = near || team->me == root, gather = collective == COLL_gather;
        int outs = near ? 2 : gather ? 1 : !is_root ? 0 : bcast ? 1 : p;
        int ins = near ? 2 : gather ? is_root * p : bcast && is_root ? 0 : 1;
        struct blocks sends = {.base = (char *)mine->send,
                               .count = outs,
                               .layout = &layout_bytes,
                               .each = 8 * (size_t)words},
                      recvs = sends;
        recvs.base = (char *)mine->recv;
        recvs.count = ins;
        struct call call = {.shape = {.collective = collective, .bytes = sends.each},
                            .sends = &sends,
                            .recvs = &recvs,
                            .root = root,
                            .neighbours = near ? &neighbours[team->me] : NULL};
        for (int b = 0; b < outs; b++)
            mine->send[b * words] = mine->send[b * words + words - 1] = value(k, team->me, b);
        struct arguments plain = {.copier = {.kernel = KERNEL_plain}};
        expect(algorithm_mailbox.run(team, &call, &plain) == DONE, "left");
        for (int b = 0, source, out; b < ins; b++) {
            expected(&call, b, &source, &out);
            expect(mine->recv[b * words] == value(k, source, out) &&
                       mine->recv[b * words + words - 1] == value(k, source, out),
                   "a wrong block");
        }
    }
}
static void bcast(int me) { (void)me, calls(COLL_bcast, true); }
static void gather(int me) { (void)me, calls(COLL_gather, false); }
/* Rank 2 comes when rank 1 has left the call, so rank 1 may not be kept waiting for it. */
static void late(int me) {
    if (me == 2) await_change(left, 0);
    calls(COLL_gather, false);
    if (me == 1) flag_set(left, 1);
}
static void scatter(int me) { (void)me, calls(COLL_scatter, false); }
static void ring(int me) { (void)me, calls(COLL_neighbor_alltoall, false); }

const struct scene scenes[] = {{"bcast", begin, bcast, NULL},
                               {"gather", begin, gather, NULL},
                               {"late", begin, late, NULL},
                               {"scatter", begin, scatter, NULL},
                               {"ring", begin, ring, NULL}};
const int scene_count = sizeof scenes / sizeof scenes[0];
