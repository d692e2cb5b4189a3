/* SPDX-License-Identifier: BSD-3-Clause */
/* text - plans as text: name, or name(argument, ...). Each argument is recognised by what it is (an order's name, a kernel's name,
 * a number of bytes), so that arguments that keep their default can be left out. */
#include "plan/plan.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

/* Bytes of a second level cache that the system tells nothing about. */
enum { unknown_cache = 1 << 20 };

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

static int order_named(const char *name) {
    for (int o = 0; o < ORDERS; o++)
        if (strcmp(orders[o].name, name) == 0) return o;
    return -1;
}

static int kernel_named(const char *name) {
    for (int k = 0; k < KERNELS; k++)
        if (strcmp(kernels[k].name, name) == 0 && (!kernels[k].usable || kernels[k].usable())) return k;
    return -1;
}

/* name, or name(inner) with the order that it is made of: morton, unless said otherwise. */
static bool read_order(const char *name, const char *inner, struct walk *walk) {
    int order = order_named(name), nested = *inner ? order_named(inner) : 0;
    if (order >= 0 && orders[order].nests && !*inner) nested = ORDER_morton;
    if (order < 0 || nested < 0 || (*inner && !orders[order].nests) || orders[nested].nests) return false;
    *walk = (struct walk){(enum order_id)order, (enum order_id)nested};
    return true;
}

/* A path to buffers outside the shared heap. */
static bool read_path(const char *name, const char *inner, enum path_id *path) {
    for (int p = 0; p < PATHS; p++) {
        if (strcmp(paths[p].name, name) != 0 || *inner || (p > 0 && !paths[p].code->open)) continue;
        *path = (enum path_id)p;
        return true;
    }
    return false;
}

/* A kernel's name, or hybrid(bytes copied plainly before nt takes over), or hybrid, where plan_settle puts in the bytes. */
static bool read_kernel(const char *name, const char *inner, struct copier *copier) {
    int kernel = kernel_named(name);
    if (strcmp(name, "hybrid") == 0) {
        uint64_t bytes = HYBRID_START;
        if ((*inner && parse_bytes(inner, &bytes) != 0) || bytes == 0 || !kernels[KERNEL_nt].usable()) return false;
        *copier = (struct copier){.kernel = KERNEL_nt, .plain = bytes};
        return true;
    }
    if (kernel < 0 || *inner) return false;
    *copier = (struct copier){.kernel = (enum kernel_id)kernel};
    return true;
}

static bool argument(const char *name, const char *inner, struct plan *plan) {
    const struct algorithm *algorithm = plan->algorithm;
    struct arguments *arguments = &plan->arguments;
    uint64_t bytes;
    if (takes(algorithm, "order") && read_order(name, inner, &arguments->walk)) return true;
    if (takes(algorithm, "kernel") && read_kernel(name, inner, &arguments->copier)) return true;
    if (takes(algorithm, "path") && read_path(name, inner, &arguments->path)) return true;
    if (!takes(algorithm, "chunk") || *inner || parse_bytes(name, &bytes) != 0 || bytes == 0) return false;
    arguments->chunk = bytes;
    return true;
}

static int print_copier(char *at, size_t size, const struct copier *copier) {
    if (copier->plain == 0) return snprintf(at, size, "%s", kernels[copier->kernel].name);
    if (copier->plain == HYBRID_START) return snprintf(at, size, "hybrid");
    return snprintf(at, size, "hybrid(%zu)", copier->plain);
}

static void print(struct plan *plan) {
    const struct algorithm *algorithm = plan->algorithm;
    const struct arguments *arguments = &plan->arguments;
    char *end = plan->text + sizeof plan->text, *at = plan->text;
    at += snprintf(at, (size_t)(end - at), "%s", algorithm->name);
    if (takes(algorithm, "order")) {
        const struct order *order = &orders[arguments->walk.order];
        at += snprintf(at, (size_t)(end - at), "(%s", order->name);
        if (order->nests) at += snprintf(at, (size_t)(end - at), "(%s)", orders[arguments->walk.inner].name);
        at += snprintf(at, (size_t)(end - at), ", ");
        at += print_copier(at, (size_t)(end - at), &arguments->copier);
        if (arguments->path) at += snprintf(at, (size_t)(end - at), ", %s", paths[arguments->path].name);
        snprintf(at, (size_t)(end - at), ")");
    } else if (arguments->chunk) {
        snprintf(at, (size_t)(end - at), "(%zu)", arguments->chunk);
    } else if (arguments->copier.kernel || arguments->copier.plain) { /* without an order, plain copies go without saying */
        *at++ = '(';
        at += print_copier(at, (size_t)(end - at), &arguments->copier);
        snprintf(at, (size_t)(end - at), ")");
    }
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
            char inner[32] = "";
            size_t length = word(&at, name, sizeof name), nested = 1;
            if (length == 0 && *at == ')' && empty) break;
            empty = false;
            if (length > 0 && *at == '(') {
                at++;
                nested = word(&at, inner, sizeof inner);
                if (*at != ')') nested = 0;
                else at++, at += strspn(at, " \t");
            }
            if (length == 0 || nested == 0 || !argument(name, inner, plan)) {
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

size_t hybrid_bytes(const struct team *team) {
    size_t cache = team->l2_bytes ? team->l2_bytes : unknown_cache;
    return cache / (size_t)team->p > 0 ? cache / (size_t)team->p : 1;
}

void plan_settle(const struct team *team, struct plan *plan) {
    if (plan->arguments.copier.plain != HYBRID_START) return;
    plan->arguments.copier.plain = hybrid_bytes(team);
    print(plan);
}
