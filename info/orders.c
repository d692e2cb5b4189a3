/* SPDX-License-Identifier: BSD-3-Clause */
/* orders - `mortar info --orders P [DOMAINS]`: every part of every order, as the library fills it,
 * one cell per line of CSV; for pictures and other tools. `mortar info --orders`: what filling one
 * part costs. For numa(...) the ranks are in DOMAINS domains of consecutive ranks, 2 by default. */
#include "info/info.h"

#include "base/base.h"
#include "order/order.h"

#include <stdio.h>
#include <stdlib.h>

/* The next walk: all orders, and those that nest with each order as the argument. name: 32 bytes.
 * False at the end. */
static bool next_walk(struct walk *walk, bool first, char *name) {
    int order = 0, inner = 0;
    if (!first) {
        bool nests = orders[walk->order].nests;
        order = (int)walk->order + !nests;
        inner = nests ? (int)walk->inner + 1 : 0;
    }
    while (order < ORDERS && orders[order].nests && inner < ORDERS && orders[inner].nests) inner++;
    if (order < ORDERS && inner == ORDERS) {
        order++;
        inner = 0;
    }
    if (order == ORDERS) return false;
    *walk = (struct walk){(enum order_id)order, (enum order_id)inner};
    snprintf(name, 32, orders[order].nests ? "%s(%s)" : "%s", orders[order].name,
             orders[inner].name);
    return true;
}

static struct matrix matrix_of(uint32_t p, const uint32_t *domain_of, struct walk walk) {
    return (struct matrix){.p = p,
                           .domain_of = domain_of,
                           .inner = orders[walk.order].nests ? &orders[walk.inner] : NULL};
}

static void print_cells(uint32_t p, const uint32_t *domain_of, struct cell *cells) {
    struct walk walk = {0};
    char name[32];
    printf("order,worker,step,source,dest\n");
    for (bool first = true; next_walk(&walk, first, name); first = false)
        for (uint32_t worker = 0; worker < p; worker++) {
            struct matrix matrix = matrix_of(p, domain_of, walk);
            orders[walk.order].fill(&matrix, worker, cells);
            for (uint32_t k = 0; k < p; k++)
                printf("%s,%u,%u,%u,%u\n", name, worker, k, cells[k].source, cells[k].dest);
        }
}

static int compare(const void *a, const void *b) {
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* Time to fill one part, per cell: the median over 15 workers, each the best of 7 tries. */
static double nanoseconds(uint32_t p, const uint32_t *domain_of, struct walk walk,
                          struct cell *cells) {
    enum { workers = 15, tries = 7 };
    double took[workers];
    struct matrix matrix = matrix_of(p, domain_of, walk);
    for (uint32_t w = 0; w < workers; w++) {
        took[w] = 1;
        for (int i = 0; i < tries; i++) {
            double start = clock_seconds();
            orders[walk.order].fill(&matrix, p * w / workers, cells);
            double seconds = clock_seconds() - start;
            if (seconds < took[w]) took[w] = seconds;
        }
    }
    qsort(took, workers, sizeof *took, compare);
    return took[workers / 2] * 1e9 / p;
}

static void divide(uint32_t p, uint32_t domains, uint32_t *domain_of) {
    for (uint32_t r = 0; r < p; r++) domain_of[r] = (uint32_t)((uint64_t)r * domains / p);
}

static void print_costs(uint32_t domains, uint32_t *domain_of, struct cell *cells) {
    static const uint32_t sizes[] = {64, 72, 96, 128, 256, 512, 1000, 1024, 2048, 4093, 4096};
    enum { count = sizeof sizes / sizeof *sizes };
    struct walk walk = {0};
    char name[32];
    printf("Filling one rank's part, nanoseconds per cell; numa with %u domains\n%-18s", domains,
           "ranks");
    for (int i = 0; i < count; i++) printf("%7u", sizes[i]);
    printf("\n%-18s", "bytes per rank");
    for (int i = 0; i < count; i++) printf("%7zu", sizes[i] * sizeof *cells);
    for (bool first = true; next_walk(&walk, first, name); first = false) {
        printf("\n%-18s", name);
        for (int i = 0; i < count; i++) {
            divide(sizes[i], domains, domain_of);
            printf("%7.1f", nanoseconds(sizes[i], domain_of, walk, cells));
        }
    }
    printf("\n");
}

int print_orders(uint32_t p, uint32_t domains) {
    uint32_t most = p ? p : 4096, *domain_of = malloc(most * sizeof *domain_of);
    struct cell *cells = malloc(most * sizeof *cells);
    if (!domain_of || !cells) {
        fprintf(stderr, "mortar info: out of memory\n");
        free(domain_of);
        free(cells);
        return 1;
    }
    if (p) {
        divide(p, domains, domain_of);
        print_cells(p, domain_of, cells);
    } else {
        print_costs(4, domain_of, cells);
    }
    free(domain_of);
    free(cells);
    return 0;
}
