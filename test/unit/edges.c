/* SPDX-License-Identifier: BSD-3-Clause */
/* edges - the walks over a neighbourhood's edges (li2018 sections 3 and 2.4): the curve against its
 * definition, and on random graphs and domains the parts of all workers: each edge once, nothing
 * outside a part's place, shares that are alike, and numa's steps between the domains. */
#include "order/order.h"

#include "unit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t code_of(const struct edge *edge) {
    uint64_t code = 0;
    for (int bit = 0; bit < 32; bit++)
        code |= (uint64_t)(edge->source >> bit & 1) << 2 * bit | (uint64_t)(edge->dest >> bit & 1)
                                                                     << (2 * bit + 1);
    return code;
}

/* Sorted edges are the same ones, along the curve; of a full matrix they are the order's cells. */
static void compact_edges(uint64_t *random) {
    for (uint32_t p = 1; p < 40; p += 1 + p / 8) {
        size_t count = (size_t)p * p;
        struct edge *edges = malloc(count * sizeof *edges);
        struct cell cells[40];
        expect(edges != NULL, "malloc");
        for (size_t e = 0; e < count; e++)
            edges[e] = (struct edge){.source = (uint32_t)(e / p), .dest = (uint32_t)(e % p)};
        for (size_t e = count; e-- > 1;) { /* shuffled */
            size_t other = draw_below(random, (uint32_t)e + 1);
            struct edge edge = edges[e];
            edges[e] = edges[other];
            edges[other] = edge;
        }
        sort_compact(edges, count);
        for (uint32_t worker = 0; worker < p; worker++) {
            orders[ORDER_compact].fill(&(struct matrix){.p = p}, worker, cells);
            for (uint32_t k = 0; k < p; k++) {
                struct edge *edge = &edges[(size_t)worker * p + k];
                expect(edge->source == cells[k].source && edge->dest == cells[k].dest,
                       "p=%u: cell %u of worker %u", p, k, worker);
                expect((worker == 0 && k == 0) || code_of(edge - 1) < code_of(edge),
                       "p=%u: not along the curve", p);
            }
        }
        free(edges);
    }
    struct edge twins[] = {{1, 2, 7, 0}, {1, 2, 3, 4}, {0, 0, 1, 1}, {1, 2, 3, 2}};
    sort_compact(twins, 4);
    expect(twins[0].source == 0 && twins[1].in == 2 && twins[2].in == 4 && twins[3].out == 7,
           "twins are not sorted by blocks");
}

/* ---- parts ---- */

enum { most_p = 48, most_edges = 4096 };

struct graph_of {
    uint32_t p, domains, domain_of[most_p];
    size_t count;
    struct edge edges[most_edges];
};

/* Edges between any ranks, also several between two, and none to or from some. domains: 0 for a
 * matrix without domains. */
static void draw_graph(struct graph_of *g, uint64_t *random) {
    g->p = 1 + draw_below(random, most_p);
    g->domains = draw_below(random, 5);
    for (uint32_t r = 0; r < g->p; r++)
        g->domain_of[r] = g->domains ? draw_below(random, g->domains) : 0;
    g->count = draw_below(random, 3) ? draw_below(random, most_edges) : draw_below(random, g->p);
    for (size_t e = 0; e < g->count; e++)
        g->edges[e] = (struct edge){.source = draw_below(random, g->p),
                                    .dest = draw_below(random, g->p),
                                    .out = (uint32_t)e,
                                    .in = draw_below(random, 100)};
}

static uint32_t step_of(const struct graph_of *g, struct edge e) {
    return (g->domain_of[e.source] + g->domains - g->domain_of[e.dest]) % g->domains;
}

/* One worker's part. Marks its edges as seen. */
static size_t check_part(const struct graph_of *g, const struct order *order, uint32_t worker,
                         bool *seen) {
    static struct edge edges[most_edges];
    struct matrix matrix = {.p = g->p, .domain_of = g->domains ? g->domain_of : NULL};
    if (g->count > 0) memcpy(edges, g->edges, g->count * sizeof *edges);
    size_t kept = order->part(&matrix, worker, edges, g->count);
    bool steps = order->nests && g->domains;
    for (size_t k = 0; k < kept; k++) {
        struct edge e = edges[k], *before = k > 0 ? &edges[k - 1] : NULL;
        const char *wrong = NULL;
        if (e.out >= g->count || memcmp(&e, &g->edges[e.out], sizeof e) != 0) wrong = "is none";
        else if (seen[e.out]) wrong = "was there already";
        else if (order == &orders[ORDER_columns] && e.source != worker) wrong = "is not my own";
        else if (steps && g->domain_of[e.dest] != g->domain_of[worker]) wrong = "is elsewhere";
        else if (steps && before && step_of(g, *before) > step_of(g, e)) wrong = "is too late";
        else if (order != &orders[ORDER_columns] && before && code_of(before) > code_of(&e) &&
                 !(steps && step_of(g, *before) < step_of(g, e)))
            wrong = "is off the curve";
        expect(!wrong, "%s, %u ranks, %u domains, worker %u: edge %zu %s", order->name, g->p,
               g->domains, worker, k, wrong);
        seen[e.out] = true;
    }
    return kept;
}

/* Shares of the curve differ by one edge; of numa within a domain by one for each bunch. */
static void check_shares(const struct graph_of *g, const struct order *order, const size_t *kept) {
    if (order == &orders[ORDER_columns]) return;
    bool apart = order->nests && g->domains;
    for (uint32_t a = 0; a < g->p; a++)
        for (uint32_t b = 0; b < g->p; b++) {
            if (apart && g->domain_of[a] != g->domain_of[b]) continue;
            expect(kept[a] <= kept[b] + (apart ? g->domains : 1),
                   "%s, %u ranks, %u domains: %zu edges for %u, %zu for %u", order->name, g->p,
                   g->domains, kept[a], a, kept[b], b);
        }
}

static void check_parts(uint64_t *random) {
    static struct graph_of g;
    draw_graph(&g, random);
    for (int o = 0; o < ORDERS; o++) {
        bool seen[most_edges] = {false};
        size_t kept[most_p], all = 0;
        if (!orders[o].part) continue;
        for (uint32_t w = 0; w < g.p; w++) all += kept[w] = check_part(&g, &orders[o], w, seen);
        expect(all == g.count, "%s: %zu of %zu edges", orders[o].name, all, g.count);
        check_shares(&g, &orders[o], kept);
    }
}

/* Edges that come one to a bunch go to the ranks of a domain in turns. */
static void short_bunches(void) {
    struct graph_of g = {.p = 8, .domains = 4, .count = 4};
    size_t most = 0;
    for (uint32_t r = 0; r < g.p; r++) g.domain_of[r] = r / 2;
    for (uint32_t d = 0; d < 4; d++)
        g.edges[d] = (struct edge){.source = 2 * d, .dest = 0, .out = d};
    for (uint32_t w = 0; w < 2; w++) {
        bool seen[most_edges] = {false};
        size_t kept = check_part(&g, &orders[ORDER_numa], w, seen);
        if (kept > most) most = kept;
    }
    expect(most == 2, "one of two ranks copies %zu of 4 edges", most);
}

int main(int count, char **words) {
    uint64_t random = seed_from(count, words);
    compact_edges(&random);
    for (int i = 0; i < 400; i++) check_parts(&random);
    short_bunches();
    expect(walks_edges((struct walk){ORDER_rows, 0}) &&
               walks_edges((struct walk){ORDER_compact, 0}) &&
               walks_edges((struct walk){ORDER_numa, ORDER_compact}),
           "rows, compact and numa(compact) walk edges");
    expect(!walks_edges((struct walk){ORDER_morton, 0}) &&
               !walks_edges((struct walk){ORDER_numa, ORDER_morton}) &&
               !walks_edges((struct walk){ORDER_spread, 0}),
           "morton, numa(morton) and spread do not");
    puts("400 graphs");
    return 0;
}
