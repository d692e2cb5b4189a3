/* SPDX-License-Identifier: BSD-3-Clause */
/* rivals - which plans are worth a try beside the one that the model chose. */
#include "plan/plan.h"

#include <stdio.h>
#include <string.h>

struct list {
    char (*texts)[64];
    int count, most;
};

/* Adds a plan by any of its texts, once, under its full text. */
static void add(struct list *list, const struct shape *shape, const struct team *team, const char *text) {
    struct plan plan;
    char why[192];
    if (list->count == list->most || plan_parse(text, &plan, why, sizeof why) != 0) return;
    if (!(plan.algorithm->collectives >> shape->collective & 1)) return;
    if (plan.algorithm->code->can && !plan.algorithm->code->can(team, shape)) return;
    for (int i = 0; i < list->count; i++)
        if (strcmp(list->texts[i], plan.text) == 0) return;
    memcpy(list->texts[list->count++], plan.text, sizeof plan.text);
}

int plan_rivals(const struct team *team, const struct shape *shape, bool in_reach, const char *choice, bool all, char texts[][64],
                int most) {
    struct list list = {texts, 0, most};
    char text[64];
    add(&list, shape, team, choice);
    add(&list, shape, team, "native");
    for (int a = 0; a < ALGORITHMS && all && in_reach; a++) {
        add(&list, shape, team, algorithms[a].name);
        if (!strstr(algorithms[a].takes, "order")) continue;
        for (int o = 0; o < ORDERS; o++) {
            snprintf(text, sizeof text, "%s(%s)", algorithms[a].name, orders[o].name);
            if (!orders[o].nests) add(&list, shape, team, text);
        }
        for (int k = 0; k < KERNELS; k++) {
            snprintf(text, sizeof text, "%s(%s)", algorithms[a].name, kernels[k].name);
            add(&list, shape, team, text);
        }
    }
    if (in_reach) return list.count;
    add(&list, shape, team, "cico");
    for (int path = 0; path < PATHS; path++) { /* one that does not work between these ranks cannot be prepared */
        snprintf(text, sizeof text, "pull(%s)", paths[path].name);
        if (paths[path].code->open) add(&list, shape, team, text);
    }
    return list.count;
}
