/* SPDX-License-Identifier: BSD-3-Clause */
/* candidates - the plans that can run a call: the one list that the planner chooses from, that
 * trials and `mortar tune` compare, and that `mortar info --plan` prints. It contains every row of
 * the tables: each algorithm in the variants that its file names; with every variant of an inner
 * routine, if it takes one; with each order, copier or path, if it takes those. The list is sorted
 * by the model's cost; at equal cost default arguments and few messages come first. */
#include "plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct candidate_list {
    const struct figures *figures;
    const struct shape *shape;
    struct shape priced;
    struct candidate *candidates;
    int count;
};

static void candidates_add(struct candidate_list *list, const char *text, enum variant variant) {
    struct plan plan;
    if (list->count == most_candidates || plan_parse(text, &plan, NULL, 0) != 0) return;
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

/* The default order: one by which each rank fills its own buffer.
 * With a processor for each rank: what a rank writes into the buffers of others these have to fetch
 * before they read it, and that takes longer than such an order saves. Simulated on 2 x 48 cores,
 * alltoall of 4 KiB with the use of the data: spread 176 us, rows 208, morton 450, columns 700
 * (docs/cores.md). A few ranks of one domain may begin beside each other.
 * Where ranks share processors: each page of a peer that a rank writes costs a fault of its own,
 * again and again where the budget for such pages is short (peers.c). EPYC virtual machine with 2
 * cores, 2026-11, `mortar bench`, 64 ranks, spread against morton: alltoall of 4 KiB 1.6 times as
 * fast, of 32 and 256 KiB 0.87 and 0.94, of 1 MiB 2.7; allgather of 1 MiB 4.3; 32 ranks, alltoall
 * of 1 MiB 2.5. The curve was the default from 24 ranks on: 0.6 of native at 64 ranks and 1 MiB.
 * Neighbours: no order saves misses or time. Measured, compact is 0.90 to 1.02 times as fast as
 * rows; simulated, on several domains too, it has up to 3 % more misses (docs/reproduction.md).
 * Blocks with a type each mostly lie in grids, where blocks for several ranks share pages. They are
 * copied piece by piece in turns (vector.c), with few ranks best from the rank's own send buffer.
 * Xeon (Sapphire Rapids, virtual, 4 cores), 256^3 grid, 16 ranks: 1.2-1.4 times as fast as the
 * curve if the senders' runs are the shorter ones, 0.9 times otherwise. */
static const char *usual_order(const struct figures *f, enum collective collective) {
    enum { many = 24 };
    bool typed = collective == COLL_alltoallw;
    if (among(collective, NEIGHBORS)) return orders[0].name;
    if (!typed) return f->domains > 1 || f->p >= many ? "spread" : orders[0].name;
    if (f->domains > 1) return "numa(morton)";
    return f->p >= many ? "morton" : "columns";
}

/* The default copier: the hybrid copy (ramesh2024 section V-E) if the data exchanged exceed the
 * caches, where a cached store would first read the line that it writes. The same machine, 32 MiB
 * L3, 16 ranks: at 32 KiB (16 MiB in all) plain copies are as fast as non-temporal ones, at 128 KiB
 * (64 MiB) 1.4 times slower. In grids the first bytes of a block are no more likely to be in a
 * cache than others. */
static const char *usual_copier(const struct figures *f, const struct shape *shape) {
    bool past =
        call_streams(f, shape) && shape->bytes > hybrid_bytes(f) && kernels[KERNEL_nt].usable();
    if (!past) return kernels[0].name;
    return shape->collective == COLL_alltoallw ? "nt" : "hybrid";
}

/* Adds the algorithm with those of these arguments that it takes. path NULL: none. */
static void add_copying(struct candidate_list *list, const struct algorithm *algorithm,
                        const char *order, const char *copier, const char *path,
                        enum variant variant) {
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

/* Adds the other orders, with the simplest copier. A nested order differs from its inner one only
 * with several memory domains. */
static void add_orders(struct candidate_list *list, const struct algorithm *algorithm) {
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

/* Adds other copiers, for blocks longer than the hybrid copy's threshold: the threshold halved
 * several times, only non-temporal stores, and none (ramesh2024 section V-E halves it while that is
 * faster). */
static void add_copiers(struct candidate_list *list, const struct algorithm *algorithm,
                        const char *order) {
    enum { most_halved = 3 };
    char text[40];
    size_t start = hybrid_bytes(list->figures);
    if (list->shape->bytes <= start) return;
    for (int halved = 0; halved <= most_halved && start >> halved > 0; halved++) {
        snprintf(text, sizeof text, "hybrid(%zu)", start >> halved);
        add_copying(list, algorithm, order, text, NULL, COPIED);
    }
    /* The narrower kernels are there for comparison only. */
    add_copying(list, algorithm, order, "nt", NULL, COPIED);
    add_copying(list, algorithm, order, kernels[0].name, NULL, COPIED);
}

static void add_on_node(struct candidate_list *list, const struct algorithm *algorithm,
                        bool by_path) {
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

/* Adds the variant with every inner routine that can do the collective of the lanes. */
static void add_inners(struct candidate_list *list, const char *variant, enum collective asked) {
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

static void add_over_nodes(struct candidate_list *list, const struct algorithm *algorithm) {
    const char *only[2];
    for (const char *const *v = variants_of(algorithm, only); *v; v++) {
        if (strstr(*v, "%s")) add_inners(list, *v, algorithm->code->asks(list->shape->collective));
        else candidates_add(list, *v, USUAL);
    }
}

/* ---- the best candidate ---- */

/* Candidates without a cost come last. */
static int by_seconds(const void *a, const void *b) {
    const struct candidate *one = a, *other = b;
    double x = one->seconds, y = other->seconds;
    if ((x < 0) != (y < 0)) return (x < 0) - (y < 0);
    if (x >= 0 && x != y) return (x > y) - (x < y);
    /* Ties are broken alike on all ranks, whatever qsort does. */
    return one->place - other->place;
}

/* The plan's cost on a network in which only the given figures cost anything: counts messages or
 * steps. */
static double counted(const struct candidate_list *list, const char *text, struct network network) {
    struct figures counting = *list->figures;
    struct plan plan;
    counting.network = network;
    if (plan_parse(text, &plan, NULL, 0) != 0) return 0;
    return plan.algorithm->code->cost(&counting, &list->priced, &plan.arguments);
}

/* Differences of a few per cent are below the model's error. Of the plans within 5 % of the
 * cheapest the one with the fewest messages goes to the front, since adapters, switches and the MPI
 * library make messages cost more than the model knows. Among those with as many messages it is the
 * one with the fewest in flight at once, if that is at least four: then one late partner does not
 * stop the others. Simulated, 64 nodes x 8 ranks, alltoall of 4 KiB: aggregate(pairwise(4)) takes
 * 2675 us, aggregate(pairwise) 2719, aggregate(direct(32)) 2710, aggregate(direct(8)) 2851. */
static void put_choice_first(const struct candidate_list *list) {
    static const double equal = 1.05, as_many = 1.01, some = 4;
    struct candidate *all = list->candidates, choice;
    int best = 0;
    /* Messages that leave a node, and how many of them are in flight at once. */
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

/* 512 bytes: a plan that loses little there loses little with other sizes. With 0 bytes a plan with
 * few messages would always seem to win, however often it sends every byte. Simulated, 16 nodes x 8
 * ranks, alltoallv of 4 KiB: aggregate(bruck(4)) takes 1116 us, what is chosen now 599. */
struct shape shape_priced(const struct figures *f, const struct shape *shape) {
    enum { likely = 512 };
    struct shape priced = *shape;
    if (f->where != ON_NODE && shape->unsized && shape->bytes == 0) priced.bytes = likely;
    return priced;
}

int plan_candidates(const struct figures *f, const struct shape *shape, bool in_reach,
                    struct candidate *candidates) {
    struct candidate_list list = {f, shape, shape_priced(f, shape), candidates, 0};
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
