/* SPDX-License-Identifier: BSD-3-Clause */
/* rivals - which plans are worth a try beside the one that the model chose. */
#include "plan/plan.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { most_halved = 3 };

struct list {
    char (*texts)[64];
    int count, most;
};

/* Adds a plan by any of its texts, once, under its full text. */
static void add(struct list *list, const struct shape *shape, const struct figures *f, const char *text) {
    struct plan plan;
    char why[192];
    if (list->count == list->most || plan_parse(text, &plan, why, sizeof why) != 0) return;
    if (!can_run(plan.algorithm, &plan.arguments, f, shape)) return;
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->texts[i], plan.text) == 0) return;
    memcpy(list->texts[list->count++], plan.text, sizeof plan.text);
}

/* The choice with other copiers, for blocks that are longer than what the hybrid copy begins with: its threshold, halved several
 * times, nothing but non-temporal stores, and none of them (ramesh2024 section V-E halves it while that gains). */
static void add_copiers(struct list *list, const struct shape *shape, const struct figures *f, const char *choice) {
    struct plan plan;
    char why[192], text[128];
    size_t start = hybrid_bytes(f);
    if (plan_parse(choice, &plan, why, sizeof why) != 0 || !strstr(plan.algorithm->takes, "kernel")) return;
    if (shape->bytes <= start || plan.arguments.path) return;
    const struct walk *walk = &plan.arguments.walk;
    char order[40] = ""; /* with what parts it from the copier */
    if (strstr(plan.algorithm->takes, "order")) {
        bool nests = orders[walk->order].nests;
        const char *name = orders[walk->order].name, *inner = nests ? orders[walk->inner].name : "";
        snprintf(order, sizeof order, "%s%s%s%s, ", name, nests ? "(" : "", inner, nests ? ")" : "");
    }
    for (int halved = 0; halved <= most_halved && start >> halved > 0; halved++) {
        snprintf(text, sizeof text, "%s(%shybrid(%zu))", plan.algorithm->name, order, start >> halved);
        add(list, shape, f, text);
    }
    snprintf(text, sizeof text, "%s(%snt)", plan.algorithm->name, order);
    add(list, shape, f, text);
    snprintf(text, sizeof text, "%s(%splain)", plan.algorithm->name, order);
    add(list, shape, f, text);
}

/* Is a plan of the same algorithm among them, whatever its arguments? */
static bool has_kin(const struct list *list, const char *text) {
    size_t length = strcspn(text, "(");
    for (int i = 0; i < list->count; i++)
        if (strcspn(list->texts[i], "(") == length && memcmp(list->texts[i], text, length) == 0) return true;
    return false;
}

/* Over several nodes: of each algorithm the plan that the model thinks most of, unless it knows the network and thinks very little
 * of it. The model errs about algorithms more than about arguments. */
static void add_far(struct list *list, const struct shape *shape, const struct figures *f, bool all) {
    struct candidate candidates[most_candidates];
    int count = plan_candidates(f, shape, candidates, most_candidates);
    static const double most_times = 3;
    double most = f->network.measured ? most_times * candidates[0].seconds : INFINITY;
    for (int i = 0; i < count && candidates[i].seconds >= 0 && candidates[i].seconds <= most; i++)
        if (!has_kin(list, candidates[i].text)) add(list, shape, f, candidates[i].text);
    for (int i = 0; i < count && all; i++) add(list, shape, f, candidates[i].text);
}

int plan_rivals(const struct figures *f, const struct shape *shape, bool in_reach, const char *choice, bool all, char texts[][64],
                int most) {
    struct list list = {texts, 0, most};
    char text[64];
    add(&list, shape, f, choice);
    add(&list, shape, f, "native");
    if (f->where != ON_NODE) {
        add_far(&list, shape, f, all);
        return list.count;
    }
    if (in_reach && strncmp(choice, "pull(", 5) == 0 && strncmp(choice, "pull(rows", 9) != 0) add(&list, shape, f, "pull(rows)");
    /* Where ranks come at different times, calls that do not hold them together win whatever the cost model says. */
    for (int a = 0; a < ALGORITHMS; a++)
        if (algorithms[a].code->loose) add(&list, shape, f, algorithms[a].name);
    if (in_reach) add_copiers(&list, shape, f, choice);
    for (int a = 0; a < ALGORITHMS && all && in_reach; a++) {
        add(&list, shape, f, algorithms[a].name);
        if (!strstr(algorithms[a].takes, "order")) continue;
        for (int o = 0; o < ORDERS; o++) {
            snprintf(text, sizeof text, "%s(%s)", algorithms[a].name, orders[o].name);
            if (!orders[o].nests) add(&list, shape, f, text);
        }
        snprintf(text, sizeof text, "%s(nt)", algorithms[a].name); /* the narrower ones are there for comparison */
        add(&list, shape, f, text);
    }
    if (in_reach || among(shape->collective, NEIGHBORS)) return list.count;
    add(&list, shape, f, "cico");
    if (is_vector(shape->collective)) { /* sees to what is out of reach by itself, without paths */
        add(&list, shape, f, "pull(rows)");
        return list.count;
    }
    for (int path = 0; path < PATHS; path++) { /* one that does not work between these ranks cannot be prepared */
        snprintf(text, sizeof text, "pull(%s)", paths[path].name);
        if (paths[path].code->open) add(&list, shape, f, text);
    }
    return list.count;
}
