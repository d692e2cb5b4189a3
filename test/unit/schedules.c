/* SPDX-License-Identifier: BSD-3-Clause */
/* schedules - every algorithm that sends messages, executed symbolically: each block is a number
 * that names its sender and its receiver, and the test knows at every message which blocks it
 * carries. Up to 130 ranks, alone or on nodes of even, uneven, cyclic or shuffled numbers of ranks;
 * every variant that the planner weighs and other radices, windows and inner routines; each call
 * twice in a row where messages move only when their receivers have asked (rendezvous), and once
 * where they move at once (eager), with ranks that go on in drawn orders. Of each schedule:
 *
 *   complete        every block is where MPI's definition wants it, elements combined in order
 *   nothing twice   no rank gets a block of an equal exchange twice; over nodes, no node does
 *   no deadlock     under rendezvous, so under any buffering by the MPI library
 *   rounds          messages that wait for each other: at most what the algorithm's file says
 *   memory          scratch of a call: at most three times what the rank sends and receives
 *
 * schedules [SEED [STEP]]: 2 to 12 ranks, 16, 32 and 64 and their neighbours, and every STEP-th
 * number; with STEP 1 on nodes of all four kinds, else above 20 ranks on one of them. */
#include "symbols.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_plans = 256, most_words = 64 };

/* ---- rounds ---- */

static int log_of(int base, int p) {
    int rounds = 0;
    for (int64_t reach = 1; reach < p; reach *= base) rounds++;
    return rounds;
}

/* Messages one after the other, as the algorithm's file says; 0: it depends on who comes first. */
static int rounds_of(const struct plan *plan, int p) {
    const char *name = plan->algorithm->name;
    int number = (int)plan->arguments.number;
    if (strcmp(name, "direct") == 0) return number ? 0 : 1;
    if (strcmp(name, "pairwise") == 0)
        return (p - 1 + (number ? number : 1) - 1) / (number ? number : 1);
    if (strcmp(name, "bruck") == 0) return log_of(number ? number : 2, p);
    if (strcmp(name, "mnco") == 0) return 2;
    if (strcmp(name, "ring") == 0) return p - 1;
    if (strcmp(name, "fold") == 0) return log_of(2, p) + 1; /* rank 0 has the result: to the root */
    static const char *const logarithmic[] = {"binomial", "dissemination", "prefix"};
    for (size_t i = 0; i < sizeof logarithmic / sizeof *logarithmic; i++)
        if (strcmp(name, logarithmic[i]) == 0) return log_of(2, p);
    /* Where p is no power of two: a step before, and one behind. */
    static const char *const folded[] = {"doubling", "recursive", "halving"};
    for (size_t i = 0; i < sizeof folded / sizeof *folded; i++)
        if (strcmp(name, folded[i]) == 0) return log_of(2, p) + 1;
    return 0;
}

/* ---- all schedules of a world ---- */

static struct plan plans[most_plans];
static int plan_count;
static long schedules;

static void add_plan(const char *text) {
    char why[192];
    for (int i = 0; i < plan_count; i++)
        if (strcmp(plans[i].text, text) == 0) return;
    expect(plan_count < most_plans && plan_parse(text, &plans[plan_count], why, sizeof why) == 0,
           "%s: %s", text, why);
    plan_count++;
}

/* The variants of the algorithms that only send messages, and others. into: a text with %s in which
 * each of them is put; NULL: they are plans themselves. */
static void add_flat(const char *into) {
    static const char *const more[] = {"direct(1)", "direct(3)", "pairwise(3)", "bruck(3)",
                                       "bruck(5)",  "bruck(16)", "mnco(morton)"};
    const char *place = into ? strstr(into, "%s") : NULL;
    for (size_t a = 0; a < ALGORITHMS + sizeof more / sizeof *more; a++) {
        const char *const single[] = {a < ALGORITHMS ? algorithms[a].name : more[a - ALGORITHMS],
                                      NULL};
        const struct algorithm_code *code = a < ALGORITHMS ? algorithms[a].code : NULL;
        if (code && (!code->run || code->where != BY_MESSAGES)) continue;
        const char *const *v = code && code->variants ? code->variants : single;
        for (char text[128]; *v; v++) {
            if (place)
                snprintf(text, sizeof text, "%.*s%s%s", (int)(place - into), into, *v, place + 2);
            add_plan(place ? text : *v);
        }
    }
}

static void list_plans(enum where where) {
    static const char *const more[] = {"leader(3, direct)", "exchange(bruck, cico)",
                                       "exchange(direct, cico)"};
    plan_count = 0;
    if (where == BY_MESSAGES) {
        add_flat(NULL);
        return;
    }
    for (int a = 0; a < ALGORITHMS; a++) {
        const struct algorithm_code *code = algorithms[a].code;
        if (!code->run || code->where != OVER_NODES) continue;
        for (const char *const *v = code->variants; v && *v; v++) {
            if (strstr(*v, "%s")) add_flat(*v);
            else add_plan(*v);
        }
        if (!code->variants) add_plan(algorithms[a].name);
    }
    for (size_t i = 0; i < sizeof more / sizeof *more; i++) add_plan(more[i]);
}

static void run_schedule(struct world *world, uint64_t *random) {
    bool labelled = is_equal(scene.collective), flat = !world->node_of;
    scene.ran = false;
    world->what = scene.plan->text;
    world->seed = draw(random);
    /* Ranks that arrive late announce themselves by eight bytes, see coll/nodes/words.h. */
    world->eager = strcmp(scene.plan->algorithm->name, "tardy") == 0 ? 8 : 0;
    world->hand = NULL;
    scene.calls = 2;
    scene.words = 1 + draw_below(random, 3);
    world_run(world);
    if (!scene.ran) return;
    scene.key += 2;
    scene.calls = 1;
    scene.words = 1;
    world->seed = draw(random);
    world->eager = SIZE_MAX;
    world->hand = labelled ? scene_look : NULL;
    /* In `exchange` every rank sends for itself, and a node is no unit. */
    scene.node_of = strcmp(scene.plan->algorithm->name, "exchange") == 0 ? NULL : world->node_of;
    int rounds = world_run(world), most = flat ? rounds_of(scene.plan, scene.p) : 0;
    /* Sizes that only sender and receiver know are told first. */
    expect(most == 0 || among(scene.collective, UNSIZED) || rounds <= most,
           "%s, p=%d, %s: %d rounds instead of %d", scene.plan->text, scene.p,
           collective_names[scene.collective], rounds, most);
    scene.key++;
    /* Once with blocks that are long beside tables and lines of memory. */
    world->hand = NULL;
    scene.words = most_words;
    world_run(world);
    scene.key++;
    schedules++;
}

static void run_world(int p, const int *nodes, uint64_t *random) {
    static const enum collective some[] = {COLL_alltoall,       COLL_allgather,
                                           COLL_alltoallv,      COLL_allgatherv,
                                           COLL_barrier,        COLL_bcast,
                                           COLL_gather,         COLL_gatherv,
                                           COLL_scatter,        COLL_scatterv,
                                           COLL_reduce,         COLL_allreduce,
                                           COLL_reduce_scatter, COLL_reduce_scatter_block,
                                           COLL_scan,           COLL_exscan};
    struct world world = {.p = p, .node_of = nodes, .body = scene_body, .what = "a world"};
    list_plans(nodes ? OVER_NODES : BY_MESSAGES);
    world_open(&world);
    scene_begin(p);
    for (size_t i = 0; i < sizeof some / sizeof *some; i++)
        for (int n = 0; n < plan_count; n++) {
            scene.plan = &plans[n];
            scene.collective = some[i];
            scene.root = (int)draw_below(random, (uint32_t)p);
            for (int r = 0; r < p; r++)
                scene.parts[r] = scene.collective == COLL_reduce_scatter ? (r * 3 + 1) % 4 : 2;
            if (among(scene.collective, plans[n].algorithm->collectives))
                run_schedule(&world, random);
        }
    world_close();
}

/* Which node each rank is on: even numbers of ranks, cyclic, uneven, and these shuffled. */
enum maps { EVEN, CYCLIC, UNEVEN, SHUFFLED, MAPS };

static void draw_map(int nodes[], int p, enum maps map, uint64_t *random) {
    int count = 2 + (int)draw_below(random, (uint32_t)(p < 12 ? p : 12) - 1), n = 0, left = 1;
    for (int r = 0; r < p; r++) {
        nodes[r] = map == EVEN ? r * count / p : r % count;
        if (map < UNEVEN) continue;
        if (left-- == 0 && n < count - 1)
            n++, left = (int)draw_below(random, 2 * (uint32_t)(p / count) + 1);
        nodes[r] = n;
    }
    for (int r = p - 1; r > 0 && map == SHUFFLED; r--) {
        int other = (int)draw_below(random, (uint32_t)r + 1), node = nodes[r];
        nodes[r] = nodes[other], nodes[other] = node;
    }
}

/* few: of more than 20 ranks only one map. */
static void run_maps(int p, bool few, uint64_t *random) {
    enum maps drawn = (enum maps)draw_below(random, MAPS);
    for (enum maps map = 0; map < MAPS; map++) {
        int nodes[most_fibers], several = 0;
        if (few && p > 20 && map != drawn) continue;
        draw_map(nodes, p, map, random);
        for (int r = 1; r < p; r++) several |= nodes[r] != nodes[0];
        if (several) run_world(p, nodes, random);
    }
}

static bool is_chosen(int p, int step) {
    for (int power = 16; power <= 64; power *= 2)
        if (p >= power - 1 && p <= power + 1) return true;
    return p <= 12 || p % step == 0;
}

int main(int count, char **words) {
    uint64_t random = seed_from(count, words);
    int step = count > 2 ? atoi(words[2]) : 127;
    for (int p = 2; p <= most_fibers; p++) {
        if (!is_chosen(p, step)) continue;
        run_world(p, NULL, &random);
        run_maps(p, step > 1, &random);
    }
    printf("%ld schedules on 2 to %d ranks\n", schedules, most_fibers);
    return 0;
}
