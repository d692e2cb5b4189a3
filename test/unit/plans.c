/* SPDX-License-Identifier: BSD-3-Clause */
/* plans - what a team runs: all ranks get the same plan, a forced plan is followed and may change
 * between calls, and what cannot be done is left to the host MPI with the right reason. Threads are
 * the ranks.
 * plans [SEED [CALLS]] */
#include "plan/plan.h"

#include "crew.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_bytes = 3000 };

static int calls = 60;
static const char *heard[most_ranks];

/* All ranks hold up the texts of their plans. */
static void same_everywhere(struct rank *rank, const struct plan *plan) {
    heard[rank->team.me] = plan->text;
    sync_all(&rank->team, 0);
    for (int r = 0; r < rank->team.p; r++)
        expect(strcmp(heard[r], plan->text) == 0, "rank %d has \"%s\", rank %d has \"%s\"", r,
               heard[r], rank->team.me, plan->text);
    sync_all(&rank->team, 0);
}

static void run_plan(struct rank *rank, struct plan *plan, const struct shape *shape, int number) {
    size_t n = shape->bytes, p = (size_t)rank->team.p;
    char *send = rank->block, *recv = rank->block + most_bytes * p;
    for (size_t j = 0; j < send_bytes(shape, rank->team.p) / n; j++)
        memset(send + j * n, (int)(number + rank->team.me + 3 * (int)j), n);
    struct call call = {.shape = *shape, .send = send, .recv = recv};
    enum outcome outcome =
        crew_calls(rank, &rank->team, plan->algorithm->code, &call, &plan->arguments);
    expect(outcome != LEFT, "%s left the call", plan->text);
    plan_detour(&rank->team, shape, outcome);
    int mine = shape->collective == COLL_alltoall ? 3 * rank->team.me : 0;
    for (size_t i = 0; i < n * p; i++)
        expect(recv[i] == (char)(number + (int)(i / n) + mine),
               "%s: %s of %zu bytes on %zu ranks: byte %zu", plan->text,
               collective_names[shape->collective], n, p, i);
}

static struct shape draw_shape(struct rank *rank) {
    struct shape shape = {.collective = draw_below(&rank->common, COLL_allgather + 1)};
    shape.bytes = draw_bytes(&rank->common, most_bytes);
    return shape;
}

static void follow(struct rank *rank);

static void with_crew(uint64_t *random, void (*body)(struct rank *), const void *argument) {
    static struct crew crew;
    int p = 2 + (int)draw_below(random, 5);
    crew = (struct crew){.p = p,
                         .reach = REACH_MAPPED,
                         .slot = 64 * 16,
                         .seed = draw(random),
                         .body = body,
                         .argument = argument,
                         .all_have_regions = body != follow || draw_below(random, 2)};
    crew.room = 4 * most_bytes * (size_t)p / 8192 * 8192 + 8192;
    crew_run(&crew);
}

/* ---- a forced plan, or mortar's own choice ---- */

static void follow(struct rank *rank) {
    const char *text = rank->crew->argument;
    for (int number = 0; number < calls; number++) {
        if (number % 8 == 7 && !crew_goes_on(rank)) return;
        struct shape shape = draw_shape(rank);
        struct plan *plan = plan_for(&rank->team, &shape);
        same_everywhere(rank, plan);
        expect(plan_for(&rank->team, &shape) == plan, "a plan is made once");
        if (*text)
            expect(strcmp(plan->text, text) == 0, "forced is \"%s\", \"%s\" is run", text,
                   plan->text);
        if (*text && strcmp(text, "native") != 0)
            expect(!plan->reason, "%s for the reason: %s", text, plan->reason);
        if (plan->algorithm->code->run) run_plan(rank, plan, &shape, number);
        else expect(plan->reason != NULL, "native without a reason");
    }
}

static void every_plan(uint64_t *random) {
    for (int a = 0; a < ALGORITHMS; a++)
        for (int o = 0; algorithms[a].code->where == ON_NODE &&
                        algorithms[a].collectives >> COLL_alltoall & 1 &&
                        o < (strstr(algorithms[a].takes, "order") ? (int)ORDERS : 1);
             o++) {
            char text[64], why[192];
            struct plan plan;
            snprintf(text, sizeof text, strstr(algorithms[a].takes, "order") ? "%s(%s)" : "%s",
                     algorithms[a].name, orders[o].name);
            expect(plan_parse(text, &plan, why, sizeof why) == 0 && plan_force(text) == 0, "%s",
                   text);
            with_crew(random, follow, plan.text);
        }
    expect(plan_force(NULL) == 0, "plan_force(NULL)");
    with_crew(random, follow, "");
}

static void change(struct rank *rank) {
    static const char *const texts[] = {"cico",       "pull(morton)", "nonsense", "",
                                        "pull(rows)", "pull(rows",    "native",   "cico(64)"};
    static const char *const full[] = {
        "cico", "pull(morton, plain)", NULL, "", "pull(rows, plain)", NULL, "native", "cico(64)"};
    const char *now = "";
    struct plan_class *former = NULL;
    struct plan *ran = &(struct plan){0};
    for (int number = 0; number < calls; number++) {
        if (number % 8 == 7 && !crew_goes_on(rank)) return;
        size_t i = draw_below(&rank->common, 8);
        sync_all(&rank->team, 0);
        if (rank->team.me == 0)
            expect(plan_force(texts[i]) == (full[i] ? 0 : -EINVAL), "plan_force(\"%s\")", texts[i]);
        sync_all(&rank->team, 0);
        if (full[i]) now = full[i];
        expect(!former || !full[i] || !plan_repeats(former, ran), "%s runs on after \"%s\"",
               ran->text, now);
        struct shape shape = draw_shape(rank);
        struct plan *plan = plan_for(&rank->team, &shape);
        expect(!*now || strcmp(plan->text, now) == 0, "forced is \"%s\", \"%s\" is run", now,
               plan->text);
        same_everywhere(rank, plan);
        struct plan_class *class = plan_class_of(&rank->team, &shape);
        struct plan other = *plan;
        expect(class && plan_repeats(class, plan), "\"%s\" may not run again", plan->text);
        expect(!class || !plan_repeats(class, &other), "a plan runs that was not asked for");
        former = class, ran = plan;
        if (plan->algorithm->code->run) run_plan(rank, plan, &shape, number);
    }
}

/* Ranks that name different bytes of one size class, which is a mistake of the program, run one
 * plan all the same. */
static void stretch(struct rank *rank) {
    size_t me = (size_t)rank->team.me, p = (size_t)rank->team.p;
    for (enum collective c = 0; c < COLLECTIVES; c++) {
        if (!crew_goes_on(rank)) return;
        for (int bit = 1; bit < 27; bit++) {
            size_t least = (size_t)1 << bit;
            struct shape shape = {.collective = c,
                                  .bytes = least + (least - 1) * me / (p - 1),
                                  .unsized = among(c, UNSIZED)};
            same_everywhere(rank, plan_for(&rank->team, &shape));
        }
    }
}

/* Buffers that are about to move: one call, if it was not made at all, is the library's where each
 * rank has a block for each, or takes the other plan; the class stays, until there have been so
 * many that they never seem to. */
static void about_to_move(struct rank *rank, const struct shape *shape) {
    struct plan *usual = plan_for(&rank->team, shape), *other = NULL;
    expect(!plan_detour(&rank->team, shape, DONE), "nothing is amiss");
    expect(!plan_detour(&rank->team, shape, STAGED_SOON), "the call was made");
    expect(plan_for(&rank->team, shape) == usual, "and the next goes as usual");
    struct plan *once = plan_detour(&rank->team, shape, OUT_OF_REACH_SOON);
    expect(once && once != usual, "this call takes another plan");
    expect(!once->algorithm->code->run == (shape->collective == COLL_alltoall),
           "the library runs it where each rank has a block for each");
    expect(plan_for(&rank->team, shape) == usual, "the next does not");
    int made = 2;
    while (made < 1000 && (other = plan_for(&rank->team, shape)) == usual) {
        plan_detour(&rank->team, shape, made % 2 ? STAGED_SOON : OUT_OF_REACH_SOON);
        made++;
    }
    expect(made == 128, "after %d calls they take the other plan", made);
    for (int k = 0; k < 254; k++) expect(plan_for(&rank->team, shape) == other, "for a while");
    expect(plan_for(&rank->team, shape) == usual, "then it is tried again");
}

/* Buffers out of reach: after a call that was staged all ranks take the same detour, look again
 * from time to time, and come back when buffers are in reach again. Long blocks go to the host MPI.
 * A forced plan stays. */
static void detour(struct rank *rank) {
    const char *forced = rank->crew->argument;
    struct shape shape = {.collective = COLL_alltoall, .bytes = 200};
    int straight = 0;
    for (int number = 0; number < 600; number++) {
        struct plan *plan = plan_for(&rank->team, &shape);
        if (number % 8 == 0 || number < 4) same_everywhere(rank, plan);
        bool direct = plan->algorithm->code->prepare != NULL;
        straight += direct;
        expect(!*forced || direct, "forced is %s, %s is run", forced, plan->text);
        rank->team.region_bytes = 0;
        run_plan(rank, plan, &shape, number);
        rank->team.region_bytes = rank->crew->room / 2;
    }
    expect(*forced ? straight == 600 : straight > 1 && straight < 60,
           "%d of 600 calls looked whether buffers are in reach", straight);
    straight = 0;
    for (int number = 0; number < 600; number++) {
        struct plan *plan = plan_for(&rank->team, &shape);
        straight += plan->algorithm->code->prepare != NULL;
        run_plan(rank, plan, &shape, number);
    }
    expect(straight > 300, "only %d of 600 calls were direct again", straight);

    shape.bytes = 1 << 20;
    plan_for(&rank->team, &shape);
    if (*forced) return;
    about_to_move(rank, &shape);
    struct shape gathered = {.collective = COLL_allgather, .bytes = 1 << 20};
    plan_for(&rank->team, &gathered);
    about_to_move(rank, &gathered);
    plan_detour(&rank->team, &shape, OUT_OF_REACH);
    struct plan *plan = plan_for(&rank->team, &shape);
    same_everywhere(rank, plan);
    if (team_has_path(&rank->team, PATH_cma)) {
        bool staged = strcmp(plan->text, "cico") == 0; /* which is cheaper depends on the caches */
        expect(staged || strcmp(plan->text, "pull(rows, plain, cma)") == 0,
               "long blocks out of reach, with a path: %s", plan->text);
        if (staged) return; /* and needs no path */
        team_loses_path(&rank->team, PATH_cma);
        plan = plan_detour(&rank->team, &shape, OUT_OF_REACH);
        same_everywhere(rank, plan);
        expect(plan_for(&rank->team, &shape) == plan, "the new detour is taken");
    }
    expect(!plan->algorithm->code->run && strstr(plan->reason, "heap"),
           "long blocks out of reach: %s", plan->text);
}

/* ---- native, and why ---- */

static void reasons(struct rank *rank) {
    struct team *team = &rank->team;
    struct shape nothing = {.collective = COLL_allgather, .bytes = 0},
                 some = {.collective = COLL_alltoall, .bytes = 100},
                 gather = {.collective = COLL_allgather, .bytes = 100};
    struct plan *plan = plan_for(team, &nothing);
    expect(!plan->algorithm->code->run && strcmp(plan->reason, "no bytes") == 0, "zero bytes: %s",
           plan->text);
    plan = plan_for(team, &some);
    expect(!plan->algorithm->code->run && strstr(plan->reason, "MORTAR_OFF"), "switched off: %s",
           plan->text);
    plan = plan_for(team, &gather);
    expect(plan->algorithm->code->run && !plan->reason, "not switched off: %s", plan->text);
    plan = plan_left(team, &gather);
    expect(!plan->algorithm->code->run && strstr(plan->reason, "memory") &&
               plan_left(team, &gather) == plan,
           "left");

    struct team strange = {.p = 3, .why_native = "a strange communicator"};
    plan = plan_for(&strange, &gather);
    expect(!plan->algorithm->code->run && plan->reason == strange.why_native, "a native team: %s",
           plan->reason);
    strange.plans_free(&strange);
}

/* A rank cannot map a peer: pull is impossible on all ranks, alike. */
static void unmappable(struct rank *rank) {
    struct shape shape = {.collective = COLL_alltoall, .bytes = 100};
    if (rank->team.me == 1) rank->team.names[0].inode += 1 << 20;
    struct plan *plan = plan_for(&rank->team, &shape);
    same_everywhere(rank, plan);
    expect(strncmp(plan->text, "pull", 4) != 0, "rank %d runs %s", rank->team.me, plan->text);
    expect(!plan->algorithm->code->run == (plan->reason != NULL), "%s without a reason",
           plan->text);
    if (plan->algorithm->code->run) run_plan(rank, plan, &shape, 0);
}

/* More plans than a team keeps: the rest is native on all ranks, and what was there still runs. */
static void too_many(struct rank *rank) {
    struct shape shape = {.collective = COLL_alltoall, .bytes = 1000};
    int ran = 0, left = 0;
    for (int i = 1; i <= 1100; i++) {
        char text[32];
        snprintf(text, sizeof text, "cico(%d)", i);
        sync_all(&rank->team, 0);
        if (rank->team.me == 0) expect(plan_force(text) == 0, "%s", text);
        sync_all(&rank->team, 0);
        struct plan *plan = plan_for(&rank->team, &shape);
        same_everywhere(rank, plan);
        if (plan->algorithm->code->run) ran++;
        else
            left++,
                expect(strcmp(plan->reason, "too many plans") == 0, "%s: %s", text, plan->reason);
        plan->tally.calls++;
    }
    expect(ran > 1000 && left > 0, "%d plans ran, %d were too many", ran, left);
}

static int visited;

static void visit(const struct team *team, const struct plan *plan,
                  const struct evidence *evidence) {
    uint64_t wanted = plan->collective == COLL_allgather ? 9
                      : plan->size_class == class_of(8)  ? 3
                                                         : 4;
    expect(plan->tally.calls == wanted && team->p == 1 && !evidence, "%s: %llu calls", plan->text,
           (unsigned long long)plan->tally.calls);
    visited++;
}

static void tallies(void) {
    struct team team = {.p = 1, .why_native = "alone"};
    struct shape alltoall = {.collective = COLL_alltoall, .bytes = 8},
                 allgather = {.collective = COLL_allgather, .bytes = 8};
    plan_visit(&team, visit);
    plan_for(&team, &alltoall)->tally.calls += 3;
    plan_visit(&(struct team){.p = 1}, visit);
    alltoall.bytes = 1000; /* another class */
    plan_for(&team, &alltoall)->tally.calls += 4;
    plan_for(&team, &allgather)->tally.calls += 9;
    plan_visit(&team, visit);
    expect(visited == 3, "%d plans were visited", visited);
    team.plans_free(&team);
}

int main(int count, char **words) {
    uint64_t random = seed_from(count, words);
    if (count > 2) calls = atoi(words[2]);
    for (int o = 0; o < OPTIONS; o++) unsetenv(option_rows[o].name);
    setenv("MORTAR_VERBOSE", "0", 1); /* plans that are refused on purpose */
    setenv("MORTAR_TUNE", "off", 1);
    every_plan(&random);
    with_crew(&random, change, NULL);
    with_crew(&random, stretch, NULL);
    expect(plan_force("pull") == 0, "pull");
    with_crew(&random, detour, "pull");
    expect(plan_force("") == 0, "automatic again");
    with_crew(&random, detour, "");
    expect(plan_force("pull") == 0, "pull");
    with_crew(&random, unmappable, NULL);
    with_crew(&random, too_many, NULL);
    expect(plan_force("") == 0, "automatic again");
    setenv("MORTAR_OFF", "bcast,alltoall", 1);
    plan_settings_changed();
    with_crew(&random, reasons, NULL);
    unsetenv("MORTAR_OFF");
    plan_settings_changed();
    tallies();
    return 0;
}
