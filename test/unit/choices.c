/* SPDX-License-Identifier: BSD-3-Clause */
/* choices - what the cost model begins with over several nodes: few cases, on either side of where
 * one way begins to win. They guard the terms of the costs; a change that moves one of them has to
 * be meant. */
#include "unit.h"

#include "plan/plan.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { most_ranks = 4096 };

/* network.c's figures, as if they were measured; messages that cost less or more, between nodes
 * that do not mind how many leave; nodes that lie anywhere, so that links are shared when all of
 * them send; and a slow link. */
static const struct network usual = {1e-6, 0.25e-6, 1 / 6.8e9, 1 / 6.8e9, 0.1e-6, 0, 0, true},
                            cheap = {1e-6, 0.1e-6, 1 / 6.8e9, 1 / 6.8e9, 0, 0, 0, true},
                            dear = {1e-6, 0.5e-6, 1 / 6.8e9, 1 / 6.8e9, 0, 0, 0, true},
                            shuffled = {1e-6, 0.5e-6, 1 / 6.8e9, 1 / 6.8e9, 0, 1.5, 0.3, true},
                            slow = {10e-6, 1e-6, 1 / 1e9, 1 / 1e9, 0.5e-6, 0, 0, true};

static const struct row {
    enum collective collective;
    int nodes, each;
    size_t bytes; /* 0: nobody knows */
    const struct network *network;
    const char *expected;
} rows[] = {
    /* Few rounds for short blocks; the longer they are, or the cheaper messages, the more messages
     * and the fewer bytes. */
    {COLL_alltoall, 256, 1, 8, &usual, "bruck(4)"},
    {COLL_alltoall, 256, 1, 64, &usual, "bruck(8)"},
    {COLL_alltoall, 256, 1, 64, &cheap, "mnco(rows)"},
    {COLL_alltoall, 256, 1, 64, &dear, "bruck(4)"},
    {COLL_alltoall, 256, 1, 512, &usual, "mnco(rows)"},
    {COLL_alltoall, 256, 1, 16384, &usual, "direct(32)"},
    {COLL_allgather, 256, 1, 8, &usual, "doubling"},
    {COLL_allgather, 256, 1, 4096, &usual, "mnco(rows)"},
    /* Many messages at once even out which links are shared. */
    {COLL_allgather, 256, 1, 4096, &dear, "doubling"},
    {COLL_allgather, 256, 1, 4096, &shuffled, "mnco(rows)"},
    /* Through leaders where the node's link is the limit; without copies on the way where blocks
     * are long. */
    {COLL_alltoall, 64, 8, 8, &slow, "leader(1, bruck(8))"},
    {COLL_alltoall, 128, 24, 8, &usual, "leader(1, direct(32))"},
    {COLL_alltoall, 128, 24, 8, &cheap, "leader(1, direct(32))"},
    {COLL_alltoall, 128, 24, 32768, &usual, "aggregate(pairwise)"},
    {COLL_allgather, 128, 24, 8, &usual, "leader(1, mnco(rows))"},
    {COLL_alltoallv, 16, 8, 0, &usual, "leader(1, direct(32))"},
    {COLL_bcast, 16, 8, 64, &usual, "universal(binomial)"},
    {COLL_reduce_scatter_block, 16, 8, 64, &usual, "universal(halving)"},
};

static void same(double a, double b, const char *what) {
    expect(fabs(a - b) <= 1e-9 * fabs(b) + 1e-15, "%s: %g, not %g", what, a, b);
}

static struct figures node_of(int ranks, double sync_seconds) {
    struct figures node = figures_of_node(ranks);
    node.processors = ranks;
    node.sync_seconds = sync_seconds;
    node.usual_sync_seconds = sync_usual(ranks, ranks);
    node.l2_bytes = 1 << 20;
    node.l3_bytes = 64 << 20;
    node.slot = 64 << 10;
    node.space_bytes = (size_t)1 << 40;
    node.space_ample = true;
    return node;
}

static const char *choice(const struct figures *figures, const struct shape *shape) {
    static struct candidate list[most_candidates];
    plan_candidates(figures, shape, true, list);
    return list[0].text;
}

static void choose(const struct row *row) {
    static int lowest[most_ranks];
    struct places places = {0};
    int p = row->nodes * row->each;
    for (int r = 0; r < p; r++) lowest[r] = r / row->each * row->each;
    expect(places_make(&places, p, lowest) == 0, "places of %d ranks", p);
    struct figures node = node_of(row->each, row->each > 1 ? 0.2e-6 + 30e-9 * row->each : 0);
    struct figures figures = figures_over(&places, &node);
    figures.network = *row->network;
    struct shape shape = {
        .collective = row->collective, .bytes = row->bytes, .unsized = row->bytes == 0};
    const char *chosen = choice(&figures, &shape);
    expect(strcmp(chosen, row->expected) == 0,
           "%s of %zu bytes on %d x %d ranks: expected %s, chosen is %s",
           collective_names[row->collective], row->bytes, row->nodes, row->each, row->expected,
           chosen);
    places_free(&places);
}

/* A share of 0 changes nothing; more messages never cost less in all; many at once are never worse
 * off than one after the other; and with very many of them only `many` is left. */
static void contention(void) {
    static const double shares[][2] = {{0, 0}, {1.5, 0.3}, {3, 0}, {1, 1}, {0.5, 2}};
    const double bytes = 1 << 20;
    const struct shape shape = {.collective = COLL_alltoall, .beside = 1};
    for (size_t s = 0; s < sizeof shares / sizeof *shares; s++) {
        struct figures plain = {.p = 64, .network = cheap}, shared = plain;
        shared.network.one = shares[s][0];
        shared.network.many = shares[s][1];
        double least = 1 + (shares[s][0] < shares[s][1] ? shares[s][0] : shares[s][1]), before = 0;
        double one = steps_seconds(&shared, &shape, 1, bytes),
               alone = steps_seconds(&plain, &shape, 1, bytes);
        same(one - alone, bytes * cheap.byte * shares[s][0], "one message");
        for (double messages = 0.5; messages < 1e6; messages *= 1.5) {
            double all = burst_seconds(&shared, &shape, messages, bytes),
                   free = burst_seconds(&plain, &shape, messages, bytes);
            expect(all > before, "%g messages take less than fewer of them", messages);
            expect(all >= free && all <= free * 4, "%g messages: %g s, without contention %g s",
                   messages, all, free);
            expect(shares[s][1] > shares[s][0] || all <= messages * one * (1 + 1e-12) ||
                       messages < 1,
                   "at once it takes longer");
            expect(all >= messages * bytes * cheap.byte * least,
                   "%g messages are faster than their links", messages);
            before = all;
        }
        double rest =
            burst_seconds(&shared, &shape, 1e8, bytes) / burst_seconds(&plain, &shape, 1e8, bytes);
        expect(fabs(rest - 1 - shares[s][1]) < 1e-3, "very many messages: %g", rest);
    }
}

/* Of what combines the plan sets the brackets: what a barrier took when it was measured must not be
 * seen in it. */
static void clockless(void) {
    for (int p = 2; p <= 64; p *= 2)
        for (int c = 0; c < COLLECTIVES; c++)
            for (size_t bytes = 8; bytes <= 8 << 20 && among((enum collective)c, REDUCTIONS);
                 bytes *= 2) {
                struct shape shape = {
                    .collective = (enum collective)c, .bytes = bytes, .rounds = true};
                struct figures fast = node_of(p, 1e-8), late = node_of(p, 1e-2);
                char one[64], other[64];
                strcpy(one, choice(&fast, &shape));
                strcpy(other, choice(&late, &shape));
                expect(strcmp(one, other) == 0,
                       "%s of %zu bytes on %d ranks: %s and, when barriers were slow, %s",
                       collective_names[c], bytes, p, one, other);
            }
}

/* On one node, of plans for any buffers: through the stage where the copy into it costs less than a
 * barrier; never what does not stay in the caches. As measured on 2 processors with 32 MiB of L3,
 * and as simulated with a core for each rank; the barriers' times too. */
static void stage_or_not(void) {
    static const struct {
        int ranks, processors;
        double sync_seconds;
        enum collective collective;
        size_t least, most; /* so many bytes are staged, and so many are not */
    } limits[] = {
        {4, 2, 3e-6, COLL_alltoall, 8 << 10, 64 << 10},
        {16, 2, 19e-6, COLL_alltoall, 2 << 10, 16 << 10},
        {64, 2, 100e-6, COLL_alltoall, 512, 4 << 10},
        {4, 2, 3e-6, COLL_allgather, 16 << 10, 128 << 10},
        {16, 2, 19e-6, COLL_allgather, 32 << 10, 128 << 10},
        {64, 2, 100e-6, COLL_allgather, 2 << 10, 64 << 10},
        {8, 2, 7e-6, COLL_allgather, 16 << 10, 512 << 10},
        {96, 96, 2.2e-6, COLL_allgather, 4 << 10, 32 << 10},
        {96, 96, 2.2e-6, COLL_alltoall, 64, 4 << 10},
    };
    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        struct figures node = node_of(limits[i].ranks, limits[i].sync_seconds);
        node.processors = limits[i].processors;
        node.l3_bytes = limits[i].processors > 2 ? (size_t)384 << 20 : 32 << 20;
        node.slot = 512 << 10;
        node.shares = true;
        for (size_t bytes = 8; bytes <= 64 << 20; bytes *= 2) {
            struct shape shape = {.collective = limits[i].collective, .bytes = bytes};
            const char *chosen = choice(&node, &shape);
            bool staged = strcmp(chosen, "cico") == 0;
            expect(bytes > limits[i].least || staged, "%s of %zu bytes on %d ranks: %s, not cico",
                   collective_names[shape.collective], bytes, node.p, chosen);
            expect(bytes < limits[i].most || !staged, "%s of %zu bytes on %d ranks: cico",
                   collective_names[shape.collective], bytes, node.p);
        }
    }
}

/* On one node, of short sums: each rank combines for itself where it has a processor and receives
 * little; where ranks share processors, one does for all. As measured on 2 processors. */
static void short_sums(void) {
    static const struct {
        int ranks;
        enum collective collective;
        size_t least, most;
        const char *expected;
    } sums[] = {
        {2, COLL_reduce_scatter_block, 64, 4 << 10, "apiece"},
        {2, COLL_reduce_scatter, 64, 4 << 10, "apiece"},
        {2, COLL_reduce_scatter_block, 8 << 10, 1 << 20, "slices"},
        {4, COLL_reduce_scatter_block, 64, 1 << 10, "combine"},
        {16, COLL_reduce_scatter_block, 64, 1 << 10, "combine"},
        {2, COLL_allreduce, 8, 512, "apiece"},
        {2, COLL_allreduce, 4 << 10, 8 << 10, "combine"},
        {4, COLL_allreduce, 8, 8 << 10, "combine"},
    };
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++) {
        struct figures node = node_of(sums[i].ranks, 0);
        node.processors = 2;
        node.usual_sync_seconds = sync_usual(sums[i].ranks, 2);
        for (size_t bytes = sums[i].least; bytes <= sums[i].most; bytes *= 2) {
            struct shape shape = {.collective = sums[i].collective, .bytes = bytes, .rounds = true};
            const char *chosen = choice(&node, &shape);
            expect(strcmp(chosen, sums[i].expected) == 0, "%s of %zu bytes on %d ranks: %s, not %s",
                   collective_names[shape.collective], bytes, node.p, chosen, sums[i].expected);
        }
    }
}

int main(void) {
    contention();
    clockless();
    stage_or_not();
    short_sums();
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) choose(&rows[i]);
    return 0;
}
