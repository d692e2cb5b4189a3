/* SPDX-License-Identifier: BSD-3-Clause */
/* candidates - the plans that `mortar tune` compares: those that the library says are worth it. Not
 * the whole product: on one node further copy kernels are tried only in the order that has won. */
#include "tune.h"

#include "base/base.h"
#include "copy/copy.h"
#include "order/order.h"

#include <stdio.h>
#include <string.h>

struct list {
    char (*texts)[plan_size];
    int count, most;
};

int candidates_given(const char *lines, char texts[][plan_size], int most) {
    struct list list = {texts, 1, most};
    strcpy(texts[0], "native");
    for (size_t length; *lines; lines += length + (lines[length] == '\n')) {
        length = strcspn(lines, "\n");
        if (length == 0 || length >= plan_size) return -1;
        bool native = length == 6 && memcmp(lines, "native", 6) == 0;
        if (native || list.count == list.most) continue;
        snprintf(texts[list.count++], plan_size, "%.*s", (int)length, lines);
    }
    return list.count;
}

/* The plan with another copier in the place of the first kernel. */
static void add_copier(struct list *list, const char *plan, const char *copier) {
    char usual[40];
    int length = snprintf(usual, sizeof usual, ", %s", kernels[0].name);
    const char *place = strstr(plan, usual);
    if (!place || list->count == list->most) return;
    int size = snprintf(list->texts[list->count], plan_size, "%.*s, %s%s", (int)(place - plan),
                        plan, copier, place + length);
    if (size < plan_size) list->count++;
}

/* hybrid stands for many plans: its first bytes are copied plainly. ramesh2024 section V-E begins
 * with L2 bytes / ranks and halves while that gains. */
int candidates_kernels(const char *plan, size_t bytes, int p, char texts[][plan_size], int most) {
    struct list list = {texts, 0, most};
    char text[40];
    bool hybrid = false;
    size_t first = machine_facts()->l2 / (size_t)p;
    for (int k = 1; k < KERNELS; k++) {
        if (kernels[k].usable && !kernels[k].usable()) continue;
        add_copier(&list, plan, kernels[k].name);
        hybrid = hybrid || strcmp(kernels[k].name, "nt") == 0;
    }
    for (size_t plain = first; hybrid && plain > 0 && plain >= first / 8; plain /= 2) {
        snprintf(text, sizeof text, "hybrid(%zu)", plain);
        if (plain < bytes) add_copier(&list, plan, text);
    }
    return list.count;
}
