/* SPDX-License-Identifier: BSD-3-Clause */
/* order_numa - one step for each of the s memory domains. Domain x has q_x ranks; what it sends to
 * domain r is a bunch of q_r x q_x cells. In step i the ranks of domain r copy the bunch from
 * domain (r + i) mod s. Each rank copies an equal part of the bunch's walk in the inner order: q_x
 * cells, so p cells in all steps. A rank writes only receive buffers of its own domain. If all
 * domains have the same size, no two of them read from the same domain in a step. A neighbourhood's
 * bunches are its edges between two domains, along the compact curve, in as many pieces as the
 * domain has ranks. Bunches are short there, so the pieces go to the ranks in turns. li2018
 * sections 2.4 and 3.1 (SH-NUMA-CO); here domains may differ in size, and their ranks need not be
 * consecutive. Time O(s p), and that of the inner order. */
#include "order/order.h"

#include <string.h>

void order_numa(const struct matrix *matrix, uint32_t worker, struct cell *cells);
size_t part_numa(const struct matrix *matrix, uint32_t worker, struct edge *edges, size_t count);

/* How many of the ranks 0 .. end-1 are in the domain. */
static uint32_t numa_members(const struct matrix *matrix, uint32_t domain, uint32_t end) {
    uint32_t count = 0;
    for (uint32_t r = 0; r < end; r++) count += matrix->domain_of[r] == domain;
    return count;
}

/* Replaces numbers within a domain by ranks, in the sources or the dests of some cells. Works
 * through the domain from its end in pieces that fit on the stack. A rank is never less than its
 * number in the domain, so a replaced value is not replaced again. */
static void name_ranks(const struct matrix *matrix, uint32_t domain, uint32_t size,
                       struct cell *cells, uint32_t count, bool dests) {
    enum { most = 1024 };
    uint32_t ranks[most];
    for (uint32_t low = (size - 1) / most * most;; low -= most) {
        for (uint32_t r = 0, number = 0; r < matrix->p && number < size; r++) {
            if (matrix->domain_of[r] != domain) continue;
            if (number >= low && number - low < most) ranks[number - low] = r;
            number++;
        }
        for (uint32_t k = 0; k < count; k++) {
            uint32_t *value = dests ? &cells[k].dest : &cells[k].source;
            if (*value >= low && *value - low < most && *value < size) *value = ranks[*value - low];
        }
        if (low == 0) return;
        size = low;
    }
}

static uint32_t domains_in(const struct matrix *matrix) {
    uint32_t domains = 0;
    for (uint32_t r = 0; r < matrix->p; r++)
        if (matrix->domain_of[r] >= domains) domains = matrix->domain_of[r] + 1;
    return domains;
}

void order_numa(const struct matrix *matrix, uint32_t worker, struct cell *cells) {
    const struct order *inner = matrix->inner ? matrix->inner : &orders[ORDER_morton];
    uint32_t p = matrix->p, filled = 0;
    if (!matrix->domain_of) {
        inner->fill(&(struct matrix){.p = p}, worker, cells);
        return;
    }
    uint32_t domains = domains_in(matrix);
    uint32_t own = matrix->domain_of[worker];
    uint32_t here = numa_members(matrix, own, p), me = numa_members(matrix, own, worker);
    for (uint32_t step = 0; step < domains; step++) {
        uint32_t from = (own + step) % domains, there = numa_members(matrix, from, p);
        if (there == 0) continue;
        inner->fill(&(struct matrix){.p = there, .rows = here}, me, cells + filled);
        name_ranks(matrix, from, there, cells + filled, there, false);
        filled += there;
    }
    name_ranks(matrix, own, here, cells, p, true);
}

/* Swaps the edges from one domain to another to the front of `edges`. Returns how many. */
static size_t gather_bunch(const struct matrix *matrix, uint32_t from, uint32_t to,
                           struct edge *edges, size_t count) {
    size_t found = 0;
    for (size_t e = 0; e < count; e++) {
        struct edge edge = edges[e];
        if (matrix->domain_of[edge.source] != from || matrix->domain_of[edge.dest] != to) continue;
        edges[e] = edges[found];
        edges[found++] = edge;
    }
    return found;
}

size_t part_numa(const struct matrix *matrix, uint32_t worker, struct edge *edges, size_t count) {
    if (!matrix->domain_of) return orders[ORDER_compact].part(matrix, worker, edges, count);
    uint32_t domains = domains_in(matrix), own = matrix->domain_of[worker];
    size_t here = numa_members(matrix, own, matrix->p), me = numa_members(matrix, own, worker);
    size_t kept = 0, seen = 0;
    for (uint32_t step = 0; step < domains; step++) {
        struct edge *bunch = edges + seen;
        size_t n = gather_bunch(matrix, (own + step) % domains, own, bunch, count - seen);
        size_t piece = (me + here - seen % here) % here;
        size_t first = n * piece / here, end = n * (piece + 1) / here;
        sort_compact(bunch, n);
        memmove(edges + kept, bunch + first, (end - first) * sizeof *edges);
        kept += end - first;
        seen += n;
    }
    return kept;
}
