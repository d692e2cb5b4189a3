/* SPDX-License-Identifier: BSD-3-Clause */
/* candidates - the plans that can run a call: the one list from which the planner chooses, which
 * trials and `mortar tune` compare and which `mortar info --plan` explains. Every row of the tables
 * is in it: an algorithm in the variants that its file names, one that runs another on its lanes
 * with every variant of these, one that takes an order, a copier or a path with each of them. The
 * model's cost puts them in order; of those that cost the same, the usual arguments and few
 * messages come first. */
#include "plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct list {
    const struct figures *figures;
    const struct shape *shape;
    struct shape priced;
    struct candidate *candidates;
    int count, most;
};

static void candidates_add(struct list *list, const char *text, enum variant variant) {
    struct plan plan;
    char why[192];
    if (list->count == list->most || plan_parse(text, &plan, why, sizeof why) != 0) return;
    plan_settle(list->figures, &plan);
    if (!can_run(plan.algorithm, &plan.arguments, list->figures, list->shape)) return;
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->candidates[i].text, plan.text) == 0) return;
    const struct algorithm_code *code = plan.algorithm->code;
    struct candidate *candidate = &list->candidates[list->count];
    *candidate = (struct candidate){.algorithm = plan.algorithm,
                                    .path = plan.arguments.path,
                                    .variant = variant,
                                    .place = list->count};
    memcpy(candidate->text, plan.text, sizeof plan.text);
    candidate->seconds =
        code->cost ? code->cost(list->figures, &list->priced, &plan.arguments) : -1;
    list->count++;
}

/* ---- arguments of what copies on a node ---- */

/* Over several memory domains the order that writes only where it is near (li2018 section 2.4). In
 * one: from many ranks on the curve (section 2.1), in which a rank touches some 2 sqrt(p) buffers
 * instead of p + 1. EPYC virtual machine with 2 cores, 2026-11, `mortar bench`, alltoall, morton
 * against rows: as fast up to 16 ranks, 4-10 % faster at 24 and 32, 1.1-1.6 times at 64. Blocks
 * that have types of their own mostly lie in grids, where blocks for several ranks share pages:
 * they are copied piece by piece in turns (vector.c), few ranks best from the own send buffer. Xeon
 * (Sapphire Rapids, virtual, 4 cores), 256^3 grid, 16 ranks: 1.2-1.4 times as fast as the curve
 * where the senders' runs are the shorter ones, 0.9 the other way. */
static const char *usual_order(const struct figures *f, enum collective collective) {
    enum { many = 24 };
    if (f->domains > 1) return "numa(morton)";
    return f->p >= many ? "morton" : collective == COLL_alltoallw ? "columns" : orders[0].name;
}

/* The hybrid copy (ramesh2024 section V-E) where what is exchanged fits into no cache: a cached
 * store would first read the line that it writes. The same machine, 32 MiB L3, 16 ranks: at 32 KiB
 * (16 MiB in all) plain copies are as fast as non-temporal ones, at 128 KiB (64 MiB) 1.4 times
 * slower. In grids the first bytes of a block are no more likely to be in a cache than others. */
static const char *usual_copier(const struct figures *f, const struct shape *shape) {
    bool past =
        call_streams(f, shape) && shape->bytes > hybrid_bytes(f) && kernels[KERNEL_nt].usable();
    return !past ? kernels[0].name : shape->collective == COLL_alltoallw ? "nt" : "hybrid";
}

/* The algorithm with those of these arguments that it takes; path NULL: none is named. */
static void add_copying(struct list *list, const struct algorithm *algorithm, const char *order,
                        const char *copier, const char *path, enum variant variant) {
    char text[128];
    size_t used = (size_t)snprintf(text, sizeof text, "%s", algorithm->name);
    const struct {
        const char *name, *value;
    } arguments[] = {{"order", order}, {"kernel", copier}, {"path", path}};
    const char *before = "(";
    for (size_t i = 0; i < sizeof arguments / sizeof *arguments; i++) {
        if (!arguments[i].value || !strstr(algorithm->takes, arguments[i].name)) continue;
        used +=
            (size_t)snprintf(text + used, sizeof text - used, "%s%s", before, arguments[i].value);
        before = ", ";
    }
    if (*before == ',') snprintf(text + used, sizeof text - used, ")");
    candidates_add(list, text, variant);
}

/* The other orders, with the simplest copier. Those that are made of others differ from them over
 * several memory domains only. */
static void add_orders(struct list *list, const struct algorithm *algorithm) {
    char text[40];
    for (int o = 0; o < ORDERS; o++) {
        if (!orders[o].nests)
            add_copying(list, algorithm, orders[o].name, kernels[0].name, NULL,
                        o == 0 ? SIMPLEST : ORDERED);
        for (int inner = 0; inner < ORDERS && orders[o].nests && list->figures->domains > 1;
             inner++) {
            if (orders[inner].nests) continue;
            snprintf(text, sizeof text, "%s(%s)", orders[o].name, orders[inner].name);
            add_copying(list, algorithm, text, kernels[0].name, NULL, ORDERED);
        }
    }
}

/* Other copiers, for blocks that are longer than what the hybrid copy begins with: its threshold,
 * halved several times, nothing but non-temporal stores, and none of them (ramesh2024 section V-E
 * halves it while that gains). */
static void add_copiers(struct list *list, const struct algorithm *algorithm, const char *order) {
    enum { most_halved = 3 };
    char text[40];
    size_t start = hybrid_bytes(list->figures);
    if (list->shape->bytes <= start) return;
    for (int halved = 0; halved <= most_halved && start >> halved > 0; halved++) {
        snprintf(text, sizeof text, "hybrid(%zu)", start >> halved);
        add_copying(list, algorithm, order, text, NULL, COPIED);
    }
    /* The narrower ones are there for comparison. */
    add_copying(list, algorithm, order, "nt", NULL, COPIED);
    add_copying(list, algorithm, order, kernels[0].name, NULL, COPIED);
}

static void add_on_node(struct list *list, const struct algorithm *algorithm, bool by_path) {
    if (by_path && strstr(algorithm->takes, "path")) {
        for (int path = 0; path < PATHS; path++)
            if (paths[path].code->open)
                add_copying(list, algorithm, orders[0].name, kernels[0].name, paths[path].name,
                            USUAL);
        return;
    }
    const char *order = usual_order(list->figures, list->shape->collective);
    add_copying(list, algorithm, order, usual_copier(list->figures, list->shape), NULL, USUAL);
    if (strstr(algorithm->takes, "order")) add_orders(list, algorithm);
    if (strstr(algorithm->takes, "kernel")) add_copiers(list, algorithm, order);
}

/* ---- plans in plans ---- */

static const char *const *variants_of(const struct algorithm *algorithm, const char *only[2]) {
    only[0] = algorithm->name;
    only[1] = NULL;
    return algorithm->code->variants ? algorithm->code->variants : only;
}

/* The variant with every inner routine that does what the lanes have to do. */
static void add_inners(struct list *list, const char *variant, enum collective asked) {
    const char *only[2];
    char text[128];
    for (int a = 0; a < ALGORITHMS; a++) {
        const struct algorithm *inner = &algorithms[a];
        if (!among(asked, inner->collectives) ||
            (inner->code->run && inner->code->where != BY_MESSAGES))
            continue;
        for (const char *const *v = variants_of(inner, only); *v; v++) {
            const char *place = strstr(variant, "%s");
            snprintf(text, sizeof text, "%.*s%s%s", (int)(place - variant), variant, *v, place + 2);
            candidates_add(list, text, USUAL);
        }
    }
}

static void add_over_nodes(struct list *list, const struct algorithm *algorithm) {
    const char *only[2];
    for (const char *const *v = variants_of(algorithm, only); *v; v++) {
        if (strstr(*v, "%s")) add_inners(list, *v, algorithm->code->asks(list->shape->collective));
        else candidates_add(list, *v, USUAL);
    }
}

/* ---- which is the best ---- */

/* Those without a cost come last. */
static int by_seconds(const void *a, const void *b) {
    const struct candidate *one = a, *other = b;
    double x = one->seconds, y = other->seconds;
    if ((x < 0) != (y < 0)) return (x < 0) - (y < 0);
    if (x >= 0 && x != y) return (x > y) - (x < y);
    /* The same on all ranks, whatever qsort does with equal ones. */
    return one->place - other->place;
}

/* The plan's cost where nothing costs but what this network says, a second each. */
static double counted(const struct list *list, const char *text, struct network network) {
    struct figures counting = *list->figures;
    struct plan plan;
    char why[192];
    counting.network = network;
    if (plan_parse(text, &plan, why, sizeof why) != 0) return 0;
    return plan.algorithm->code->cost(&counting, &list->priced, &plan.arguments);
}

/* The model errs by more than this: of plans that it holds for equal the one with the fewest
 * messages, which adapters, switches and the MPI library mind in ways that it does not know, goes
 * to the front; of those with as many the one that has the fewest under way at a time, but some, so
 * that nobody stands still for one late partner. Simulated, 64 nodes x 8 ranks, alltoall of 4 KiB:
 * aggregate(pairwise(4)) takes 2675 us, aggregate(pairwise) 2719, aggregate(direct(32)) 2710,
 * aggregate(direct(8)) 2851. */
static void put_choice_first(const struct list *list) {
    static const double equal = 1.05, as_many = 1.01, some = 4;
    struct candidate *all = list->candidates, choice;
    int best = 0;
    /* Messages that leave a node, and those of them that do so at a time. */
    double fewest = 0, least = 0;
    for (int i = 0;
         i < list->count && all[i].seconds >= 0 && all[i].seconds <= equal * all[0].seconds; i++) {
        double messages = counted(list, all[i].text, (struct network){.gap = 1});
        double at_a_time = messages / counted(list, all[i].text, (struct network){.latency = 1});
        bool fewer = messages * as_many < fewest, calmer = messages < fewest * as_many &&
                                                           at_a_time >= some &&
                                                           at_a_time * as_many < least;
        if (i > 0 && !fewer && !calmer) continue;
        fewest = messages;
        least = at_a_time;
        best = i;
    }
    choice = all[best];
    memmove(all + 1, all, (size_t)best * sizeof *all);
    all[0] = choice;
}

/* What loses little with blocks of this length may lose little with others; without any bytes all
 * that needs few messages would seem to win, however often it sends every byte. Simulated, 16 nodes
 * x 8 ranks, alltoallv of 4 KiB: aggregate(bruck(4)) takes 1116 us, what is chosen now 599. */
struct shape shape_priced(const struct figures *f, const struct shape *shape) {
    enum { likely = 512 };
    struct shape priced = *shape;
    if (f->where != ON_NODE && shape->unsized && shape->bytes == 0) priced.bytes = likely;
    return priced;
}

int plan_candidates(const struct figures *f, const struct shape *shape, bool in_reach,
                    struct candidate *candidates, int most) {
    struct list list = {f, shape, shape_priced(f, shape), candidates, 0, most};
    bool by_path = !in_reach && among(shape->collective, POSTED), near = f->where == ON_NODE;
    for (int a = 0; a < ALGORITHMS; a++) {
        const struct algorithm *algorithm = &algorithms[a];
        if (!algorithm->code->run || (algorithm->code->where == ON_NODE) != near) continue;
        if (!among(shape->collective, algorithm->collectives)) continue;
        if (near) add_on_node(&list, algorithm, by_path);
        else add_over_nodes(&list, algorithm);
    }
    qsort(candidates, (size_t)list.count, sizeof *candidates, by_seconds);
    if (list.count > 0 && !near) put_choice_first(&list);
    candidates_add(&list, "native", USUAL);
    return list.count;
}
