/* SPDX-License-Identifier: BSD-3-Clause */
/* test - the simulator against cases small enough to count by hand, and against the equations of
 * li2018 with an ideal cache. */
#include "cachesim.h"

#include "order/order.h"

#include <math.h>
#include <stdlib.h>

static void is(const char *what, double got, double wanted) {
    if (got == wanted) return;
    fprintf(stderr, "FAILED: %s: %g, not %g\n", what, got, wanted);
    exit(1);
}

static void within(const char *what, double got, double least, double most) {
    if (got >= least && got <= most) return;
    fprintf(stderr, "FAILED: %s: %g, not %g to %g\n", what, got, least, most);
    exit(1);
}

static struct cache_shape lines(uint64_t count, uint32_t ways) {
    return (struct cache_shape){.bytes = 64 * count, .ways = ways};
}

/* Two domains of two cores; 4 lines in L1, 64 in L2, 1024 in L3. */
static struct machine small_machine(void) {
    return (struct machine){.cores = 4,
                            .domains = 2,
                            .line_bytes = 64,
                            .page_bytes = 4096,
                            .busy = 1,
                            .inclusive = true,
                            .l1 = lines(4, 2),
                            .l2 = lines(64, 4),
                            .l3 = lines(1024, 16)};
}

static struct node *make(const struct machine *machine) {
    struct node *node = node_make(machine, 1);
    is("a node", node != NULL, 1);
    return node;
}

static void counts_are(const char *what, struct node *node, uint32_t core, double l1, double l2,
                       double l3) {
    const struct counts *c = node_counts(node, core);
    char text[128];
    snprintf(text, sizeof text, "%s: misses of L1", what), is(text, (double)c->l1, l1);
    snprintf(text, sizeof text, "%s: misses of L2", what), is(text, (double)c->l2, l2);
    snprintf(text, sizeof text, "%s: misses of L3", what), is(text, (double)c->l3, l3);
    snprintf(text, sizeof text, "%s: remote and memory", what),
        is(text, (double)(c->remote + c->memory), l3);
}

static void replacement(void) {
    struct cache cache;
    cache_make(&cache, &(struct cache_shape){.bytes = 256, .ways = 4, .policy = POLICY_tree}, 64);
    for (uint32_t line = 1; line <= 4; line++) cache_fill(&cache, line);
    cache_use(&cache, 1);
    is("tree: away from the last used half, then from its last used line", cache_fill(&cache, 5),
       3);
    cache_free(&cache);
    cache_make(&cache, &(struct cache_shape){.bytes = 256, .ways = 4}, 64);
    for (uint32_t line = 1; line <= 4; line++) cache_fill(&cache, line);
    cache_use(&cache, 1);
    is("LRU: the least recently used", cache_fill(&cache, 5), 2);
    cache_drop(&cache, 4);
    is("LRU: an empty place first", cache_fill(&cache, 6), 0);
    is("LRU: then the oldest again", cache_fill(&cache, 7), 3);
    cache_free(&cache);
    cache_make(&cache, &(struct cache_shape){.bytes = 128, .ways = 2, .policy = POLICY_age}, 64);
    cache_fill(&cache, 1), cache_use(&cache, 1), cache_fill(&cache, 2);
    is("age: what was used twice stays", cache_fill(&cache, 3), 2);
    is("age: and stays on", cache_fill(&cache, 4), 3);
    is("age: but not for ever", cache_fill(&cache, 5), 1);
    cache_free(&cache);
    cache_make(&cache, &(struct cache_shape){.bytes = 128 * 64, .ways = 1, .scattered = true}, 64);
    double gone = 0;
    for (uint32_t line = 64; line < 128; line++) gone += cache_fill(&cache, line) != 0;
    is("scattered: the lines of a page lie apart", gone, 0);
    cache_free(&cache);
    is("no sets of 3 ways in 4 lines",
       cache_make(&cache, &(struct cache_shape){.bytes = 256, .ways = 3}, 64), 0);
}

static void capacity(void) {
    struct machine m = small_machine();
    struct node *node = make(&m);
    node_access(node, 0, 10, LOAD), node_access(node, 0, 10, LOAD);
    counts_are("twice the same line", node, 0, 1, 1, 1);
    for (int round = 0; round < 3; round++) /* Three in a set of two ways. */
        for (uint32_t line = 100; line < 106; line += 2) node_access(node, 0, line, LOAD);
    counts_are("a conflict in L1 only", node, 0, 1 + 9, 1 + 3, 1 + 3);
    node_free(node);
    m.l1 = lines(4, 0);
    node = make(&m);
    for (int round = 0; round < 2; round++)
        for (uint32_t line = 100; line < 104; line++) node_access(node, 0, line, LOAD);
    counts_are("four lines fit", node, 0, 4, 4, 4);
    for (int round = 0; round < 2; round++)
        for (uint32_t line = 200; line < 205; line++) node_access(node, 0, line, LOAD);
    counts_are("five in a circle never hit", node, 0, 4 + 10, 4 + 5, 4 + 5);
    node_free(node);
}

static void ownership(void) {
    struct machine m = small_machine();
    struct node *node = make(&m);
    node_access(node, 0, 10, STORE), node_access(node, 0, 10, STORE);
    is("alone: nobody to ask", (double)node_counts(node, 0)->ownership, 0);
    node_access(node, 1, 10, LOAD);
    counts_are("from the neighbour", node, 1, 1, 1, 0);
    is("it had been modified", (double)node_counts(node, 1)->neighbour, 1);
    node_access(node, 1, 10, STORE);
    is("a store takes the line away", (double)node_counts(node, 1)->ownership, 1);
    counts_are("a store into what L1 holds is no miss", node, 1, 1, 1, 0);
    node_access(node, 0, 10, LOAD);
    counts_are("read again by the first", node, 0, 2, 2, 1);
    node_access(node, 2, 10, LOAD);
    counts_are("from the other domain", node, 2, 1, 1, 1);
    is("not from memory", (double)node_counts(node, 2)->remote, 1);
    node_access(node, 2, 10, STORE);
    node_access(node, 0, 10, LOAD);
    counts_are("gone from the first domain's L3 as well", node, 0, 3, 3, 2);
    is("served by the other domain", (double)node_counts(node, 0)->remote, 1);
    node_store_past(node, 3, 10);
    counts_are("a non-temporal store misses nowhere", node, 3, 0, 0, 0);
    is("but is counted", (double)node_counts(node, 3)->nontemporal, 1);
    node_access(node, 2, 10, LOAD);
    is("and leaves no copy", (double)node_counts(node, 2)->memory, 1);
    node_free(node);
    node = make(&m);
    node_access(node, 0, 10, STORE), node_access(node, 1, 10, LOAD);
    node_access(node, 0, 10, STORE);
    is("who has shared a line asks again", (double)node_counts(node, 0)->ownership, 1);
    node_free(node);
}

static void inclusion(void) {
    struct machine m = small_machine();
    m.l3 = lines(4, 0);
    for (int inclusive = 0; inclusive < 2; inclusive++) {
        m.inclusive = inclusive;
        struct node *node = make(&m);
        node_access(node, 0, 1, LOAD);
        for (uint32_t line = 2; line <= 5; line++) node_access(node, 1, line, LOAD);
        is("falls with its line in L3", (double)node_counts(node, 0)->back_invalidated, inclusive);
        node_access(node, 0, 1, LOAD);
        counts_are(inclusive ? "inclusive" : "not inclusive", node, 0, 1 + inclusive, 1 + inclusive,
                   1 + inclusive);
        node_free(node);
    }
    m.l1 = m.l2 = lines(1, 0);
    struct node *node = make(&m); /* still not inclusive after this: */
    node_free(node);
    m.inclusive = false;
    node = make(&m);
    for (uint32_t line = 1; line <= 3; line++) node_access(node, 0, line, LOAD);
    node_access(node, 0, 1, LOAD);
    counts_are("L3 takes what L2 throws out", node, 0, 4, 4, 3);
    node_free(node);
}

static void prefetch(void) {
    struct machine m = small_machine();
    const double wanted[3][3] = {/* off; in time for L2; for L3: two lines until it is noticed. */
                                 {64, 64, 64},
                                 {64, 2, 2},
                                 {64, 64, 2}};
    for (int way = 0; way < 3; way++) {
        m.stream = way > 0, m.stream_l2 = way == 1, m.stream_l3 = way == 2;
        struct node *node = make(&m);
        for (uint32_t line = 128; line < 192; line++) node_load(node, 0, line);
        counts_are("a page, streamed", node, 0, wanted[way][0], wanted[way][1], wanted[way][2]);
        node_load(node, 0, 192);
        is("not beyond the page", (double)node_counts(node, 0)->l2, wanted[way][1] + 1);
        node_free(node);
    }
    m.stream = true, m.stream_l2 = 1, m.stream_l3 = 0;
    struct node *node = make(&m);
    for (uint32_t line = 128; line < 192; line += 25) node_load(node, 0, line);
    node_load(node, 0, 179);
    is("lines far apart are no walk", (double)node_counts(node, 0)->l2, 4);
    node_free(node);
    m.stream = false, m.next_line = true;
    node = make(&m);
    node_load(node, 0, 128), node_load(node, 0, 129);
    counts_are("the next line comes along", node, 0, 3, 3, 3);
    node_load(node, 0, 190), node_load(node, 0, 191);
    counts_are("but not over the page's end", node, 0, 5, 5, 5);
    node_free(node);
    m.next_line = false, m.tlb_entries = 4, m.tlb_ways = 4, m.page_bytes = 4096;
    node = make(&m);
    node_tables(node, 0, 10000, 20000);
    for (uint32_t line = 128; line < 256; line++) node_load(node, 0, line);
    is("a walk for each of two pages", (double)node_counts(node, 0)->walks, 2);
    counts_are("one line of tables, one of a directory", node, 0, 128 + 2 + 1, 128 + 2 + 1,
               128); /* a page empties L2 of the table */
    node_load(node, 0, 128);
    is("none for a page that the TLB knows", (double)node_counts(node, 0)->walks, 2);
    node_free(node);
}

/* ---- li2018, section 2.3 ---- */

static double misses(const struct machine *m, bool alltoall, uint32_t p, uint64_t block,
                     enum order_id order, uint32_t sample) {
    struct exchange x = {.alltoall = alltoall,
                         .ranks = p,
                         .bytes = block,
                         .order = &orders[order],
                         .bare = true,
                         .sample = sample};
    struct result result;
    is("simulated", simulate(m, &x, &result), 0);
    return result.l1;
}

static void equations(void) {
    struct machine few = machine_ideal(128, 16384), big = machine_ideal(128, 131072);
    for (uint32_t p = 1; p <= 128; p += p < 6 ? 1 : 37)
        for (uint64_t block = 8; block <= 4096; block *= 4) {
            is("(1)", misses(&few, true, p, block, ORDER_rows, 1),
               equation(1, p, (double)block, 64, 64, 1 << 20));
            is("(4)", misses(&few, false, p, block, ORDER_rows, 1),
               equation(4, p, (double)block, 64, 64, 1 << 20));
        }
    /* Parts that are whole squares, whose rows fill lines: 2 P B / L for each process (section
     * 2.3.1, end). */
    is("(2), P = 64", misses(&big, true, 64, 8, ORDER_morton, 1),
       equation(2, 64, 8, 64, 64, 1 << 20));
    is("(2), P = 16", misses(&big, true, 16, 16, ORDER_morton, 1),
       equation(2, 16, 16, 64, 64, 1 << 20));
    is("(2), P = 64, large", misses(&big, true, 64, 512, ORDER_morton, 1),
       equation(2, 64, 512, 64, 64, 1 << 20));
    for (uint32_t p = 4; p <= 100; p += 31)
        for (uint64_t block = 64; block <= 1024; block *= 4) {
            double got = misses(&big, true, p, block, ORDER_morton, 1),
                   most = equation(3, p, (double)block, 64, 64, 1 << 20);
            within("(3)", got, 2 * p * (double)block / 64, 4 * most);
            got = misses(&big, false, p, block, ORDER_morton, 1);
            within("(8), (9)", got, p * (double)block / 64,
                   2 * equation(8, p, (double)block, 64, 64, 1 << 20) +
                       4 * sqrt(p) * (double)block / 64);
        }
    /* 8 blocks of 4 KiB: some of the senders' blocks stay, not all. */
    struct machine tight = machine_ideal(128, 32768);
    double six = equation(6, 64, 4096, 64, 64, 32768), four = equation(4, 64, 4096, 64, 64, 32768);
    within("(6)", misses(&tight, false, 64, 4096, ORDER_morton, 1), 64 * 64 + 1, 1.25 * six);
    within("(4) is worse", four, 1.2 * six, 2 * six);
    within("(5): blocks that do not fit", misses(&tight, false, 16, 65536, ORDER_morton, 1),
           equation(4, 16, 65536, 64, 64, 32768), equation(4, 16, 65536, 64, 64, 32768));
    is("7907 of the paper", round(equation(4, 72, 4096, 70.4, 80.6, 262144)), 7907);
    within("4190 of the paper", equation(6, 72, 4096, 70.4, 80.6, 262144), 4185, 4195);
}

/* One line in two is half of all, and so on, where no prefetcher looks at the lines between. In an
 * allgather by columns a block stays in L1 by halves, and of a sample more or less of it does. */
static void sampling(void) {
    struct machine m = small_machine();
    m.cores = 16, m.l1 = lines(512, 8), m.l2 = lines(4096, 8), m.l3 = lines(16384, 16);
    for (int pair = 0; pair < 2 * ORDERS; pair++) {
        const struct order *order = &orders[pair / 2];
        if (order->nests) continue;
        struct exchange x = {
            .alltoall = pair % 2, .ranks = 16, .bytes = 16384, .order = order, .sample = 1};
        struct result all, some;
        is("all", simulate(&m, &x, &all), 0);
        bool halves = order == &orders[ORDER_columns] && !x.alltoall;
        for (x.sample = 2; x.sample <= 8; x.sample *= 2) {
            is("a sample", simulate(&m, &x, &some), 0);
            within("L1 of a sample", some.l1 / all.l1, halves ? 0.95 : 0.98, halves ? 1.05 : 1.02);
            within("L2 of a sample", some.l2 / all.l2, 0.98, 1.02);
            within("L3 of a sample", some.l3 / all.l3, 0.97, 1.03);
        }
    }
    m = small_machine(); /* sets: 2, 16, 64 */
    is("half of all sets", node_divides(&m, 2), true);
    is("no quarter of two", node_divides(&m, 4), false);
    m.l1 = lines(4096, 4), m.l1.scattered = true, m.l2 = m.l3 = lines(0, 0);
    is("pages in 16 places each", node_divides(&m, 64), true);
    is("two pages are not apart", node_divides(&m, 128), false);
    m = machine_ideal(4, 16384);
    is("a single set", node_divides(&m, 2), false);
}

/* Eight others of nine are all. */
static void random_graph(void) {
    struct around around;
    is("a graph", around_make("random8", 9, &around) == NULL, true);
    unsigned to[9] = {0};
    for (size_t e = 0; e < around.count; e++)
        to[around.edges[e].source] |= 1u << around.edges[e].dest;
    for (unsigned r = 0; r < 9; r++) is("its edges", to[r], 0x1ff & ~(1u << r));
    free(around.edges);
}

int main(void) {
    replacement();
    capacity();
    ownership();
    inclusion();
    prefetch();
    equations();
    sampling();
    random_graph();
    return 0;
}
