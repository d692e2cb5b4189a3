/* SPDX-License-Identifier: BSD-3-Clause */
/* text - plans as text: name, or name(argument, ...). Each argument is recognised by its form (the
 * name of an order or a kernel, a number of bytes), so arguments with their default value can be
 * left out. */
#include "plan/plan.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Assumed bytes of the second level cache if the system does not tell. */
enum { unknown_cache = 1 << 20 };

static void word(const char **text, char *out, size_t size) {
    *text += strspn(*text, " \t");
    size_t length = strcspn(*text, " \t(),");
    if (length < size) memcpy(out, *text, length), out[length] = 0;
    else *out = 0;
    *text += length;
    *text += strspn(*text, " \t");
}

static const struct algorithm *algorithm_named(const char *name) {
    for (int a = 0; a < ALGORITHMS; a++)
        if (strcmp(algorithms[a].name, name) == 0) return &algorithms[a];
    return NULL;
}

static bool takes(const struct algorithm *algorithm, const char *what) {
    return strstr(algorithm->takes, what) != NULL;
}

static int order_named(const char *name) {
    for (int o = 0; o < ORDERS; o++)
        if (strcmp(orders[o].name, name) == 0) return o;
    return -1;
}

static int kernel_named(const char *name) {
    for (int k = 0; k < KERNELS; k++)
        if (strcmp(kernels[k].name, name) == 0 && kernels[k].usable()) return k;
    return -1;
}

/* An order: name, or name(inner) for one that nests. The default inner order is morton. */
static bool read_order(const char *name, const char *inner, struct walk *walk) {
    int order = order_named(name), nested = *inner ? order_named(inner) : 0;
    if (order >= 0 && orders[order].nests && !*inner) nested = ORDER_morton;
    if (order < 0 || nested < 0 || (*inner && !orders[order].nests) || orders[nested].nests)
        return false;
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

/* A kernel's name, or hybrid(bytes copied plainly before nt takes over), or hybrid, where
 * plan_settle puts in the bytes. */
static bool read_kernel(const char *name, const char *inner, struct copier *copier) {
    int kernel = kernel_named(name);
    if (strcmp(name, "hybrid") == 0) {
        uint64_t bytes = HYBRID_START;
        if ((*inner && parse_bytes(inner, &bytes) != 0) || bytes == 0 ||
            !kernels[KERNEL_nt].usable())
            return false;
        *copier = (struct copier){.kernel = KERNEL_nt, .plain = bytes};
        return true;
    }
    if (kernel < 0 || *inner) return false;
    *copier = (struct copier){.kernel = (enum kernel_id)kernel};
    return true;
}

/* ---- routines: plans inside plans. Each text is kept once and never freed ---- */

static struct kept_routine {
    struct routine routine;
    struct kept_routine *next;
} *kept;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static const struct routine *keep_routine(const struct plan *plan) {
    pthread_mutex_lock(&lock);
    struct kept_routine *at = kept;
    while (at && strcmp(at->routine.text, plan->text) != 0) at = at->next;
    if (!at && (at = calloc(1, sizeof *at))) {
        at->routine = (struct routine){.algorithm = plan->algorithm, .arguments = plan->arguments};
        memcpy(at->routine.text, plan->text, sizeof plan->text);
        at->next = kept;
        kept = at;
    }
    pthread_mutex_unlock(&lock);
    return at ? &at->routine : NULL;
}

/* The first routine is for the lanes, the second for inside the nodes. */
static bool read_routine(const char *text, const struct algorithm *outer,
                         struct arguments *arguments) {
    struct plan plan;
    if (plan_parse(text, &plan, NULL, 0) != 0) return false;
    bool local = plan.algorithm->code->run && plan.algorithm->code->where == ON_NODE;
    const struct routine **place = local ? &arguments->local : &arguments->inner;
    if (!takes(outer, local ? "local" : "inner") || *place ||
        plan.algorithm->code->where == OVER_NODES)
        return false;
    *place = keep_routine(&plan);
    return *place != NULL;
}

static bool read_owners(const char *name, enum owners *owners) {
    if (strcmp(name, "rows") != 0 && strcmp(name, "morton") != 0) return false;
    *owners = *name == 'm' ? OWNERS_morton : OWNERS_rows;
    return true;
}

static bool argument(const char *text, const char *name, const char *inner, struct plan *plan) {
    const struct algorithm *algorithm = plan->algorithm;
    struct arguments *arguments = &plan->arguments;
    uint64_t bytes;
    if (takes(algorithm, "owners") && !*inner && read_owners(name, &arguments->owners)) return true;
    if (takes(algorithm, "number") && !*inner && *name >= '1' && *name <= '9') {
        char *end;
        unsigned long number = strtoul(name, &end, 10);
        arguments->number = (unsigned)number;
        return *end == 0 && number < 1 << 20;
    }
    if ((takes(algorithm, "inner") || takes(algorithm, "local")) &&
        read_routine(text, algorithm, arguments))
        return true;
    if (takes(algorithm, "order") && read_order(name, inner, &arguments->walk)) return true;
    if (takes(algorithm, "kernel") && read_kernel(name, inner, &arguments->copier)) return true;
    if (takes(algorithm, "path") && read_path(name, inner, &arguments->path)) return true;
    if (!takes(algorithm, "chunk") || *inner || parse_bytes(name, &bytes) != 0 || bytes == 0)
        return false;
    arguments->chunk = bytes;
    return true;
}

static int print_copier(char *at, size_t size, const struct copier *copier) {
    if (copier->plain == 0) return snprintf(at, size, "%s", kernels[copier->kernel].name);
    if (copier->plain == HYBRID_START) return snprintf(at, size, "hybrid");
    return snprintf(at, size, "hybrid(%zu)", copier->plain);
}

/* Appends one argument, with its separator in front. */
__attribute__((format(printf, 3, 4))) static void append(struct plan *plan, bool *first,
                                                         const char *format, ...) {
    size_t length = strlen(plan->text);
    char *at = plan->text + length, *end = plan->text + sizeof plan->text;
    at += snprintf(at, (size_t)(end - at), "%s", *first ? "(" : ", ");
    if (at > end) at = end;
    va_list list;
    va_start(list, format);
    vsnprintf(at, (size_t)(end - at), format, list);
    va_end(list);
    *first = false;
}

/* False: the text does not fit. */
static bool text_print(struct plan *plan) {
    const struct algorithm *algorithm = plan->algorithm;
    const struct arguments *arguments = &plan->arguments;
    bool first = true, walks = takes(algorithm, "order");
    char copier[32];
    snprintf(plan->text, sizeof plan->text, "%s", algorithm->name);
    if (walks) {
        const struct order *order = &orders[arguments->walk.order];
        const char *inner = order->nests ? orders[arguments->walk.inner].name : "";
        if (*inner) append(plan, &first, "%s(%s)", order->name, inner);
        else append(plan, &first, "%s", order->name);
    }
    if (arguments->number) append(plan, &first, "%u", arguments->number);
    if (takes(algorithm, "owners"))
        append(plan, &first, "%s", arguments->owners == OWNERS_morton ? "morton" : "rows");
    if (arguments->inner) append(plan, &first, "%s", arguments->inner->text);
    if (arguments->local) append(plan, &first, "%s", arguments->local->text);
    print_copier(copier, sizeof copier, &arguments->copier);
    /* Without an order the plain copier, the default, is left out. */
    if (walks || arguments->copier.kernel || arguments->copier.plain)
        append(plan, &first, "%s", copier);
    if (arguments->path) append(plan, &first, "%s", paths[arguments->path].name);
    if (arguments->chunk) append(plan, &first, "%zu", arguments->chunk);
    size_t length = strlen(plan->text);
    if (!first && length + 1 < sizeof plan->text) memcpy(plan->text + length, ")", 2);
    return first || length + 1 < sizeof plan->text;
}

/* Cuts the next argument out of a list, up to its comma or the closing parenthesis. whole: all of
 * it; name: its name; inner: what is in parentheses after the name. False: it is malformed. */
static bool next_argument(const char **text, char whole[64], char name[32], char inner[64]) {
    const char *start = *text + strspn(*text, " \t"), *end = start;
    for (int depth = 0; *end && (depth > 0 || (*end != ',' && *end != ')')); end++)
        depth += (*end == '(') - (*end == ')');
    *text = end;
    while (end > start && (end[-1] == ' ' || end[-1] == '\t')) end--;
    size_t length = (size_t)(end - start), head = strcspn(start, " \t(,)");
    *inner = 0;
    if (head == 0 || head > 31 || length > 63) return false;
    memcpy(whole, start, length);
    whole[length] = 0;
    memcpy(name, start, head);
    name[head] = 0;
    if (head == length) return true;
    const char *at = start + head + strspn(start + head, " \t");
    if (*at != '(' || end[-1] != ')') return false;
    at++;
    at += strspn(at, " \t");
    for (end--; end > at && (end[-1] == ' ' || end[-1] == '\t'); end--) {}
    memcpy(inner, at, (size_t)(end - at));
    inner[end - at] = 0;
    return end > at;
}

/* "(argument, ...)" or "()". */
static int read_arguments(const char *text, const char **at, struct plan *plan, char *why,
                          size_t size) {
    char whole[64], name[32], inner[64];
    const char *rest = *at + 1 + strspn(*at + 1, " \t");
    if (*rest == ')') {
        *at = rest + 1;
        return 0;
    }
    do {
        const char *start = ++*at;
        if (next_argument(at, whole, name, inner) && argument(whole, name, inner, plan)) continue;
        start += strspn(start, " \t");
        snprintf(why, size, "\"%s\" is no plan: %s takes (%s), not \"%.*s\"", text,
                 plan->algorithm->name, plan->algorithm->takes, (int)(*at - start), start);
        return -EINVAL;
    } while (**at == ',');
    if (*(*at)++ == ')') return 0;
    snprintf(why, size, "\"%s\" is no plan: expected a closing parenthesis", text);
    return -EINVAL;
}

int plan_parse(const char *text, struct plan *plan, char *why, size_t size) {
    char name[32];
    const char *at = text;
    *plan = (struct plan){0};
    word(&at, name, sizeof name);
    plan->algorithm = algorithm_named(name);
    if (!plan->algorithm) {
        snprintf(why, size, "\"%s\" is no plan: expected an algorithm (`mortar info` lists them)",
                 text);
        return -EINVAL;
    }
    if (*at == '(' && read_arguments(text, &at, plan, why, size) != 0) return -EINVAL;
    at += strspn(at, " \t");
    if (*at) {
        snprintf(why, size, "\"%s\" is no plan: \"%s\" is left over", text, at);
        return -EINVAL;
    }
    if (takes(plan->algorithm, "inner") && !plan->arguments.inner) {
        snprintf(why, size,
                 "\"%s\" is no plan: %s needs what runs among the nodes, for instance %s(native)",
                 text, name, name);
        return -EINVAL;
    }
    if (text_print(plan)) return 0;
    snprintf(why, size, "\"%s\" is too long for a plan", text);
    return -EINVAL;
}

size_t hybrid_bytes(const struct figures *f) {
    size_t cache = f->l2_bytes ? f->l2_bytes : unknown_cache;
    return cache / (size_t)f->p > 0 ? cache / (size_t)f->p : 1;
}

void plan_settle(const struct figures *f, struct plan *plan) {
    if (plan->arguments.copier.plain != HYBRID_START) return;
    plan->arguments.copier.plain = hybrid_bytes(f);
    text_print(plan);
}
