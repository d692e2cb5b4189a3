/* SPDX-License-Identifier: BSD-3-Clause */
/* lanes - exchanges among nodes over lanes, threads as ranks on nodes of any size, in any order:
 * the plans that pack and unpack together, with several inner routines. Calls with blocks of any
 * size, then the same again, then with one block changed; equal blocks; in place; along edges;
 * allgathers. The whole receive buffer is compared; so are the messages that leave each rank's node
 * with the schemes' formulas, and the barriers: a call whose sizes are those of the last one costs
 * one less. Before that the same calls while one rank lacks memory.
 * lanes [SEED] */
#include "cluster.h"

#include "plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { guard = 16, most_blocks = 64 };
enum style {
    EQUAL,
    EQUAL_IN_PLACE,
    FIRST,
    AGAIN,
    ONE_OTHER,
    SPARSE,
    LENGTHY,
    EDGES,
    EDGES_AGAIN,
    GATHER,
    GATHER_ANY,
    STYLES
};

static const char *const texts[] = {
    "leader(1, direct)",    "leader(2, bruck)",       "leader(3, pairwise)",
    "aggregate(direct)",    "aggregate(bruck)",       "distribute(direct)",
    "distribute(pairwise)", "exchange(direct, cico)", "exchange(bruck, cico)",
    "leader(2, ring)",      "distribute(doubling)",   "overlap(ring)",
    "overlap(doubling)",    "leader(2, mnco(rows))"};
enum { text_count = sizeof texts / sizeof *texts };
static struct plan plans[text_count];

/* Of the ranks there are now. */
static struct neighbours graph;
static struct edge edges[4 * most_ranks];

struct exchange {
    const struct plan *plan;
    enum style style;
    uint64_t seed;
    int p;
    bool scarce; /* one rank lacks memory */
    bool first;  /* the ranks agree that all have the memory that such calls need: more messages */
};

static bool is_equal(enum style style) {
    return style == EQUAL || style == EQUAL_IN_PLACE || style == GATHER;
}
static bool gathers(enum style style) { return style == GATHER || style == GATHER_ANY; }
static bool has_edges(enum style style) { return style == EDGES || style == EDGES_AGAIN; }
static bool again(enum style style) {
    return style == AGAIN || style == ONE_OTHER || style == EDGES_AGAIN;
}

static enum collective collective_of(enum style style) {
    if (has_edges(style)) return COLL_neighbor_alltoallv;
    if (gathers(style)) return style == GATHER ? COLL_allgather : COLL_allgatherv;
    return is_equal(style) ? COLL_alltoall : COLL_alltoallv;
}

/* number: tells apart several blocks between the same ranks. */
static size_t size_of(const struct exchange *x, int source, int dest, int number) {
    if (gathers(x->style)) dest = 0;
    uint64_t random =
        x->seed + 1000003 * (uint64_t)source + 7919 * (uint64_t)dest + 31 * (uint64_t)number;
    draw(&random);
    if (is_equal(x->style)) return 1 + x->seed % 40;
    if (x->style == SPARSE && draw_below(&random, 3)) return 0;
    if (x->style == LENGTHY && draw_below(&random, 4) == 0) return 5000 + draw_below(&random, 9000);
    if (x->style == ONE_OTHER && source == (int)(x->seed % (uint64_t)x->p) &&
        dest == (int)(x->seed / 64 % (uint64_t)x->p))
        return 99;
    return 1 + draw_below(&random, 60);
}

static char byte_of(const struct exchange *x, int source, int dest, int number, size_t at) {
    if (gathers(x->style)) dest = 0;
    return (char)(x->seed * 5 + (uint64_t)source * 31 + (uint64_t)dest * 17 + (uint64_t)number * 7 +
                  at * 3 + at / 251);
}

/* ---- a rank's buffers ---- */

struct half {
    char *memory;
    size_t bytes;
    int count, source[most_blocks], dest[most_blocks], number[most_blocks];
    int64_t counts[most_blocks], displs[most_blocks];
    struct blocks blocks;
};

static void lay(const struct exchange *x, struct rank *rank, struct half *half, bool sends) {
    int me = rank->team.me;
    size_t at = guard;
    bool gaps = !is_equal(x->style) && draw_below(&rank->own, 2);
    half->count = 0;
    for (int r = 0; r < x->p && !has_edges(x->style); r++) {
        if (sends && gathers(x->style) && r != 0) break;
        half->source[r] = sends ? me : r, half->dest[r] = sends ? r : me, half->number[r] = 0;
        half->count++;
    }
    for (size_t e = 0; e < graph.edge_count && has_edges(x->style); e++) {
        const struct edge *edge = &edges[e];
        if ((int)(sends ? edge->source : edge->dest) != me) continue;
        uint32_t b = sends ? edge->out : edge->in;
        half->source[b] = (int)edge->source, half->dest[b] = (int)edge->dest,
        half->number[b] = (int)e;
        half->count++;
    }
    for (int b = 0; b < half->count; b++) {
        half->counts[b] = (int64_t)size_of(x, half->source[b], half->dest[b], half->number[b]);
        half->displs[b] = (int64_t)at - guard;
        at += (size_t)half->counts[b] + (gaps ? draw_below(&rank->own, 9) : 0);
    }
    half->bytes = at + guard;
    half->memory = malloc(half->bytes);
    memset(half->memory, 0x77, half->bytes);
    half->blocks = byte_runs(half->memory + guard, half->count, half->counts, half->displs);
}

static void fill(const struct exchange *x, const struct half *half, char *image) {
    for (int b = 0; b < half->count; b++)
        for (size_t k = 0; k < (size_t)half->counts[b]; k++)
            image[guard + half->displs[b] + (int64_t)k] =
                byte_of(x, half->source[b], half->dest[b], half->number[b], k);
}

/* ---- what it has to cost ---- */

/* Messages that leave each node for every inner routine that sends each block once, where every
 * block has bytes. */
static void check_messages(const struct exchange *x, const struct team *team, uint64_t mine) {
    static _Atomic uint64_t sums[most_ranks];
    const struct places *places = team->places;
    const struct arguments *arguments = &x->plan->arguments;
    const char *name = x->plan->algorithm->name, *inner = arguments->inner->algorithm->name;
    if (x->first || strcmp(inner, "direct") != 0 || has_edges(x->style) || x->style == SPARSE ||
        x->style == LENGTHY)
        return;
    int home = places->node_of[team->me], q = ranks_on(places, home), nodes = places->nodes,
        messages = q * (team->p - q);
    if (strcmp(name, "leader") == 0) messages = (int)arguments->number * (nodes - 1);
    if (strcmp(name, "aggregate") == 0) messages = team->p - q;
    if (strcmp(name, "distribute") == 0) messages = q * (nodes - 1);
    sync_all(team->node, 0);
    atomic_store(&sums[home], 0);
    sync_all(team->node, 0);
    atomic_fetch_add(&sums[home], mine);
    sync_all(team->node, 0);
    expect((int)atomic_load(&sums[home]) == messages,
           "%s, p=%d, style %d: %d messages leave a node of %d ranks, not %d", x->plan->text, x->p,
           x->style, (int)atomic_load(&sums[home]), q, messages);
    sync_all(team->node, 0);
}

/* Does the node have sizes to tell? */
static bool tells(const struct exchange *x, const struct places *places, int home) {
    bool any = !is_equal(x->style) && !has_edges(x->style);
    for (size_t e = 0; e < graph.edge_count && has_edges(x->style); e++)
        any = any || places->node_of[edges[e].source] == home ||
              places->node_of[edges[e].dest] == home;
    return any && !gathers(x->style);
}

/* ---- one call ---- */

static void one_call(struct rank *rank, struct team *team, const struct exchange *x) {
    const struct plan *plan = x->plan;
    struct half send, recv;
    bool in_place = x->style == EQUAL_IN_PLACE, equal = is_equal(x->style),
         laid = equal && x->seed % 2;
    struct shape shape = {.collective = collective_of(x->style),
                          .bytes = equal ? size_of(x, 0, 0, 0) : 0};
    shape.unsized = among(shape.collective, BIT(alltoallv) | NEIGHBORS);
    if (shape.collective == COLL_allgatherv) shape.bytes = 30;
    if (in_place && !plan->algorithm->code->copies_in) return;
    if (!can_run(plan->algorithm, &plan->arguments, &team->figures, &shape)) return;
    expect(!plan->algorithm->code->prepare ||
               plan->algorithm->code->prepare(team, &plan->arguments) == 0,
           "%s", plan->text);
    lay(x, rank, &recv, false);
    lay(x, rank, &send, true);
    if (in_place) {
        free(send.memory);
        struct half sent = send;
        sent.memory = recv.memory;
        fill(x, &sent, recv.memory);
        send.memory = NULL;
    } else {
        fill(x, &send, send.memory);
    }
    struct call call = {.shape = shape,
                        .send = (in_place ? recv.memory : send.memory) + guard,
                        .recv = recv.memory + guard,
                        .in_place = in_place,
                        .sends = (equal && !laid) || in_place ? NULL : &send.blocks,
                        .recvs = (equal && !laid) || in_place ? NULL : &recv.blocks};
    struct neighbours mine = graph;
    mine.to_count = mine.outs = send.count, mine.from_count = mine.ins = recv.count;
    if (has_edges(x->style)) call.neighbours = &mine;
    dawdle(&rank->own);
    uint64_t messages = team->wire->traffic->far_messages;
    uint32_t epoch = team->node->epoch;
    if (x->scarce) call.trouble = scarce_begin(rank, true);
    enum outcome outcome = plan->algorithm->code->run(team, &call, &plan->arguments);
    if (x->scarce && !scarce_end(rank, outcome)) {
        free(recv.memory);
        free(send.memory);
        return;
    }
    expect(outcome == DONE, "%s, p=%d, style %d fails", plan->text, x->p, x->style);
    bool lanes =
        plan->algorithm->code->asks(COLL_alltoall) == COLL_alltoallv && !plan->arguments.local;
    bool told = tells(x, team->places, team->places->node_of[team->me]) && !again(x->style);
    uint32_t barriers = team->node->epoch - epoch, least = told ? 3 : 2;
    /* Only the nodes of the two ranks hear of the one other block. */
    if (lanes && x->style != ONE_OTHER && !x->scarce)
        expect(barriers == least, "%s, style %d: %u barriers instead of %u", plan->text, x->style,
               barriers, least);
    char *image = malloc(recv.bytes);
    memset(image, 0x77, recv.bytes);
    fill(x, &recv, image);
    for (size_t at = 0; at < recv.bytes; at++)
        expect(recv.memory[at] == image[at], "%s, p=%d, style %d: rank %d: byte %zu of %zu",
               plan->text, x->p, x->style, team->me, at, recv.bytes);
    free(image);
    free(recv.memory);
    free(send.memory);
    check_messages(x, team, team->wire->traffic->far_messages - messages);
}

/* ---- the world ---- */

/* Edges between any ranks, sorted by source and `out`. */
static void draw_graph(int p, uint64_t *random) {
    uint32_t degree_out[most_ranks] = {0}, degree_in[most_ranks] = {0};
    graph = (struct neighbours){.edges = edges};
    for (uint32_t source = 0; source < (uint32_t)p; source++)
        for (uint32_t out = draw_below(random, 4); out > 0; out--) {
            uint32_t dest = draw_below(random, (uint32_t)p);
            edges[graph.edge_count++] = (struct edge){.source = source,
                                                      .dest = dest,
                                                      .out = degree_out[source]++,
                                                      .in = degree_in[dest]++};
        }
}

static void body(struct rank *rank, struct team *team) {
    for (int round = 0; round < 3; round++)
        for (int i = 0; i < text_count; i++) {
            struct exchange x = {
                .plan = &plans[i], .p = team->p, .scarce = round == 0, .first = round < 2};
            for (x.style = 0; x.style < STYLES; x.style++) {
                if (!again(x.style)) x.seed = draw(&rank->common);
                one_call(rank, team, &x);
            }
        }
}

int main(int count, char **words) {
    uint64_t random = seed_from(count, words);
    char why[192];
    for (int i = 0; i < text_count; i++)
        expect(plan_parse(texts[i], &plans[i], why, sizeof why) == 0, "%s: %s", texts[i], why);
    clusters_run(&random, draw_graph, body);
    printf("%d plans on 2 to %d ranks\n", (int)text_count, (int)most_ranks);
    return 0;
}
