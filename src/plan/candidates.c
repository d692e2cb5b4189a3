/* SPDX-License-Identifier: BSD-3-Clause */
/* candidates - the plans that a team over several nodes can choose from: every algorithm that sends messages, in the variants that
 * it names, those that run another one on their lanes with every variant of these. The model's cost puts them in order; among those
 * that cost the same, few messages come first. */
#include "plan/plan.h"

#include "plan/learn.h"

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

static void add(struct list *list, const char *text) {
    struct plan plan;
    char why[192];
    if (list->count == list->most || plan_parse(text, &plan, why, sizeof why) != 0) return;
    if (!can_run(plan.algorithm, &plan.arguments, list->figures, list->shape)) return;
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->candidates[i].text, plan.text) == 0) return;
    const struct algorithm_code *code = plan.algorithm->code;
    struct candidate *candidate = &list->candidates[list->count];
    candidate->place = list->count++;
    memcpy(candidate->text, plan.text, sizeof plan.text);
    candidate->seconds = code->cost ? code->cost(list->figures, &list->priced, &plan.arguments) : -1;
}

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
        if (!among(asked, inner->collectives) || (inner->code->run && inner->code->where != BY_MESSAGES)) continue;
        for (const char *const *v = variants_of(inner, only); *v; v++) {
            const char *place = strstr(variant, "%s");
            snprintf(text, sizeof text, "%.*s%s%s", (int)(place - variant), variant, *v, place + 2);
            add(list, text);
        }
    }
}

/* Those without a cost come last. */
static int by_seconds(const void *a, const void *b) {
    const struct candidate *one = a, *other = b;
    double x = one->seconds, y = other->seconds;
    if ((x < 0) != (y < 0)) return (x < 0) - (y < 0);
    if (x >= 0 && x != y) return (x > y) - (x < y);
    return one->place - other->place; /* the same on all ranks, whatever qsort does with equal ones */
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

/* The model errs by more than this: of plans that it holds for equal the one with the fewest messages, which adapters, switches
 * and the MPI library mind in ways that it does not know, goes to the front; of those with as many the one that has the fewest
 * under way at a time, but some, so that nobody stands still for one late partner. Simulated, 64 nodes x 8 ranks, alltoall of
 * 4 KiB: aggregate(pairwise(4)) takes 2675 us, aggregate(pairwise) 2719, aggregate(direct(32)) 2710, aggregate(direct(8)) 2851. */
static void put_choice_first(const struct list *list) {
    static const double equal = 1.05, as_many = 1.01, some = 4;
    struct candidate *all = list->candidates, choice;
    int best = 0;
    double fewest = 0, least = 0; /* messages that leave a node, and those of them that do so at a time */
    for (int i = 0; i < list->count && all[i].seconds >= 0 && all[i].seconds <= equal * all[0].seconds; i++) {
        double messages = counted(list, all[i].text, (struct network){.gap = 1});
        double at_a_time = messages / counted(list, all[i].text, (struct network){.latency = 1});
        bool fewer = messages * as_many < fewest,
             calmer = messages < fewest * as_many && at_a_time >= some && at_a_time * as_many < least;
        if (i > 0 && !fewer && !calmer) continue;
        fewest = messages;
        least = at_a_time;
        best = i;
    }
    choice = all[best];
    memmove(all + 1, all, (size_t)best * sizeof *all);
    all[0] = choice;
}

/* What loses little with blocks of this length may lose little with others; without any bytes all that needs few messages would
 * seem to win, however often it sends every byte. Simulated, 16 nodes x 8 ranks, alltoallv of 4 KiB: aggregate(bruck(4))
 * takes 1116 us, what is chosen now 599. */
struct shape shape_priced(const struct shape *shape) {
    enum { likely = 512 };
    struct shape priced = *shape;
    if (shape->unsized && shape->bytes == 0) priced.bytes = likely;
    return priced;
}

int plan_candidates(const struct figures *f, const struct shape *shape, struct candidate *candidates, int most) {
    struct list list = {f, shape, shape_priced(shape), candidates, 0, most};
    const char *only[2];
    for (int a = 0; a < ALGORITHMS; a++) {
        const struct algorithm_code *code = algorithms[a].code;
        if (code->where == ON_NODE || !among(shape->collective, algorithms[a].collectives)) continue;
        for (const char *const *v = variants_of(&algorithms[a], only); *v; v++) {
            if (strstr(*v, "%s")) add_inners(&list, *v, code->asks(shape->collective));
            else add(&list, *v);
        }
    }
    qsort(candidates, (size_t)list.count, sizeof *candidates, by_seconds);
    if (list.count > 0) put_choice_first(&list);
    add(&list, "native");
    return list.count;
}

/* The usual network may be far from this one: where trials follow, the host MPI begins and the model's choice is a rival. */
static bool begins_native(const struct figures *f) {
    enum learn_mode mode = learn_mode();
    return !f->network.measured && (mode == LEARN_WATCH || mode == LEARN_ONLINE);
}

void plan_choose_far(const struct figures *f, const struct shape *shape, struct plan *plan) {
    struct candidate candidates[most_candidates];
    char why[192];
    int count = plan_candidates(f, shape, candidates, most_candidates);
    bool waits = begins_native(f);
    plan_parse(count > 0 && !waits ? candidates[0].text : "native", plan, why, sizeof why);
    if (plan->algorithm->code->run) return;
    plan->reason = count > 1 && waits ? "nobody has measured this network (mortar bench network): plans have to win trials first"
                                      : "mortar has no algorithm for it";
}
