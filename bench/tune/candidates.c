/* SPDX-License-Identifier: BSD-3-Clause */
/* candidates - the plans that `mortar tune` compares. On one node it enumerates the library's tables, so that a new row takes part
 * by itself. Not the whole product: orders first, with the default copy kernel; the kernels only with the order that has won. Over
 * several nodes plans are made of plans, and the library says which of them are worth it. */
#include "tune.h"

#include "base/base.h"
#include "copy/copy.h"
#include "order/order.h"

#include <stdio.h>
#include <string.h>

enum {
#define COLLECTIVE(name, ...) COLL_##name,
#include "coll/collectives.h"
#undef COLLECTIVE
    COLLECTIVES
};
static const char *const collectives[] = {
#define COLLECTIVE(name, ...) #name,
#include "coll/collectives.h"
#undef COLLECTIVE
};
static const struct {
    const char *name, *takes;
    unsigned collectives;
} algorithms[] = {
#define ALGORITHM(name, collectives, takes, about) {#name, takes, collectives},
#include "coll/list.h"
#undef ALGORITHM
};
enum { count_of_algorithms = sizeof algorithms / sizeof *algorithms };
static const char *const paths[] = {
#define PATH(name, about) #name,
#include "reach/list.h"
#undef PATH
};
enum { count_of_paths = sizeof paths / sizeof *paths };

struct list {
    char (*texts)[plan_size];
    int count, most;
};

static void add(struct list *list, const char *algorithm, const char *arguments) {
    if (list->count == list->most) return;
    int length = snprintf(list->texts[list->count], plan_size, *arguments ? "%s(%s)" : "%s", algorithm, arguments);
    if (length < plan_size) list->count++;
}

/* In every order; path "": none is named. */
static void add_orders(struct list *list, const char *algorithm, const char *path) {
    char text[128];
    const char *comma = *path ? ", " : "";
    bool domains = machine_domain_kind() != DOMAIN_KINDS; /* an order that nests is its inner one where there is one domain */
    for (int o = 0; o < ORDERS; o++)
        for (int inner = 0; inner < (orders[o].nests ? (int)ORDERS : 1); inner++) {
            if (orders[o].nests && (!domains || orders[inner].nests)) continue;
            if (orders[o].nests)
                snprintf(text, sizeof text, "%s(%s), %s%s%s", orders[o].name, orders[inner].name, kernels[0].name, comma, path);
            else snprintf(text, sizeof text, "%s, %s%s%s", orders[o].name, kernels[0].name, comma, path);
            add(list, algorithm, text);
        }
}

/* Not those that need another plan inside: they are for several nodes. */
static void add_algorithm(struct list *list, const char *name, const char *takes, bool outside) {
    if (strstr(takes, "inner")) return;
    if (!strstr(takes, "order")) {
        add(list, name, "");
        return;
    }
    if (!outside || !strstr(takes, "path")) add_orders(list, name, "");
    /* One that does not work between these ranks runs natively, which is seen. Stage is what cico does. */
    for (int path = 0; outside && strstr(takes, "path") && path < count_of_paths; path++)
        if (strcmp(paths[path], "stage") != 0 && strcmp(paths[path], "heap") != 0) add_orders(list, name, paths[path]);
}

int candidates_first(const char *collective, bool outside, char texts[][plan_size], int most) {
    struct list list = {texts, 0, most};
    int c = 0;
    while (c < COLLECTIVES && strcmp(collectives[c], collective) != 0) c++;
    add(&list, "native", "");
    for (int a = 0; c < COLLECTIVES && a < count_of_algorithms; a++)
        if (strcmp(algorithms[a].name, "native") != 0 && (algorithms[a].collectives >> c & 1))
            add_algorithm(&list, algorithms[a].name, algorithms[a].takes, outside);
    return list.count;
}

int candidates_given(const char *lines, char texts[][plan_size], int most) {
    struct list list = {texts, 0, most < most_asked ? most : most_asked};
    add(&list, "native", "");
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
    int size = snprintf(list->texts[list->count], plan_size, "%.*s, %s%s", (int)(place - plan), plan, copier, place + length);
    if (size < plan_size) list->count++;
}

/* hybrid stands for many plans: its first bytes are copied plainly. ramesh2024 section V-E begins with L2 bytes / ranks and halves
 * while that gains. */
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
