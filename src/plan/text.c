/* SPDX-License-Identifier: BSD-3-Clause */
/* text - plans as text: name, or name(argument, ...). Each argument is recognised by what it is (an order's name, a kernel's name,
 * a number of bytes), so that arguments that keep their default can be left out. */
#include "plan/plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static size_t word(const char **text, char *out, size_t size) {
    *text += strspn(*text, " \t");
    size_t length = strcspn(*text, " \t(),");
    if (length < size) memcpy(out, *text, length), out[length] = 0;
    else *out = 0;
    *text += length;
    *text += strspn(*text, " \t");
    return length;
}

static const struct algorithm *algorithm_named(const char *name) {
    for (int a = 0; a < ALGORITHMS; a++)
        if (strcmp(algorithms[a].name, name) == 0) return &algorithms[a];
    return NULL;
}

static bool takes(const struct algorithm *algorithm, const char *what) { return strstr(algorithm->takes, what) != NULL; }

static bool argument(const char *text, struct plan *plan) {
    const struct algorithm *algorithm = plan->algorithm;
    for (int o = 0; o < ORDERS && takes(algorithm, "order"); o++)
        if (strcmp(orders[o].name, text) == 0) return plan->arguments.order = (enum order_id)o, true;
    for (int k = 0; k < KERNELS && takes(algorithm, "kernel"); k++)
        if (strcmp(kernels[k].name, text) == 0) return plan->arguments.kernel = (enum kernel_id)k, true;
    uint64_t bytes;
    if (takes(algorithm, "chunk") && parse_bytes(text, &bytes) == 0 && bytes > 0) return plan->arguments.chunk = bytes, true;
    return false;
}

static void print(struct plan *plan) {
    const struct algorithm *algorithm = plan->algorithm;
    const struct arguments *arguments = &plan->arguments;
    char *end = plan->text + sizeof plan->text, *at = plan->text;
    at += snprintf(at, (size_t)(end - at), "%s", algorithm->name);
    if (takes(algorithm, "order"))
        snprintf(at, (size_t)(end - at), "(%s, %s)", orders[arguments->order].name, kernels[arguments->kernel].name);
    else if (arguments->chunk) snprintf(at, (size_t)(end - at), "(%zu)", arguments->chunk);
}

int plan_parse(const char *text, struct plan *plan, char *why, size_t size) {
    char name[32];
    const char *at = text;
    *plan = (struct plan){0};
    word(&at, name, sizeof name);
    plan->algorithm = algorithm_named(name);
    if (!plan->algorithm) {
        snprintf(why, size, "\"%s\" is no plan: expected an algorithm (`mortar info` lists them)", text);
        return -EINVAL;
    }
    if (*at == '(') {
        bool empty = true;
        do {
            at++;
            size_t length = word(&at, name, sizeof name);
            if (length == 0 && *at == ')' && empty) break;
            empty = false;
            if (length == 0 || !argument(name, plan)) {
                snprintf(why, size, "\"%s\" is no plan: %s takes (%s), not \"%s\"", text, plan->algorithm->name,
                         plan->algorithm->takes, name);
                return -EINVAL;
            }
        } while (*at == ',');
        if (*at++ != ')') {
            snprintf(why, size, "\"%s\" is no plan: expected a closing parenthesis", text);
            return -EINVAL;
        }
        at += strspn(at, " \t");
    }
    if (*at) {
        snprintf(why, size, "\"%s\" is no plan: \"%s\" is left over", text, at);
        return -EINVAL;
    }
    print(plan);
    return 0;
}
