/* SPDX-License-Identifier: BSD-3-Clause */
/* text - plans as text: every plan that can be written reads back as itself, with its arguments in
 * any order and with any of them left out; what is no plan is refused with a sentence that quotes
 * it; random texts never do harm. */
#include "plan/plan.h"

#include "unit.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

static struct plan parsed(const char *text) {
    struct plan plan;
    char why[192] = "";
    int error = plan_parse(text, &plan, why, sizeof why);
    expect(error == 0, "plan_parse(\"%s\") = %d: %s", text, error, why);
    return plan;
}

static bool same(const struct plan *a, const struct plan *b) {
    return a->algorithm == b->algorithm && a->arguments.walk.order == b->arguments.walk.order &&
           a->arguments.walk.inner == b->arguments.walk.inner &&
           a->arguments.copier.kernel == b->arguments.copier.kernel &&
           a->arguments.copier.plain == b->arguments.copier.plain &&
           a->arguments.chunk == b->arguments.chunk && a->arguments.path == b->arguments.path &&
           strcmp(a->text, b->text) == 0;
}

/* The text is the plan that it was written for, and the plan's own text reads back as the same
 * plan. */
static void check_plan(const char *text, const struct algorithm *algorithm,
                       const struct arguments *arguments) {
    struct plan plan = parsed(text), again = parsed(plan.text);
    struct arguments got = plan.arguments;
    expect(plan.algorithm == algorithm && got.walk.order == arguments->walk.order &&
               got.walk.inner == arguments->walk.inner &&
               got.copier.kernel == arguments->copier.kernel && got.chunk == arguments->chunk &&
               got.path == arguments->path && !plan.reason,
           "\"%s\" was read as %s, order %d(%d), kernel %d, chunk %zu, path %d", text,
           plan.algorithm->name, (int)got.walk.order, (int)got.walk.inner, (int)got.copier.kernel,
           got.chunk, (int)got.path);
    expect(same(&plan, &again), "\"%s\" is printed as \"%s\" and then as \"%s\"", text, plan.text,
           again.text);
}

/* Writes the words in all ways: the k-th of count! orders, with or without blanks. */
static void in_every_order(const char *name, const char **words, int count,
                           const struct algorithm *algorithm, const struct arguments *arguments) {
    static const char *const style[][4] = {{"", "(", ",", ")"}, {" ", " ( ", " , ", " )\t"}};
    int ways = 1;
    for (int i = 2; i <= count; i++) ways *= i;
    for (int way = 0; way < ways; way++) {
        const char *left[4];
        for (int s = 0; s < 2; s++) {
            char text[128];
            int at = snprintf(text, sizeof text, "%s%s%s", style[s][0], name, style[s][1]),
                rest = way;
            memcpy(left, words, (size_t)count * sizeof *words);
            for (int i = count; i > 0; i--) {
                int pick = rest % i;
                rest /= i;
                at += snprintf(text + at, sizeof text - (size_t)at, "%s%s",
                               i < count ? style[s][2] : "", left[pick]);
                left[pick] = left[i - 1];
            }
            snprintf(text + at, sizeof text - (size_t)at, "%s", style[s][3]);
            check_plan(text, algorithm, arguments);
        }
    }
}

static bool takes(const struct algorithm *algorithm, const char *what) {
    return strstr(algorithm->takes, what) != NULL;
}

/* The walks: every order, and those that nest with every order inside, or none, which means morton.
 * False at the end. */
static bool next_walk(int number, struct walk *walk, char text[64]) {
    static const char *const spaces[] = {"%s(%s)", "%s ( %s )"};
    for (int o = 0; o < ORDERS; o++) {
        if (number == 0) {
            *walk = (struct walk){(enum order_id)o, orders[o].nests ? ORDER_morton : 0};
            return snprintf(text, 64, "%s", orders[o].name) > 0;
        }
        number--;
        for (int inner = 0; inner < ORDERS && orders[o].nests; inner++) {
            if (orders[inner].nests || number-- > 0) continue;
            *walk = (struct walk){(enum order_id)o, (enum order_id)inner};
            return snprintf(text, 64, spaces[inner % 2], orders[o].name, orders[inner].name) > 0;
        }
    }
    return false;
}

/* A chunk or a path: no algorithm takes both. */
static int values_of_third(const struct algorithm *algorithm) {
    return takes(algorithm, "chunk") ? 5 : takes(algorithm, "path") ? (int)PATHS : 0;
}

/* Every algorithm with every value of each argument that it takes, and with each of them left
 * out. */
static int every_plan(void) {
    static const struct {
        const char *text;
        size_t bytes;
    } chunks[] = {{"1", 1},
                  {"192", 192},
                  {"4K", 4096},
                  {"1M", 1 << 20},
                  {"1152921504606846975", 1152921504606846975}};
    int plans = 0;
    char order[64];
    struct walk walk = {0};
    for (int a = 0; a < ALGORITHMS; a++)
        for (int o = takes(&algorithms[a], "inner") ? 0 : -1; /* these need another in them */
             o < 0 || (takes(&algorithms[a], "order") && next_walk(o, &walk, order)); o++)
            for (int k = -1; k < (takes(&algorithms[a], "kernel") ? (int)KERNELS : 0); k++) {
                if (k >= 0 && !kernels[k].usable()) continue;
                for (int c = -1; c < (values_of_third(&algorithms[a])); c++) {
                    struct arguments arguments = {0};
                    const char *words[4];
                    int count = 0, chunk = takes(&algorithms[a], "chunk");
                    /* Plans do not name it. */
                    if (c > 0 && !chunk && !paths[c].code->open) continue;
                    if (o >= 0) words[count++] = order, arguments.walk = walk;
                    if (k >= 0)
                        words[count++] = kernels[k].name,
                        arguments.copier.kernel = (enum kernel_id)k;
                    if (c >= 0 && chunk)
                        words[count++] = chunks[c].text, arguments.chunk = chunks[c].bytes;
                    if (c >= 0 && !chunk)
                        words[count++] = paths[c].name, arguments.path = (enum path_id)c;
                    plans++;
                    if (count == 0) check_plan(algorithms[a].name, &algorithms[a], &arguments);
                    in_every_order(algorithms[a].name, words, count, &algorithms[a], &arguments);
                }
            }
    return plans;
}

static void spelling(void) {
    static const struct {
        const char *text, *full;
    } cases[] = {{"native", "native"},
                 {"pull", "pull(rows, plain)"},
                 {"pull()", "pull(rows, plain)"},
                 {"pull(plain)", "pull(rows, plain)"},
                 {"pull(morton)", "pull(morton, plain)"},
                 {"pull(numa)", "pull(numa(morton), plain)"},
                 {"pull(plain, numa(hilbert))", "pull(numa(hilbert), plain)"},
                 {" pull ( numa ( rows ) , plain ) ", "pull(numa(rows), plain)"},
                 {"cico", "cico"},
                 {"cico(4K)", "cico(4096)"},
                 {"pull(stage)", "pull(rows, plain)"},
                 {"pull(cma)", "pull(rows, plain, cma)"},
                 {"pull(hybrid(4K))", "pull(rows, hybrid(4096))"},
                 {"pull( hybrid ( 7 ) , morton,cma)", "pull(morton, hybrid(7), cma)"},
                 {"pull(hybrid)", "pull(rows, hybrid)"},
                 {"pull(hybrid(4K), plain)", "pull(rows, plain)"}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct plan plan = parsed(cases[i].text);
        expect(strcmp(plan.text, cases[i].full) == 0, "\"%s\" is printed as \"%s\", not \"%s\"",
               cases[i].text, plan.text, cases[i].full);
    }
}

/* A plain `hybrid` takes its bytes from the team, in the text as well; bytes that were said
 * stay. */
static void settled(void) {
    struct figures figures = {.p = 3, .l2_bytes = 3 << 16};
    struct plan plan = parsed("pull(morton, hybrid)");
    plan_settle(&figures, &plan);
    expect(plan.arguments.copier.plain == 65536 &&
               strcmp(plan.text, "pull(morton, hybrid(65536))") == 0,
           "%s", plan.text);
    figures.l2_bytes = 0; /* unknown */
    expect(hybrid_bytes(&figures) > 1024 && hybrid_bytes(&figures) < 1 << 20, "%zu",
           hybrid_bytes(&figures));
    plan_settle(&figures, &plan);
    expect(plan.arguments.copier.plain == 65536, "%s", plan.text);
}

/* Rivals are native, the first order where another one is usual, and of blocks longer than the
 * threshold the usual order with it, halved, with nt and with plain; not where buffers are out of
 * reach. */
static void copiers_among_the_rivals(void) {
    struct figures figures = figures_of_node(32);
    struct shape shape = {.collective = COLL_alltoall, .bytes = 65536};
    figures.processors = 2;
    figures.l2_bytes = 32 << 16;
    figures.l3_bytes = (size_t)1 << 40; /* nothing overflows it, so plain copies are usual */
    figures.slot = 64 << 10;
    const char *expected[] = {"pull(spread, plain)",         "native",
                              "pull(rows, plain)",           "pull(spread, hybrid(65536))",
                              "pull(spread, hybrid(32768))", "pull(spread, hybrid(16384))",
                              "pull(spread, hybrid(8192))",  "pull(spread, nt)"};
    static struct candidate room[most_candidates];
    char texts[24][64];
    expect(plan_rivals(&figures, &shape, true, expected[0], RIVALS_likely, room, texts, 24) == 3,
           "short blocks have other rivals");
    shape.bytes++;
    expect(plan_rivals(&figures, &shape, false, "cico", RIVALS_likely, room, texts, 24) >= 2 &&
               !strstr(texts[2], "hybrid"),
           "out of reach: %s", texts[2]);
    int count = plan_rivals(&figures, &shape, true, expected[0], RIVALS_likely, room, texts, 24);
    expect(count == 8, "%d rivals", count);
    for (int i = 0; i < count; i++)
        expect(strcmp(texts[i], expected[i]) == 0, "rival %d is %s", i, texts[i]);
}

/* What pull is by default for so many ranks on so many processors in so many memory domains. */
static void pulls(enum collective collective, int p, int processors, uint32_t domains,
                  const char *expected) {
    static struct candidate list[most_candidates];
    struct figures figures = figures_of_node(p);
    struct shape shape = {.collective = collective, .bytes = 4096};
    figures.processors = processors;
    figures.domains = domains;
    figures.slot = 64 << 10;
    int count = plan_candidates(&figures, &shape, true, list), i = 0;
    while (i < count && (list[i].variant != USUAL || strncmp(list[i].text, "pull", 4) != 0)) i++;
    expect(i < count && strcmp(list[i].text, expected) == 0,
           "%s of %d ranks, %d processors, %u domains: %s", collective_names[collective], p,
           processors, domains, i < count ? list[i].text : "none");
}

/* Ranks write into buffers of others only where blocks have types. */
static void usual_orders(void) {
    pulls(COLL_alltoall, 8, 8, 1, "pull(rows, plain)");
    pulls(COLL_alltoall, 8, 8, 2, "pull(spread, plain)");
    pulls(COLL_allgatherv, 48, 48, 1, "pull(spread, plain)");
    pulls(COLL_allgather, 96, 96, 2, "pull(spread, plain)");
    pulls(COLL_alltoall, 8, 2, 1, "pull(rows, plain)");
    pulls(COLL_alltoall, 48, 2, 1, "pull(spread, plain)");
    pulls(COLL_alltoall, 48, 2, 2, "pull(spread, plain)");
    pulls(COLL_alltoallw, 48, 2, 2, "pull(numa(morton), plain)");
    pulls(COLL_alltoallw, 8, 8, 1, "pull(columns, plain)");
    pulls(COLL_alltoallw, 48, 48, 1, "pull(morton, plain)");
}

static void no_plans(void) {
    const char *bad =
        "nonsense|pul|pull2|PULL|(|()|,|(rows)|pull(|pull)|pull(rows|pull(rows))|pull(rows,)|pull(,rows)|pull(nonsense)|"
        "pull(rows,,plain)|pull(row)|pull(rows) x|pull rows|pull(rows plain)|pull(64)|pull((rows))|pull(rows)(plain)|"
        "cico(0)|cico(-1)|cico(8Q)|cico(rows)|cico(plain)|cico(1.5K)|native(rows)|native(64)|central(rows)|central(plain)|"
        "pull(numa(numa))|pull(rows(morton))|pull(numa())|pull(numa(nonsense))|pull(numa(rows)|pull(numa(rows, plain))|"
        "pull(numa(plain))|pull(numa(rows))(rows)|pull(numa(rows)rows)|pull(plain(rows))|pull(numa(morton(rows)))|cico(numa(rows))|"
        "pull(heap)|cico(cma)|pull(cma(rows))|"
        "numa(rows)|cico;|pull(rows),|pull(morton-morton-morton-morton-morton-morton)|a-name-longer-than-any-name-can-be(rows)|| ";
    for (char text[128]; next_text(&bad, text);) {
        struct plan plan;
        char why[192] = "", quoted[132];
        int error = plan_parse(text, &plan, why, sizeof why);
        snprintf(quoted, sizeof quoted, "\"%s\"", text);
        expect(error == -EINVAL, "plan_parse(\"%s\") = %d", text, error);
        expect(strstr(why, quoted) && strlen(why) > strlen(quoted) + 10,
               "\"%s\" is refused with: %s", text, why);
    }
}

/* ---- random texts ---- */

static size_t random_text(uint64_t *random, char *text, size_t size) {
    static const char *const pieces[] = {"(",  ")",    ",",     " ",    "\t",   "64",
                                         "4K", "0",    "order", "\"",   "%s",   "%n",
                                         "-",  "pull", "cico",  "rows", "plain"};
    enum { count = sizeof pieces / sizeof *pieces };
    size_t length = 0;
    for (uint32_t i = draw_below(random, 24); i > 0; i--) {
        uint32_t kind = draw_below(random, 8);
        const char *piece = pieces[draw_below(random, count)];
        char byte[2] = {(char)(1 + draw_below(random, 255)), 0};
        if (kind == 0) piece = byte;
        if (kind == 1) piece = algorithms[draw_below(random, ALGORITHMS)].name;
        if (kind == 2) piece = orders[draw_below(random, ORDERS)].name;
        if (kind == 4) piece = paths[draw_below(random, PATHS)].name;
        if (kind == 3) piece = kernels[draw_below(random, KERNELS)].name;
        for (; *piece && length + 1 < size; piece++) text[length++] = *piece;
    }
    text[length] = 0;
    return length;
}

static int random_texts(uint64_t *random, int rounds) {
    int plans = 0;
    for (int i = 0; i < rounds; i++) {
        char text[256], why[200];
        uint64_t seed = *random;
        random_text(random, text, draw_below(random, 2) ? sizeof text : 24);
        size_t size = 1 + draw_below(random, 192);
        struct plan plan, again;
        memset(why, '#', sizeof why);
        int error = plan_parse(text, &plan, why, size);
        for (size_t c = size; c < sizeof why; c++)
            expect(why[c] == '#', "seed %llu: the reason is longer than its %zu bytes",
                   (unsigned long long)seed, size);
        if (error) {
            expect(error == -EINVAL && memchr(why, 0, size) && (size < 2 || *why == '"'),
                   "\"%s\" gives %d: %.190s", text, error, why);
            continue;
        }
        plans++;
        again = parsed(plan.text);
        expect(same(&plan, &again), "\"%s\" is printed as \"%s\", and then \"%s\"", text, plan.text,
               again.text);
    }
    return plans;
}

int main(int count, char **words) {
    uint64_t random = seed_from(count, words);
    int plans = every_plan();
    spelling();
    no_plans();
    if (kernels[KERNEL_nt].usable()) settled(), copiers_among_the_rivals();
    usual_orders();
    int accepted = random_texts(&random, 200000);
    expect(accepted > 1000, "only %d of the random texts were plans", accepted);
    printf("%d plans; %d random plans\n", plans, accepted);
    return 0;
}
