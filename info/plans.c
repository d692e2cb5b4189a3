/* SPDX-License-Identifier: BSD-3-Clause */
/* plans - `mortar info --plans COLLECTIVE [nodes]`: one plan per line, for tests and sweeps. For
 * one node: every algorithm with each of its arguments. For several: what the planner considers on
 * a team that can run all plans. */
#include "info/info.h"

#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

/* The first order whose workers write only their own receive buffers (own), or also others. */
static int first_order(bool own) {
    int order = 0;
    while (orders[order].own_dest != own || orders[order].nests) order++;
    return order;
}

static void print_ordered(const struct algorithm *row, enum collective c) {
    for (enum order_id o = 0; o < ORDERS; o++)
        for (enum order_id inner = 0; inner < (orders[o].nests ? ORDERS : 1); inner++) {
            if (among(c, NEIGHBORS) && !walks_edges((struct walk){o, inner})) continue;
            if (!orders[o].nests) printf("%s(%s)\n", row->name, orders[o].name);
            else if (!orders[inner].nests)
                printf("%s(%s(%s))\n", row->name, orders[o].name, orders[inner].name);
        }
}

static void print_plans(const struct algorithm *row, enum collective c) {
    if (strstr(row->takes, "order")) print_ordered(row, c);
    else printf("%s\n", row->name);
    for (int path = 0; path < PATHS && strstr(row->takes, "path"); path++) {
        if (path == PATH_stage || path == PATH_heap || !path_here(path)) continue;
        for (int own = 0; own < 2; own++)
            printf("%s(%s, %s, %s)\n", row->name, orders[first_order(own)].name, kernels[0].name,
                   paths[path].name);
    }
    const char *order = strstr(row->takes, "order") ? "rows, " : "";
    if (strstr(row->takes, "kernel") && kernels[KERNEL_nt].usable())
        printf("%s(%snt)\n%s(%shybrid(1000))\n", row->name, order, row->name, order);
    /* Short rounds, of a length that is no power of two. */
    if (strstr(row->takes, "chunk")) printf("%s(192)\n", row->name);
}

/* Four nodes with two ranks each, and short blocks of known size. */
static int print_far_plans(enum collective collective) {
    enum { p = 8, here = 2 };
    static struct candidate candidates[most_candidates];
    int lowest[p];
    for (int r = 0; r < p; r++) lowest[r] = r / here * here;
    struct places places;
    struct shape shape = {.collective = collective, .bytes = 64};
    if (places_make(&places, p, lowest) != 0) return 1;
    struct figures node = imagined_node(here), figures = figures_over(&places, &node);
    int count = plan_candidates(&figures, &shape, true, candidates);
    printf("native\n"); /* first: tests compare the others with it */
    for (int i = 0; i < count; i++)
        if (strcmp(candidates[i].text, "native") != 0) printf("%s\n", candidates[i].text);
    places_free(&places);
    return 0;
}

int list_plans(const char *collective, bool nodes) {
    for (enum collective c = 0; c < COLLECTIVES; c++) {
        if (strcmp(collective_names[c], collective) != 0) continue;
        if (nodes) return print_far_plans(c);
        for (int a = 0; a < ALGORITHMS; a++)
            if (among(c, algorithms[a].collectives) && algorithms[a].code->where == ON_NODE)
                print_plans(&algorithms[a], c);
        return 0;
    }
    fprintf(stderr, "mortar info: \"%s\" is not a collective that mortar takes; expected one of:",
            collective);
    for (int c = 0; c < COLLECTIVES; c++) fprintf(stderr, " %s", collective_names[c]);
    fputc('\n', stderr);
    return 2;
}
