/* SPDX-License-Identifier: BSD-3-Clause */
/* vector - exchanges of blocks of any kind, with threads as ranks: random counts (none, few, long
 * among short), displacements in any order and with gaps, sources that overlap, layouts with gaps,
 * one for all blocks or one each, typed alltoall and allgather where only some ranks are typed,
 * neighbourhoods with duplicate edges, self loops and blocks of nobody; buffers and tables in reach
 * of peers or not; a tiny stage (so many rounds), counters that wrap, ranks that cannot take part.
 * The whole receive buffer is compared with what the senders' buffers hold, gaps included. After a
 * call a rank writes over what it sent and described. vector [SEED [CALLS]]: calls per team, at
 * most. */
#include "crew.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    quarter = 256 << 10,
    most_blocks = 4 * most_ranks,
    kinds = 4,
    guard = 64,
    layout_room = 512
};

static int calls = 100;

/* Layouts by their numbers: elements of `pieces` pieces, `step` bytes from one to the next. */
static const struct kind {
    size_t bytes, pieces;
    ptrdiff_t step, extent;
    bool run;
} kind[kinds] = {
    {1, 1, 1, 1, true}, {8, 1, 8, 8, true}, {4, 2, 12, 24, false}, {1, 8, 2, 16, false}};

static size_t write_layout(char *at, const struct kind *k) {
    struct layout *layout = (struct layout *)(void *)at;
    *layout = (struct layout){.size = k->bytes * k->pieces,
                              .extent = k->extent,
                              .high = (ptrdiff_t)(k->pieces - 1) * k->step + (ptrdiff_t)k->bytes,
                              .run = k->run,
                              .nests = 1};
    layout->nest[0] = (struct nest){.bytes = k->bytes, .levels = k->pieces > 1 ? 1 : 0};
    if (k->pieces > 1) layout->nest[0].loop[0] = (struct loop){k->pieces, k->step};
    return layout_footprint(layout);
}
static size_t size_of(const struct kind *k) { return k->bytes * k->pieces; }
/* Where byte `at` of the packed data lies. */
static ptrdiff_t place_of(const struct kind *k, size_t at) {
    size_t element = at / size_of(k), rest = at % size_of(k);
    return (ptrdiff_t)element * k->extent + (ptrdiff_t)(rest / k->bytes) * k->step +
           (ptrdiff_t)(rest % k->bytes);
}

/* ---- a call, as every rank can compute it for every rank ---- */

struct spot {
    size_t bytes; /* packed */
    size_t at;    /* from the side's base */
    int kind;
};
struct side {
    int count, edges[most_blocks]; /* the edge of each block of a neighbourhood; -1: nobody's */
    struct spot spot[most_blocks];
    size_t bytes;
};
struct graph {
    int count;
    struct edge edge[most_blocks];
    int outs[most_ranks], ins[most_ranks]; /* blocks of each rank */
    struct edge to[most_ranks][most_blocks], from[most_ranks][most_blocks];
    int to_count[most_ranks], from_count[most_ranks];
};
/* What all ranks know of a call. */
struct plan {
    enum collective collective;
    const struct algorithm *algorithm;
    struct arguments arguments;
    uint64_t seed;
    int style, absent, typed; /* typed: of the ranks with gaps, as a mask */
    size_t each;              /* bytes, where blocks are equal */
    bool in_place, reachable, overlapping, counted;
    const struct graph *graph;
};

static bool is_neighbor(enum collective c) { return c >= COLL_neighbor_alltoall; }
static bool has_types(enum collective c) {
    return c == COLL_alltoallw || c == COLL_neighbor_alltoallw;
}
static bool is_equal(enum collective c) {
    return c == COLL_alltoall || c == COLL_allgather || c == COLL_neighbor_alltoall ||
           c == COLL_neighbor_allgather;
}

static uint64_t mix(uint64_t seed, uint64_t a, uint64_t b) {
    uint64_t key = seed ^ a * 0x9e3779b97f4a7c15u ^ b * 0xc2b2ae3d27d4eb4fu;
    draw(&key);
    return draw(&key);
}

/* Bytes that go from source to dest; of an allgather dest does not matter. */
static size_t bytes_of(const struct plan *plan, int p, uint32_t source, uint32_t dest,
                       uint32_t number) {
    if (is_equal(plan->collective)) return plan->each;
    if (!is_personal(plan->collective)) dest = number = 0;
    uint64_t random = mix(plan->seed, source * 977 + dest, number);
    uint32_t lengthy = (uint32_t)(plan->seed % (uint64_t)p),
             to = (uint32_t)(plan->seed / 64 % (uint64_t)p);
    if (plan->style == 0) return 0;
    if (plan->style == 1) return 8;
    if (plan->style == 3 && source == lengthy && (dest == to || !is_personal(plan->collective)))
        return 12000;
    return 8 * (size_t)draw_below(&random, plan->style == 2 ? 4 : 64);
}

/* Puts the blocks of a side anywhere, with gaps, in any order; sources may overlap. */
static void spread(const struct plan *plan, struct side *side, uint64_t random, bool sends) {
    int order[most_blocks];
    size_t at = 0, most = 0;
    bool equal = is_equal(plan->collective);
    for (int b = 0; b < side->count; b++) {
        int other = (int)draw_below(&random, (uint32_t)b + 1);
        order[b] = order[other];
        order[other] = b;
    }
    for (int k = 0; k < side->count; k++) {
        struct spot *spot = &side->spot[equal ? k : order[k]];
        ptrdiff_t extent = kind[spot->kind].extent;
        size_t span = spot->bytes / size_of(&kind[spot->kind]) * (size_t)extent;
        if (!equal) at += (size_t)extent * draw_below(&random, 3);
        /* Displacements count elements. */
        if (!equal) at += (24 * 16 - at % (size_t)extent) % (size_t)extent;
        at = (at + (size_t)extent - 1) / (size_t)extent * (size_t)extent;
        spot->at = at;
        if (sends && plan->overlapping && !equal)
            spot->at = (size_t)extent * draw_below(&random, 5);
        at += span;
        if (spot->at + span > most) most = spot->at + span;
    }
    side->bytes = most > at ? most : at;
    expect(side->bytes + 4 * guard < quarter, "the test's buffers are too small: %zu", side->bytes);
}

static void describe(const struct plan *plan, int p, int r, bool sends, struct side *side) {
    const struct graph *graph = plan->graph;
    bool personal = is_personal(plan->collective), neighbor = is_neighbor(plan->collective);
    uint64_t random = mix(plan->seed, (uint64_t)r, sends ? 77 : 78);
    int all = (int)draw_below(&random, kinds);
    if ((plan->collective == COLL_alltoall || plan->collective == COLL_allgather) &&
        !(plan->typed >> r & 1))
        all = 0;
    side->count = sends && !personal ? 1 : !neighbor ? p : sends ? graph->outs[r] : graph->ins[r];
    for (int b = 0; b < side->count; b++) {
        uint32_t i = (uint32_t)(sends ? r : b), j = (uint32_t)(sends ? b : r), number = 0;
        side->edges[b] = -1;
        for (int e = 0; neighbor && e < (sends ? graph->to_count[r] : graph->from_count[r]); e++) {
            struct edge edge = sends ? graph->to[r][e] : graph->from[r][e];
            if ((int)(sends ? edge.out : edge.in) != b) continue;
            side->edges[b] = e;
            i = edge.source, j = edge.dest, number = edge.out;
        }
        bool nobody = neighbor && personal && side->edges[b] < 0;
        side->spot[b] = (struct spot){
            .bytes = nobody ? (is_equal(plan->collective) ? plan->each : 16)
                            : bytes_of(plan, p, i, j, neighbor ? number : 0),
            .kind = has_types(plan->collective) ? (int)draw_below(&random, kinds) : all};
        if (neighbor && !personal && !sends && side->edges[b] < 0)
            side->spot[b].bytes = is_equal(plan->collective) ? plan->each : 16;
    }
    spread(plan, side, random, sends);
}

/* Byte `at` of what a rank has in its send buffer. */
static char sent_byte(const struct plan *plan, int r, size_t at) {
    return (char)(mix(plan->seed, (uint64_t)r + 1000, at / 8) >> 8 * (at % 8));
}

/* What rank r's receive buffer must hold in the end; without: before the call. */
static void expected(const struct plan *plan, int p, int r, char *image, bool without) {
    struct side mine;
    describe(plan, p, r, false, &mine);
    memset(image, 0x77, mine.bytes + 2 * guard);
    image += guard;
    for (int b = 0; b < mine.count; b++) {
        int source = b, block = is_personal(plan->collective) ? r : 0;
        if (is_neighbor(plan->collective)) {
            if (mine.edges[b] < 0) continue;
            struct edge edge = plan->graph->from[r][mine.edges[b]];
            source = (int)edge.source;
            block = is_personal(plan->collective) ? (int)edge.out : 0;
        }
        if (without && !(plan->in_place && b == r)) continue;
        struct side theirs;
        describe(plan, p, source, !plan->in_place, &theirs);
        const struct spot *to = &mine.spot[b],
                          *from = &theirs.spot[plan->in_place ? source : block];
        expect(to->bytes == from->bytes, "the test itself: %zu bytes, %zu", to->bytes, from->bytes);
        for (size_t k = 0; k < to->bytes; k++)
            image[to->at + (size_t)place_of(&kind[to->kind], k)] =
                sent_byte(plan, source, from->at + (size_t)place_of(&kind[from->kind], k));
    }
}

/* ---- the graph of a team ---- */

static void make_graph(const struct crew *crew, struct graph *graph) {
    uint64_t random = crew->seed ^ 99;
    uint32_t p = (uint32_t)crew->p;
    memset(graph, 0, sizeof *graph);
    graph->count = (int)draw_below(&random, 3 * p + 1);
    /* Their first block. */
    int nobody_to = (int)draw_below(&random, p), nobody_from = (int)draw_below(&random, p);
    graph->outs[nobody_to] = graph->ins[nobody_from] = 1;
    struct edge drawn[most_blocks];
    for (int e = 0; e < graph->count; e++)
        drawn[e] = (struct edge){.source = draw_below(&random, p), .dest = draw_below(&random, p)};
    for (int e = 0; e < graph->count; e++) drawn[e].in = (uint32_t)graph->ins[drawn[e].dest]++;
    for (int s = 0, at = 0; s < crew->p; s++)
        for (int e = 0; e < graph->count; e++) {
            if ((int)drawn[e].source != s) continue;
            drawn[e].out = (uint32_t)graph->outs[s]++;
            graph->edge[at++] = drawn[e];
            graph->to[s][graph->to_count[s]++] = drawn[e];
        }
    for (int e = 0; e < graph->count; e++)
        graph->from[drawn[e].dest][graph->from_count[drawn[e].dest]++] = drawn[e];
}

/* ---- one rank's call ---- */

/* Where a rank puts its things: a quarter of its block for each, two of the quarters in its
 * region. */
struct buffers {
    char *send, *recv, *tables[2];
};

static struct buffers draw_places(struct rank *rank, const struct plan *plan) {
    uint32_t quarters = plan->reachable ? 2 : 4, send = draw_below(&rank->own, quarters);
    uint32_t recv = (send + 1 + draw_below(&rank->own, quarters - 1)) % quarters;
    struct buffers places = {.send = rank->block + send * quarter + guard,
                             .recv = rank->block + recv * quarter + guard};
    size_t end = quarter - 32 * 1024;
    for (int t = 0; t < 2; t++) {
        uint32_t in = draw_below(&rank->own, quarters);
        /* Often in reach. */
        if (!plan->reachable && in < 2 && draw_below(&rank->own, 2)) in = draw_below(&rank->own, 2);
        places.tables[t] = rank->block + in * quarter + end + (size_t)t * 16 * 1024;
    }
    return places;
}

static void put(char *at, int width, int index, int64_t value) {
    if (width == 8) ((int64_t *)(void *)at)[index] = value;
    else ((int32_t *)(void *)at)[index] = (int32_t)value;
}

/* Writes counts, displacements and layouts at `tables`, and the blocks that they describe. */
static struct blocks write_blocks(struct rank *rank, const struct plan *plan,
                                  const struct side *side, char *base, char *tables) {
    bool typed = has_types(plan->collective), equal = is_equal(plan->collective);
    int width = draw_below(&rank->own, 2) ? 8 : 4, all = side->count > 0 ? side->spot[0].kind : 0;
    struct blocks blocks = {.base = base,
                            .count = side->count,
                            .count_width = (uint8_t)width,
                            .displ_width = (uint8_t)width};
    char *layouts = tables + 4096;
    for (int k = 0; k < kinds; k++) write_layout(layouts + k * layout_room, &kind[k]);
    blocks.layout = (const struct layout *)(const void *)(layouts + all * layout_room);
    if (!typed && all == 0 && draw_below(&rank->own, 2)) blocks.layout = &layout_bytes;
    blocks.unit = typed ? 1 : kind[all].extent;
    if (side->count > 0) blocks.each = side->spot[0].bytes / size_of(&kind[all]);
    if (equal) return blocks;
    if (side->count != 1 || is_personal(plan->collective))
        blocks.counts = tables, blocks.displs = tables + 1024;
    else blocks.base += side->spot[0].at;
    const struct layout **list = (const struct layout **)(void *)(tables + 2048);
    if (typed) blocks.layouts = list, blocks.layout = NULL;
    for (int b = 0; b < side->count; b++) {
        const struct spot *spot = &side->spot[b];
        put(tables, width, b, (int64_t)(spot->bytes / size_of(&kind[spot->kind])));
        put(tables + 1024, width, b, (int64_t)spot->at / blocks.unit);
        list[b] = (const struct layout *)(const void *)(layouts + spot->kind * layout_room);
    }
    return blocks;
}

static struct plan draw_plan(struct rank *rank, const struct graph *graph) {
    static const char *const names[] = {"pull", "pull", "cico"};
    uint64_t *common = &rank->common;
    struct plan plan = {.absent = -1, .graph = graph};
    const char *name = names[draw_below(common, 3)];
    for (int a = 0; a < ALGORITHMS; a++)
        if (strcmp(algorithms[a].name, name) == 0) plan.algorithm = &algorithms[a];
    do plan.collective = draw_below(common, COLLECTIVES);
    while (!(plan.algorithm->collectives >> plan.collective & 1));
    plan.seed = draw(common);
    plan.style = (int)draw_below(common, 5);
    plan.typed = (int)draw_below(common, 1u << most_ranks);
    if (!plan.typed || (plan.typed & ((1 << rank->team.p) - 1)) == 0) plan.typed = 1;
    plan.each = 8 * draw_bytes(common, is_neighbor(plan.collective) ? 100 : 400);
    plan.in_place = plan.collective == COLL_allgatherv && draw_below(common, 3) == 0;
    plan.counted = plan.collective == COLL_allgatherv && draw_below(common, 4) > 0;
    plan.reachable = draw_below(common, 2);
    plan.overlapping = draw_below(common, 4) == 0;
    do plan.arguments.walk = (struct walk){draw_below(common, ORDERS), ORDER_compact};
    while (is_neighbor(plan.collective) && !walks_edges(plan.arguments.walk));
    if (strstr(plan.algorithm->takes, "chunk") && draw_below(common, 3) == 0)
        plan.arguments.chunk = 1 + draw_below(common, 100);
    if (draw_below(common, 16) == 0) plan.absent = (int)draw_below(common, (uint32_t)rank->team.p);
    if (strcmp(name, "pull") != 0) plan.arguments.walk = (struct walk){0};
    return plan;
}

static void check_result(const struct rank *rank, const struct plan *plan, const char *recv,
                         size_t bytes, uint32_t number) {
    static _Thread_local char image[quarter];
    expected(plan, rank->team.p, rank->team.me, image, plan->absent >= 0);
    for (size_t at = 0; at < bytes + 2 * guard; at++)
        expect(
            image[at] == recv[(ptrdiff_t)at - guard],
            "p=%d rank %d call %u: %s by %s(%s), style %d, each %zu%s: byte %zu of %zu is %02x, not %02x",
            rank->team.p, rank->team.me, number, collective_names[plan->collective],
            plan->algorithm->name, orders[plan->arguments.walk.order].name, plan->style, plan->each,
            plan->in_place ? ", in place" : "", at - guard, bytes,
            (unsigned char)recv[(ptrdiff_t)at - guard], (unsigned char)image[at]);
}

static bool lies_typed(const struct plan *plan, const struct side *side) {
    return side->count > 0 && !kind[side->spot[0].kind].run && is_equal(plan->collective) &&
           !is_neighbor(plan->collective);
}

static void one_call(struct rank *rank, const struct graph *graph, uint32_t number) {
    struct plan plan = draw_plan(rank, graph);
    const struct algorithm_code *code = plan.algorithm->code;
    struct team *team = &rank->team;
    dawdle(&rank->own);
    if (code->prepare)
        expect(code->prepare(team, &plan.arguments) == 0, "prepare of %s", plan.algorithm->name);
    struct side sends, recvs;
    describe(&plan, team->p, team->me, true, &sends);
    describe(&plan, team->p, team->me, false, &recvs);
    struct buffers places = draw_places(rank, &plan);
    for (size_t at = 0; at < sends.bytes; at++) places.send[at] = sent_byte(&plan, team->me, at);
    expected(&plan, team->p, team->me, places.recv - guard, true);
    struct blocks send = write_blocks(rank, &plan, &sends, places.send, places.tables[0]);
    struct blocks recv = write_blocks(rank, &plan, &recvs, places.recv, places.tables[1]);
    if (plan.in_place) {
        struct block own = block_of(&recv, team->me);
        send =
            (struct blocks){.base = own.at, .count = 1, .layout = own.layout, .each = own.elements};
    }
    struct neighbours neighbours = {.outs = graph->outs[team->me],
                                    .ins = graph->ins[team->me],
                                    .to_count = graph->to_count[team->me],
                                    .from_count = graph->from_count[team->me],
                                    .to = (struct edge *)(uintptr_t)graph->to[team->me],
                                    .from = (struct edge *)(uintptr_t)graph->from[team->me],
                                    .edges = (struct edge *)(uintptr_t)graph->edge,
                                    .edge_count = (size_t)graph->count};
    struct call call = {.shape = {.collective = plan.collective,
                                  .bytes = plan.each,
                                  .unsized = !is_equal(plan.collective)},
                        .send = places.send,
                        .recv = places.recv,
                        .in_place = plan.in_place,
                        .sends = &send,
                        .recvs = &recv,
                        .longest = plan.counted ? longest_of(&recv) : 0,
                        .neighbours = is_neighbor(plan.collective) ? &neighbours : NULL};
    if (plan.collective == COLL_alltoall || plan.collective == COLL_allgather) {
        if (!lies_typed(&plan, &sends)) call.sends = NULL;
        if (!lies_typed(&plan, &recvs)) call.recvs = NULL;
        call.trouble = call.sends || call.recvs ? TYPED : 0;
    }
    if (plan.absent == team->me)
        call = (struct call){
            .shape = call.shape, .trouble = NO_MEMORY, .sends = &send, .recvs = &recv};
    if (plan.absent == team->me && is_neighbor(plan.collective)) call.neighbours = &neighbours;
    dawdle(&rank->own);
    enum outcome outcome = crew_calls(rank, team, code, &call, &plan.arguments);
    expect((outcome == LEFT) == (plan.absent >= 0),
           "p=%d rank %d call %u: %s of %s returned %d, rank %d absent", team->p, team->me, number,
           plan.algorithm->name, collective_names[plan.collective], (int)outcome, plan.absent);
    if (plan.in_place) check_result(rank, &plan, places.recv, recvs.bytes, number);
    memset(places.send, 0x44, sends.bytes);
    memset(places.tables[0], 0x55, 8192);
    memset(places.tables[1], 0x55, 8192);
    if (!plan.in_place) check_result(rank, &plan, places.recv, recvs.bytes, number);
    memset(places.recv, 0x33, recvs.bytes);
}

static void body(struct rank *rank) {
    static const double barriers[] = {0, 1e-8, 1e-6, 1};
    /* What counts as short. */
    rank->team.figures.sync_seconds = barriers[draw_below(&rank->common, 4)];
    for (uint32_t number = 0; number < (uint32_t)calls; number++) {
        one_call(rank, rank->crew->argument, number);
        if (number % 8 == 7 && !crew_goes_on(rank)) break;
    }
}

static void prepare(struct crew *crew, uint64_t *random) {
    static struct graph graph;
    crew->body = body, crew->argument = &graph;
    crew->room = 4 * quarter;
    make_graph(crew, &graph);
    crew->slot = 64 * (size_t)crew->p * (1 + draw_below(random, 8)) +
                 (draw_below(random, 2) ? 512 : 1 << 16);
}

int main(int count, char **words) {
    uint64_t random = seed_from(count, words);
    static const int sizes[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 16};
    if (count > 2) calls = atoi(words[2]);
    int runs = crews_run(sizes, sizeof sizes / sizeof *sizes, calls, &random, prepare);
    paths_finish();
    printf("%d teams of up to 16 threads, at most %d calls each\n", runs, calls);
    return 0;
}
