/* SPDX-License-Identifier: BSD-3-Clause */
/* rivals - which candidates are worth a trial against the plan in use. */
#include "plan/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

struct rival_list {
    char (*texts)[64];
    int count, most;
};

static void rivals_add(struct rival_list *list, const char *text) {
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->texts[i], text) == 0) return;
    if (list->count < list->most)
        snprintf(list->texts[list->count++], sizeof *list->texts, "%s", text);
}

/* Is it a plan of this algorithm, whatever its arguments? */
static bool is_kin(const char *text, const char *name) {
    size_t length = strcspn(text, "(");
    return length == strlen(name) && memcmp(text, name, length) == 0;
}

static bool has_kin(const struct rival_list *list, const char *name) {
    for (int i = 0; i < list->count; i++)
        if (is_kin(list->texts[i], name)) return true;
    return false;
}

/* On one node: the plan in use with the simplest order and with other copiers, and loose
 * algorithms, which win when ranks arrive at different times, whatever the cost model says. With
 * buffers out of reach every algorithm: the model knows least about the times of the MPI library,
 * of the kernel and of a second copy. */
static bool is_near_rival(const struct candidate *candidate, const char *choice, bool in_reach) {
    if (candidate->variant == USUAL) return candidate->algorithm->code->loose || !in_reach;
    return in_reach && is_kin(choice, candidate->algorithm->name) &&
           (candidate->variant == SIMPLEST || candidate->variant == COPIED);
}

/* The choice with the copier of a candidate of the same algorithm: pull(rows, plain) with that of
 * pull(morton, nt) is pull(rows, nt). */
static void add_copied(struct rival_list *list, const char *choice,
                       const struct candidate *candidate) {
    const char *order_ends = strchr(choice, ','), *copier = strchr(candidate->text, ',');
    char text[64];
    if (candidate->variant != COPIED || !is_kin(choice, candidate->algorithm->name)) return;
    if (!order_ends || !copier) return;
    int used = snprintf(text, sizeof text, "%.*s%s", (int)(order_ends - choice), choice, copier);
    if (used < (int)sizeof text) rivals_add(list, text);
}

int plan_rivals(const struct figures *f, const struct shape *shape, bool in_reach,
                const char *choice, enum rivals which, struct candidate *room, char texts[][64],
                int most) {
    static const double most_times = 3; /* of the best plan's cost, if the network was measured */
    struct rival_list list = {texts, 0, most};
    int count = plan_candidates(f, shape, in_reach, room);
    double limit = f->network.measured ? most_times * room[0].seconds : INFINITY;
    rivals_add(&list, choice);
    if (which < RIVALS_orders) rivals_add(&list, "native");
    for (int i = 0; i < count; i++) {
        const struct candidate *candidate = &room[i];
        bool ordered = strstr(candidate->algorithm->takes, "order") && candidate->variant != COPIED;
        bool near = f->where == ON_NODE && is_near_rival(candidate, choice, in_reach);
        /* Over several nodes the best plan of each algorithm: the model errs about algorithms more
         * than about arguments. */
        bool far = f->where != ON_NODE && candidate->seconds >= 0 && candidate->seconds <= limit &&
                   !has_kin(&list, candidate->algorithm->name);
        if (which == RIVALS_copies) add_copied(&list, choice, candidate);
        else if (which == RIVALS_orders ? ordered : near || far) rivals_add(&list, candidate->text);
    }
    for (int i = 0; i < count && which == RIVALS_all; i++) rivals_add(&list, room[i].text);
    return list.count;
}
