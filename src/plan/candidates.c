/* SPDX-License-Identifier: BSD-3-Clause */
/* candidates - the plans that a team over several nodes can choose from: every algorithm that sends messages, in the variants that
 * it names, those that run another one on their lanes with every variant of these. The model's cost puts them in order. */
#include "plan/plan.h"

#include "plan/learn.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct list {
    const struct team *team;
    const struct shape *shape;
    struct candidate *candidates;
    int count, most;
};

static void add(struct list *list, const char *text) {
    struct plan plan;
    char why[192];
    if (list->count == list->most || plan_parse(text, &plan, why, sizeof why) != 0) return;
    if (!can_run(plan.algorithm, &plan.arguments, list->team, list->shape)) return;
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->candidates[i].text, plan.text) == 0) return;
    const struct algorithm_code *code = plan.algorithm->code;
    struct candidate *candidate = &list->candidates[list->count++];
    memcpy(candidate->text, plan.text, sizeof plan.text);
    candidate->seconds = code->cost ? code->cost(list->team, list->shape, &plan.arguments) : -1;
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
    double x = ((const struct candidate *)a)->seconds, y = ((const struct candidate *)b)->seconds;
    if (x < 0 || y < 0) return (x < 0) - (y < 0);
    return (x > y) - (x < y);
}

int plan_candidates(const struct team *team, const struct shape *shape, struct candidate *candidates, int most) {
    struct list list = {team, shape, candidates, 0, most};
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
    add(&list, "native");
    return list.count;
}

/* The usual network may be far from this one: where trials follow, the host MPI begins and the model's choice is a rival. */
static bool begins_native(const struct team *team) {
    enum learn_mode mode = learn_mode();
    return !team->network.measured && (mode == LEARN_WATCH || mode == LEARN_ONLINE);
}

void plan_choose_far(const struct team *team, const struct shape *shape, struct plan *plan) {
    struct candidate candidates[most_candidates];
    char why[192];
    int count = plan_candidates(team, shape, candidates, most_candidates);
    bool waits = begins_native(team);
    plan_parse(count > 0 && !waits ? candidates[0].text : "native", plan, why, sizeof why);
    if (plan->algorithm->code->run) return;
    plan->reason = count > 1 && waits ? "nobody has measured this network (mortar bench network): plans have to win trials first"
                                      : "mortar has no algorithm for it";
}
