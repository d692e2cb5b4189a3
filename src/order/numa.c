/* SPDX-License-Identifier: BSD-3-Clause */
/* order_numa - one step for each of the s memory domains. Domain x has q_x ranks; what it sends to
 * domain r is a bunch of q_r x q_x cells. In step i the ranks of domain r copy the bunch from
 * domain (r + i) mod s. Each rank copies an equal part of the bunch's walk in the inner order: q_x
 * cells, so p cells in all steps. A rank writes only receive buffers of its own domain. If all
 * domains have the same size, no two of them read from the same domain in a step. li2018 section
 * 2.4 (SH-NUMA-CO); here domains may differ in size, and their ranks need not be consecutive. Time
 * O(s p), and that of the inner order. */
#include "order/order.h"

void order_numa(const struct matrix *matrix, uint32_t worker, struct cell *cells);

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

void order_numa(const struct matrix *matrix, uint32_t worker, struct cell *cells) {
    const struct order *inner = matrix->inner ? matrix->inner : &orders[ORDER_morton];
    uint32_t p = matrix->p, domains = 0, filled = 0;
    if (!matrix->domain_of) {
        inner->fill(&(struct matrix){.p = p}, worker, cells);
        return;
    }
    for (uint32_t r = 0; r < p; r++)
        if (matrix->domain_of[r] >= domains) domains = matrix->domain_of[r] + 1;
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
