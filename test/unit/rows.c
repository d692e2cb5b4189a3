/* SPDX-License-Identifier: BSD-3-Clause */
/* rows - every row of the table of algorithms, with every collective that it names and every
 * argument that it takes, with threads as ranks on one node and on several. What is drawn comes
 * from the tables, so a new row is drawn by itself. The result of each call is compared with the
 * collective's definition (scene.c), every byte and those beside it, and so is what was sent. A
 * rank writes over its buffers as soon as it is back, and goes on. On several nodes one rank lacks
 * memory in some calls; on one node one rank cannot take part in some.
 * The test fails where a row, a collective of a row, or a plan that the tables make was compared in
 * no call. What algorithms do beyond results (messages, barriers, long vectors, running ahead) is
 * tested by the others here, each for its kind.
 * rows [SEED [ROUNDS [WORD]]]: only plans whose text has the word */
#define _GNU_SOURCE
#include "cluster.h"
#include "scene.h"

#include "plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { most_plans = 256, most_bytes = 6000, most_passes = 12 };

static struct plan plans[most_plans];
static const char *only = "";
/* turn: of the teams so far, with which plan of a row each begins. */
static int plan_count, rounds = 2, turn;
static _Atomic int drawn[most_plans][COLLECTIVES];
static bool again, wanted[most_plans][COLLECTIVES]; /* again: only what nobody has drawn so far */
/* Of the ranks there are now: */
static struct graph graph;
static _Atomic int inside; /* how often ranks have entered a barrier */

/* ---- the plans that the tables make ---- */

/* Could this plan ever do that? An inner routine has to do what is asked of it. */
static bool serves(const struct plan *plan, enum collective c) {
    const struct routine *inner = plan->arguments.inner;
    if (!among(c, plan->algorithm->collectives)) return false;
    return !inner || among(plan->algorithm->code->asks(c), inner->algorithm->collectives);
}

static void add_plan(const char *text) {
    struct plan plan;
    char why[192];
    /* A kernel that this processor does not have. */
    if (plan_parse(text, &plan, why, sizeof why) != 0) return;
    if (!strstr(plan.text, only)) return;
    for (int i = 0; i < plan_count; i++)
        if (strcmp(plans[i].text, plan.text) == 0) return;
    expect(plan_count < most_plans, "more plans than there is room for");
    for (enum collective c = 0; c < COLLECTIVES; c++)
        if (serves(&plan, c)) return (void)(plans[plan_count++] = plan);
}

static void add(const char *row, const char *argument, const char *inner) {
    char text[128];
    snprintf(text, sizeof text, *inner ? "%s(%s(%s))" : "%s(%s)", row, argument, inner);
    add_plan(text);
}

static bool takes(const struct algorithm *row, const char *what) {
    return strstr(row->takes, what) != NULL;
}

static bool by_messages(const struct algorithm *row) {
    return row->code->run && row->code->where == BY_MESSAGES;
}

/* A variant with every routine that sends messages; that of leader(1, %s) with ring is leader(1,
 * ring). */
static void add_variant(const char *variant) {
    const char *place = strstr(variant, "%s");
    if (!place) return add_plan(variant);
    for (int a = 0; a < ALGORITHMS; a++) {
        char text[128];
        snprintf(text, sizeof text, "%.*s%s%s", (int)(place - variant), variant, algorithms[a].name,
                 place + 2);
        if (by_messages(&algorithms[a])) add_plan(text);
    }
}

static void add_plans(const struct algorithm *row) {
    const char *name = row->name, *alone[] = {name, NULL};
    for (const char *const *v = row->code->variants ? row->code->variants : alone; *v; v++)
        add_variant(*v);
    for (int o = 0; o < ORDERS && takes(row, "order"); o++)
        for (int i = 0; i < ORDERS; i++)
            add(name, orders[o].name, orders[o].nests ? orders[i].name : "");
    for (int k = 0; k < KERNELS && takes(row, "kernel"); k++) add(name, kernels[k].name, "");
    for (int p = 0; p < PATHS && takes(row, "path"); p++) add(name, paths[p].name, "");
    if (takes(row, "chunk")) add(name, "100", "");
    for (int a = 0; a < ALGORITHMS && takes(row, "local"); a++)
        for (int b = 0; b < ALGORITHMS; b++) {
            char both[64];
            snprintf(both, sizeof both, "%s, %s", algorithms[a].name, algorithms[b].name);
            bool local = algorithms[b].code->run && algorithms[b].code->where == ON_NODE;
            if (by_messages(&algorithms[a]) && local &&
                among(COLL_alltoallv, algorithms[b].collectives))
                add(name, both, "");
        }
}

/* ---- one call ---- */

/* A call that the plan can run here, a shorter one if it must be; false: none was found. */
static bool draw_scene(struct rank *rank, const struct team *team, const struct plan *plan,
                       enum collective c, struct scene *scene) {
    const struct algorithm_code *code = plan->algorithm->code;
    for (size_t most = most_bytes; most > 0; most /= 4) {
        *scene = scene_draw(rank, c, &graph, most);
        if (c == COLL_alltoall && !code->copies_in) scene->in_place = false;
        if (code->where != ON_NODE && !code->any_layout) scene->runs = true;
        if (c == COLL_alltoall && scene->in_place) scene->runs = true;
        struct shape shape = scene_shape(scene, team);
        if (can_run(plan->algorithm, &plan->arguments, &team->figures, &shape)) return true;
    }
    return false;
}

enum fate_of_call { NOT_HERE, NOTHING_TO_COMPARE, COMPARED };

static enum fate_of_call one_call(struct rank *rank, struct team *team, const struct plan *plan,
                                  enum collective c, struct actor *actor) {
    static _Thread_local int barriers;
    const struct algorithm_code *code = plan->algorithm->code;
    struct scene scene;
    if (!draw_scene(rank, team, plan, c, &scene)) return NOT_HERE;
    bool scarce = team->wire && draw_below(&rank->common, 4) == 0,
         may_leave = !code->loose && !team->wire && c != COLL_barrier;
    int absent = draw_below(&rank->common, 16) == 0 && may_leave
                     ? (int)draw_below(&rank->common, (uint32_t)team->p)
                     : -1;
    dawdle(&rank->own);
    expect(!code->prepare || code->prepare(team, &plan->arguments) == 0, "prepare of %s",
           plan->text);
    actor_enter(rank, team, &scene, actor);
    struct call call = actor->call;
    if (absent == team->me) { /* what it could not pack has no address here */
        static const struct blocks nothing = {.layout = &layout_bytes};
        call.trouble = NO_MEMORY, call.send = NULL, call.recv = NULL;
        call.sends = call.sends ? &nothing : NULL, call.recvs = call.recvs ? &nothing : NULL;
    }
    dawdle(&rank->own);
    if (scarce) call.trouble |= scarce_begin(rank, !code->loose || code->where == BY_MESSAGES);
    if (c == COLL_barrier) {
        /* For whom all have to wait. */
        if (draw_below(&rank->common, (uint32_t)team->p) == (uint32_t)team->me) usleep(1000);
        atomic_fetch_add(&inside, 1), barriers++;
    }
    enum outcome outcome = crew_calls(rank, team, code, &call, &plan->arguments);
    if (scarce && !scarce_end(rank, outcome)) return NOTHING_TO_COMPARE;
    if (c == COLL_barrier)
        expect(atomic_load(&inside) >= barriers * team->p, "%s: a rank left too early", plan->text);
    expect((outcome == LEFT) == (absent >= 0) && outcome <= LEFT,
           "p=%d rank %d: %s by %s returned %d, rank %d absent", team->p, team->me,
           collective_names[c], plan->text, (int)outcome, absent);
    actor_leave(rank, &scene, actor, outcome == LEFT, plan->text);
    return outcome == LEFT ? NOTHING_TO_COMPARE : COMPARED;
}

/* ---- what is drawn ---- */

static bool try(struct rank *rank, struct team *team, int plan, enum collective c,
                struct actor *actor) {
    enum fate_of_call fate =
        serves(&plans[plan], c) ? one_call(rank, team, &plans[plan], c, actor) : NOT_HERE;
    if (fate == COMPARED) atomic_fetch_add(&drawn[plan][c], 1);
    return fate != NOT_HERE;
}

/* The plans of the row in turn, from one team to the next; one that cannot run here gives its place
 * to the one behind it. */
static void draw_in_turn(struct rank *rank, struct team *team, int row, enum collective c,
                         struct actor *actor) {
    int first = 0, count = 0;
    while (first < plan_count && plans[first].algorithm != &algorithms[row]) first++;
    while (first + count < plan_count && plans[first + count].algorithm == &algorithms[row])
        count++;
    for (int round = 0; round < rounds; round++)
        for (int k = 0;
             k < count && !try(rank, team, first + (turn * rounds + round + k) % count, c, actor);
             k++) {}
}

static void draw_rows(struct rank *rank, struct team *team) {
    static const double barriers[] = {0, 3e-7, 1e-5};
    struct actor *actor = calloc(1, sizeof *actor);
    expect(actor && (actor->image = malloc(side_room(rank))), "malloc");
    team->figures.sync_seconds = barriers[draw_below(&rank->common, 3)]; /* what counts as short */
    for (enum collective c = 0; c < COLLECTIVES; c++) {
        for (int row = 0; row < ALGORITHMS && !again; row++)
            draw_in_turn(rank, team, row, c, actor);
        for (int i = 0; i < plan_count && again; i++)
            if (wanted[i][c]) try(rank, team, i, c, actor);
    }
    free(actor->image);
    free(actor);
}

static void on_node(struct rank *rank) { draw_rows(rank, &rank->team); }

static void begin(int p, uint64_t *random) {
    graph_draw(&graph, p, random);
    atomic_store(&inside, 0);
    turn++;
}

static void prepare(struct crew *crew, uint64_t *random) {
    begin(crew->p, random);
    crew->body = on_node;
    crew->room = 2 << 20;
    crew->slot = 64 * (size_t)crew->p * (1 + draw_below(random, 8)) +
                 (draw_below(random, 2) ? 512 : 1 << 14);
}

/* ---- what was drawn ---- */

static int times(int row, int plan, int collective) {
    int count = 0;
    for (int i = 0; i < plan_count; i++)
        for (int c = 0; c < COLLECTIVES; c++)
            if (plans[i].algorithm == &algorithms[row] && (plan < 0 || i == plan) &&
                (collective < 0 || c == collective))
                count += atomic_load(&drawn[i][c]);
    return count;
}

/* Collectives of rows, and plans, that no call drew; all that could make up for that are wanted. */
static int find_missing(char *text, size_t size) {
    int missing = 0;
    memset(wanted, 0, sizeof wanted);
    for (int i = 0; i < plan_count; i++) {
        int row = (int)(plans[i].algorithm - algorithms);
        bool never = times(row, i, -1) == 0;
        if (never && missing++ == 0) snprintf(text, size, "%s", plans[i].text);
        for (enum collective c = 0; c < COLLECTIVES; c++)
            wanted[i][c] = never || times(row, -1, (int)c) == 0;
    }
    for (int row = 0; row < ALGORITHMS && !*only; row++)
        for (enum collective c = 0; c < COLLECTIVES; c++) {
            if (!algorithms[row].code->run || !among(c, algorithms[row].collectives) ||
                times(row, -1, (int)c) > 0)
                continue;
            if (missing++ == 0)
                snprintf(text, size, "%s by %s", collective_names[c], algorithms[row].name);
        }
    return missing;
}

static void report(void) {
    int rows = 0, pairs = 0;
    long calls = 0;
    for (int row = 0; row < ALGORITHMS; row++) {
        rows += times(row, -1, -1) > 0;
        for (int c = 0; c < COLLECTIVES; c++) {
            int count = times(row, -1, c);
            pairs += count > 0, calls += count;
        }
    }
    printf(
        "%d rows%s, %d pairs of a row and a collective, %d plans: %ld results of ranks compared\n",
        rows, *only ? "" : ", all but native", pairs, plan_count, calls);
}

int main(int count, char **words) {
    static const int sizes[] = {2, 3, 5, 8};
    uint64_t random = seed_from(count, words);
    char missed[128] = "";
    setenv("MORTAR_XPMEM", XPMEM_STAND_IN, 1);
    if (count > 2) rounds = atoi(words[2]);
    if (count > 3) only = words[3];
    for (int row = 0; row < ALGORITHMS; row++)
        if (algorithms[row].code->run) add_plans(&algorithms[row]);
    for (int pass = 0; pass == 0 || (pass < most_passes && find_missing(missed, sizeof missed) > 0);
         pass++) {
        again = pass > 0;
        crews_run(sizes, sizeof sizes / sizeof *sizes, 200, &random, prepare);
        clusters_run(&random, begin, draw_rows);
    }
    int missing = find_missing(missed, sizeof missed);
    expect(missing == 0, "%d rows, collectives of rows or plans were never drawn, among them %s",
           missing, missed);
    report();
    paths_finish();
    return 0;
}
