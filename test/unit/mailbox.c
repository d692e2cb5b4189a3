/* SPDX-License-Identifier: BSD-3-Clause */
/* mailbox - rooted and neighbourhood collectives without a barrier, with threads as ranks: random
 * graphs with neighbours that are named twice, ranks that are their own or that have none; layouts
 * with gaps, tables and buffers in reach or not, offers of all kinds, many parts in tiny boxes,
 * late ranks and such that cannot take part, numbers beyond 32 bits, barriers in between. The whole
 * memory around each receive buffer is compared; after a call a rank writes over its buffers at
 * once.
 * mailbox [SEED [CALLS]]: calls per team, at most. */
#define _GNU_SOURCE
#include "sides.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most_edges = most_blocks / 2 };

static int calls = 200;

/* ---- what all ranks know of a call ---- */

struct known {
    enum collective collective;
    int root, absent, edges;
    bool in_place;
    struct edge edge[most_edges];
    size_t bytes[most_edges]; /* of the edge's block */
    uint64_t key[most_edges];
    int outs[most_ranks], ins[most_ranks];
};

static bool is_neighbor(enum collective c) {
    return c >= COLL_neighbor_alltoall && c <= COLL_neighbor_allgatherv;
}
static bool is_gather(enum collective c) { return c == COLL_gather || c == COLL_gatherv; }
static bool is_scatter(enum collective c) { return c == COLL_scatter || c == COLL_scatterv; }
static bool gathers_all(enum collective c) {
    return c == COLL_neighbor_allgather || c == COLL_neighbor_allgatherv;
}

static void add_edge(struct known *call, uint32_t source, uint32_t dest, uint32_t out,
                     uint32_t in) {
    call->edge[call->edges++] = (struct edge){source, dest, out, in};
}

static void draw_graph(struct rank *rank, struct known *call) {
    uint64_t *common = &rank->common;
    uint32_t p = (uint32_t)rank->team.p,
             edges = draw_below(common, draw_below(common, 8) == 0 ? most_edges : 4 * p);
    if (edges > most_edges) edges = most_edges;
    for (uint32_t e = 0; e < edges; e++) {
        uint32_t source = draw_below(common, p), dest = draw_below(common, p);
        /* Blocks of nobody. */
        if (draw_below(common, 8) == 0) call->outs[source] += !gathers_all(call->collective);
        if (draw_below(common, 8) == 0) call->ins[dest]++;
        uint32_t out = gathers_all(call->collective) ? 0 : (uint32_t)call->outs[source]++;
        add_edge(call, source, dest, out, (uint32_t)call->ins[dest]++);
    }
}

/* Every block from one rank to another: its bytes and contents. */
static void draw_blocks(struct rank *rank, struct known *call) {
    uint64_t *common = &rank->common, source_bytes[most_ranks], source_key[most_ranks],
             number = draw(common);
    enum collective c = call->collective;
    bool equal = c == COLL_bcast || c == COLL_gather || c == COLL_scatter ||
                 c == COLL_neighbor_alltoall || c == COLL_neighbor_allgather;
    size_t all = draw_bytes(common, draw_below(common, 32) == 0 ? rank->crew->room / 16
                                                                : rank->crew->room / 128);
    size_t each = call->edges > 0 ? all / (c == COLL_bcast ? 1 : (size_t)call->edges) / piece : 0;
    for (int r = 0; r < most_ranks; r++)
        source_bytes[r] = equal ? each : draw_below(common, (uint32_t)each + 1);
    for (int r = 0; r < most_ranks; r++) source_key[r] = draw(&number) | 1;
    for (int e = 0; e < call->edges; e++) {
        bool same = equal || gathers_all(c);
        call->bytes[e] = piece * (same ? source_bytes[call->edge[e].source]
                                       : draw_below(common, (uint32_t)each + 1));
        call->key[e] = c == COLL_bcast || gathers_all(c) ? source_key[call->edge[e].source]
                                                         : draw(&number) | 1;
    }
}

static struct known draw_call(struct rank *rank) {
    static const enum collective some[] = {COLL_bcast,
                                           COLL_gather,
                                           COLL_gatherv,
                                           COLL_scatter,
                                           COLL_scatterv,
                                           COLL_neighbor_alltoall,
                                           COLL_neighbor_alltoallv,
                                           COLL_neighbor_alltoallw,
                                           COLL_neighbor_allgather,
                                           COLL_neighbor_allgatherv};
    uint64_t *common = &rank->common;
    uint32_t p = (uint32_t)rank->team.p;
    struct known call = {.collective = some[draw_below(common, sizeof some / sizeof *some)],
                         .absent = -1};
    call.root = (int)draw_below(common, p);
    call.in_place = draw_below(common, 3) == 0;
    if (draw_below(common, 16) == 0) call.absent = (int)draw_below(common, p);
    uint32_t root = (uint32_t)call.root;
    if (is_neighbor(call.collective)) draw_graph(rank, &call);
    for (uint32_t r = 0; r < p && !is_neighbor(call.collective); r++) {
        if (is_gather(call.collective)) add_edge(&call, r, root, 0, r);
        else if (is_scatter(call.collective)) add_edge(&call, root, r, r, 0);
        else if (r != root) add_edge(&call, root, r, 0, 0);
    }
    draw_blocks(rank, &call);
    return call;
}

/* ---- one call ---- */

struct mine {
    struct side send, recv;
    struct neighbours neighbours;
    struct edge to[most_edges], from[most_edges];
    char image[2 << 20];
    bool lost; /* a rank that sends to me is absent */
};

/* My blocks by the edges that I have. */
static void collect(const struct rank *rank, const struct known *call, struct mine *mine) {
    uint32_t me = (uint32_t)rank->team.me;
    struct neighbours *n = &mine->neighbours;
    *n = (struct neighbours){
        .outs = call->outs[me], .ins = call->ins[me], .to = mine->to, .from = mine->from};
    memset(&mine->send, 0, sizeof mine->send);
    memset(&mine->recv, 0, sizeof mine->recv);
    mine->lost = false;
    bool equal =
        call->collective == COLL_neighbor_alltoall || call->collective == COLL_neighbor_allgather;
    for (int b = 0; b < most_blocks && equal && call->edges > 0; b++)
        mine->send.bytes[b] = mine->recv.bytes[b] = call->bytes[0];
    for (int e = 0; e < call->edges; e++) {
        const struct edge *edge = &call->edge[e];
        if (edge->source == me) {
            mine->to[n->to_count++] = *edge;
            mine->send.bytes[edge->out] = call->bytes[e];
            mine->send.key[edge->out] = call->key[e];
        }
        if (edge->dest == me) {
            bool sent = edge->source != me || is_neighbor(call->collective);
            if ((int)edge->source == call->absent && sent) mine->lost = true;
            mine->from[n->from_count++] = *edge;
            mine->recv.bytes[edge->in] = call->bytes[e];
            mine->recv.key[edge->in] =
                (int)edge->source == call->absent && call->absent != (int)me ? 0 : call->key[e];
        }
    }
}

static void place(struct rank *rank, const struct known *call, struct mine *mine) {
    enum collective c = call->collective;
    int p = rank->team.p, me = rank->team.me, sends = 1, recvs = 1;
    enum side_kind send = EQUAL, recv = EQUAL;
    bool root = me == call->root,
         varies = c != COLL_neighbor_alltoall && c != COLL_neighbor_allgather;
    enum side_kind kind = c == COLL_neighbor_alltoallw ? TYPES : VARIES;
    if (is_neighbor(c)) {
        recvs = mine->neighbours.ins;
        if (!gathers_all(c)) sends = mine->neighbours.outs;
        if (varies) recv = kind;
        if (varies && !gathers_all(c)) send = kind;
    } else if (is_gather(c)) {
        recvs = root ? p : 0;
        if (c == COLL_gatherv) recv = VARIES;
    } else if (is_scatter(c)) {
        sends = root ? p : 0;
        if (c == COLL_scatterv) send = VARIES;
    } else {
        sends = root;
        recvs = !root;
    }
    side_place(rank, &mine->send, sends, send, false);
    side_place(rank, &mine->recv, recvs, recv, true);
    memset(mine->send.memory, 0x55, mine->send.span);
    memset(mine->recv.memory, 0x77, mine->recv.span);
    side_write(&mine->send, mine->send.memory);
    if (!call->in_place || !root) return;
    if (is_gather(c)) { /* my block is there already */
        side_write_block(&mine->recv, me, mine->recv.memory);
        mine->send.blocks.count = 0;
    } else if (is_scatter(c)) {
        mine->recv.blocks.count = 0;
    }
}

static void one_call(struct rank *rank, uint32_t number, struct mine *mine) {
    const struct algorithm *algorithm = &algorithms[ALGORITHM_mailbox];
    struct known known = draw_call(rank);
    struct arguments arguments = {.copier.plain = draw_below(&rank->own, 2) ? SIZE_MAX : 0};
    collect(rank, &known, mine);
    dawdle(&rank->own);
    place(rank, &known, mine);
    bool absent = known.absent == rank->team.me;
    struct blocks nowhere = {0};
    struct call call = {.shape.collective = known.collective,
                        .in_place = known.in_place,
                        .sends = absent ? &nowhere : &mine->send.blocks,
                        .recvs = absent ? &nowhere : &mine->recv.blocks,
                        .root = known.root,
                        .neighbours = is_neighbor(known.collective) ? &mine->neighbours : NULL,
                        .trouble = absent ? NO_MEMORY : 0};
    expect(mine->recv.span <= sizeof mine->image, "the image is too small");
    memset(mine->image, 0x77, mine->recv.span);
    if (!absent) side_write(&mine->recv, mine->image);
    else memcpy(mine->image, mine->recv.memory, mine->recv.span);
    dawdle(&rank->own);
    const struct waits *waits = &rank->team.waits;
    if (draw_below(&rank->own, 2)) waits_begin(&rank->team, clock_seconds());
    enum outcome outcome = algorithm->code->run(&rank->team, &call, &arguments);
    expect(!waits->on || waits->late_seconds <= waits->seconds + 1e-9,
           "rank %d waited %g s for late ranks, of %g", rank->team.me, waits->late_seconds,
           waits->seconds);
    waits_end(&rank->team);
    expect(outcome == (mine->lost ? FAILED : DONE), "p=%d rank %d call %u: outcome %d",
           rank->team.p, rank->team.me, number, (int)outcome);
    for (size_t i = 0; i < mine->recv.span; i++)
        expect(
            mine->recv.memory[i] == mine->image[i],
            "p=%d rank %d call %u: %s%s, root %d, absent %d: byte %zu of %zu is %02x instead of %02x",
            rank->team.p, rank->team.me, number, collective_names[known.collective],
            known.in_place ? " in place" : "", known.root, known.absent, i, mine->recv.span,
            (uint8_t)mine->recv.memory[i], (uint8_t)mine->image[i]);
    memset(mine->send.memory, 0x44, mine->send.span);
    memset(mine->recv.memory, 0x33, mine->recv.span);
}

static void body(struct rank *rank) {
    static const double waits[] = {0, 3e-7, 1e-5};
    struct mine *mine = malloc(sizeof *mine);
    expect(mine != NULL, "malloc");
    rank->team.figures.sync_seconds = waits[draw_below(&rank->common, 3)];
    rank->team.ops =
        draw_below(&rank->common, 2) ? UINT32_MAX - draw_below(&rank->common, (uint32_t)calls) : 0;
    expect(algorithms[ALGORITHM_mailbox].code->prepare(&rank->team, NULL) == 0, "prepare");
    for (uint32_t number = 0; number < (uint32_t)calls; number++) {
        one_call(rank, number, mine);
        if (draw_below(&rank->common, 8) == 0) sync_all(&rank->team, 0);
        if (number % 64 == 63 && !crew_goes_on(rank)) break;
    }
    free(mine);
}

/* ---- how far a rank may be ahead ---- */

/* The sender of BOXES short calls returns from all of them before a receiver has begun; else this
 * never ends. */
static void run_ahead(struct rank *rank) {
    struct team *team = &rank->team;
    const struct algorithm_code *code = algorithms[ALGORITHM_mailbox].code;
    struct arguments arguments = {.copier.plain = SIZE_MAX};
    uint64_t value, all[most_ranks] = {0};
    code->prepare(team, &arguments);
    for (int round = 0; round < 3; round++)
        for (int gather = 0; gather < 2; gather++) {
            bool sender = (team->me == 0) != gather;
            if (!sender) sync_all(team, 0);
            for (uint64_t k = 0; k < BOXES; k++) {
                value = sender ? k * 100 + (uint64_t)team->me : 0;
                struct blocks one = {.base = (char *)&value,
                                     .count = 1,
                                     .layout = &layout_bytes,
                                     .each = sizeof value};
                struct blocks none = {.layout = &layout_bytes}, many = one;
                many.base = (char *)all;
                many.count = team->p;
                struct call call = {.shape = {.collective = gather ? COLL_gather : COLL_bcast,
                                              .bytes = sizeof value}};
                call.sends = sender || gather ? &one : &none;
                call.recvs = gather ? team->me == 0 ? &many : &none : sender ? &none : &one;
                if (gather && !sender) value = k * 100;
                code->run(team, &call, &arguments);
                for (int r = 0; gather && !sender && r < team->p; r++)
                    expect(all[r] == k * 100 + (uint64_t)r, "gather ahead");
                expect(gather || value == k * 100, "bcast ahead");
                value = 99;
            }
            if (sender) sync_all(team, 0);
            sync_all(team, 0);
        }
}

/* ---- a late source must not hold up the others ---- */

/* Ranks 0 and 2 send to rank 1, rank 2 straight; rank 0 not before rank 2 has returned: else this
 * never ends. */
static void late_source(struct rank *rank) {
    static _Atomic int returned;
    static const size_t bytes = 64 << 10;
    struct team *team = &rank->team;
    const struct algorithm_code *code = algorithms[ALGORITHM_mailbox].code;
    struct arguments arguments = {.copier.plain = SIZE_MAX};
    if (team->me == 0) atomic_store(&returned, 0);
    code->prepare(team, &arguments);
    for (int round = 1; round <= 4; round++) {
        uint32_t first = round % 2 ? 0 : 2, me = (uint32_t)team->me;
        struct edge to = {.source = me, .dest = 1, .in = me == first ? 0 : 1};
        struct edge from[] = {{.source = first, .dest = 1},
                              {.source = 2 - first, .dest = 1, .in = 1}};
        struct neighbours neighbours = {
            .outs = me != 1, .to_count = me != 1, .to = &to, .from = from};
        if (me == 1) neighbours.ins = neighbours.from_count = 2;
        struct blocks sends = {.base = rank->block,
                               .count = me != 1,
                               .layout = &layout_bytes,
                               .each = bytes},
                      recvs = sends;
        recvs.count = neighbours.ins;
        struct call call = {.shape = {.collective = COLL_neighbor_alltoall, .bytes = bytes},
                            .sends = &sends,
                            .recvs = &recvs,
                            .neighbours = &neighbours};
        memset(rank->block, me == 1 ? 0 : (int)me + round, 2 * bytes);
        if (me == 2) usleep(2000); /* rank 1 sleeps by now, mostly at the box of rank 0 */
        while (me == 0 && atomic_load(&returned) < round) usleep(100);
        code->run(team, &call, &arguments);
        if (me == 2) atomic_store(&returned, round);
        for (size_t i = 0; me == 1 && i < 2 * bytes; i++)
            expect(rank->block[i] == (int)(i < bytes ? first : 2 - first) + round,
                   "round %d: byte %zu is %d", round, i, rank->block[i]);
    }
}

int main(int count, char **words) {
    uint64_t random = seed_from(count, words);
    static const int sizes[] = {1, 2, 3, 4, 5, 8, 13, 16};
    int runs = 0;
    if (count > 2) calls = atoi(words[2]);
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++)
        for (enum reach reach = REACH_NOTHING; reach <= REACH_MAPPED; reach++) {
            static struct crew crew;
            crew = (struct crew){.p = sizes[i],
                                 .reach = reach,
                                 .seed = draw(&random),
                                 .spinning = sizes[i] <= processors_here() && sizes[i] <= 4,
                                 .all_have_regions = draw_below(&random, 2),
                                 .room = sizes[i] <= 4 ? 4 << 20 : 1 << 20,
                                 .body = body};
            crew.slot = 64 * (size_t)sizes[i] *
                        (draw_below(&random, 2) ? 1 : 1 + draw_below(&random, 4000));
            crew_run(&crew);
            crew.body = run_ahead;
            if (sizes[i] > 1) crew_run(&crew);
            crew.body = late_source;
            crew.all_have_regions = true;
            if (sizes[i] == 3 && reach != REACH_NOTHING) crew_run(&crew);
            runs++;
        }
    printf("%d teams of up to 16 threads, at most %d calls each\n", runs, calls);
    return 0;
}
