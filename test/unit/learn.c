/* SPDX-License-Identifier: BSD-3-Clause */
/* learn - the planner that measures, with threads as ranks and times that the test makes up: all
 * ranks run the same plan in every call, the fastest one wins in the end, also when the times
 * change; the regret stays in its budget; the paper's scheme tries each order, then each copy, so
 * often as it is told.
 * learn [SEED] */
#include "plan/learn.h"
#include "plan/plan.h"

#include "crew.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { bytes = 200, paper_runs = 5 };

/* A world: how long a call of a plan takes, in seconds, and what must come of it. */
struct world {
    const char *mode, *name;
    double native, choice, others; /* choice: the model's; others: every other plan except `best` */
    const char *best;              /* takes best_seconds */
    double best_seconds, noise;
    const char *winner; /* the plan that must run in the end, "" for the model's; NULL: any */
    int calls;
    double latest_native; /* from the middle on */
    bool detours;         /* some calls meet buffers out of reach */
    /* A reduction, in which ranks need not wait for each other, not an alltoall. */
    bool loose;
    /* How many times longer seems what is timed second of two; 0: no longer. */
    double second;
    /* Results depend on brackets: the model's choice delivers every call, and this one is found to
     * be better. */
    const char *beside;
    int classes; /* size classes, in turns; 0: one */
    double
        disturbed; /* the model's choice in the middle third, when other programs run; 0: as ever */
};

static const struct world worlds[] = {
    {"watch", "the model is right", 10e-3, 1e-3, 0, NULL, 0, 0.05, "", 8000, 0, false, false, 0,
     NULL, 0, 0},
    {"watch", "native is faster", 1e-3, 2e-3, 0, NULL, 0, 0.05, "native", 1000, 0, false, false, 0,
     NULL, 0, 0},
    {"watch", "and soon, where calls are short", 1e-6, 2e-6, 0, NULL, 0, 0.05, "native", 300, 0,
     false, false, 0, NULL, 0, 0},
    {"watch", "all the same", 10e-6, 10e-6, 10e-6, NULL, 0, 0.3, NULL, 4000, 0, false, false, 0,
     NULL, 0, 0},
    {"watch", "native becomes slower", 1e-3, 2e-3, 0, NULL, 0, 0.05, "", 9000, 40e-3, false, false,
     0, NULL, 0, 0},
    {"watch", "native becomes faster", 10e-3, 2e-3, 0, NULL, 0, 0.05, "native", 12000, 0.4e-3,
     false, false, 0, NULL, 0, 0},
    {"watch", "long calls", 0.2, 0.1, 0, NULL, 0, 0.05, "", 1200, 0, false, false, 0, NULL, 0, 0},
    {"watch", "buffers out of reach", 10e-6, 20e-6, 20e-6, NULL, 0, 0.05, NULL, 4000, 0, true,
     false, 0, NULL, 0, 0},
    {"watch", "the second one pays", 1e-3, 1.15e-3, 0, NULL, 0, 0.02, "native", 3000, 0, false,
     false, 1.4, NULL, 0, 0},
    /* A first look is one call. With this little noise native, being slower, never seems faster. */
    {"watch", "ranks come late", 5e-3, 4e-3, 4e-3, "arrival", 1e-3, 0.1, "arrival", 300, 0, false,
     true, 0, NULL, 0, 0},
    /* If it does, its pair spends the budget of 300 calls before `arrival` has had a look. */
    {"watch", "ranks come late, noise", 5e-3, 4e-3, 4e-3, "arrival", 1e-3, 0.2, "arrival", 1000, 0,
     false, true, 0, NULL, 0, 0},
    {"watch", "ranks come in time", 10e-3, 4e-3, 4e-3, "arrival", 5e-3, 0.2, "", 3000, 0, false,
     true, 0, NULL, 0, 0},
    {"watch", "sums, native is faster", 1e-3, 2e-3, 0, NULL, 0, 0.05, "", 8000, 0, false, false, 0,
     "native", 0, 0},
    {"watch", "sums, it is not", 3e-3, 2e-3, 0, NULL, 0, 0.05, "", 8000, 0, false, false, 0, "", 0,
     0},
    /* The model's choice, either, has the same digits. */
    {"watch", "sums, ranks come late", 5e-3, 4e-3, 4e-3, "arrival", 1e-3, 0.2, "arrival", 8000, 0,
     false, true, 0, NULL, 0, 0},
    {"watch", "and wait behind the call", 5e-3, 4e-3, 4e-3, "arrival", 1e-3, 0.2, "", 8000, 0,
     false, true, 0, NULL, 0, 0},
    {"watch", "sums, wait to agree", 2.5e-3, 3e-3, 4e-3, NULL, 0, 0.05, "", 8000, 0, false, true, 0,
     NULL, 0, 0},
    {"online", "sums, when asked for", 1e-3, 2e-3, 2.5e-3, NULL, 0, 0.05, "native", 3000, 0, false,
     false, 0, NULL, 0, 0},
    {"online", "one order is best", 2e-3, 2e-3, 2.5e-3, "pull(morton, plain)", 1e-3, 0.05,
     "pull(morton, plain)", 9000, 0, false, false, 0, NULL, 0, 0},
    {"online", "native is best", 0.5e-3, 2e-3, 2.5e-3, NULL, 0, 0.05, "native", 3000, 0, false,
     false, 0, NULL, 0, 0},
    {"watch", "many classes", 0.3e-3, 20e-6, 0, NULL, 0, 0.05, NULL, 36000, 0, false, false, 0,
     NULL, 14, 0},
    {"watch", "others run for a while", 3e-3, 1e-3, 0, NULL, 0, 0.05, "", 24000, 0, false, false, 0,
     NULL, 0, 12e-3},
    /* Only mortar's own plan finds the sizes out. */
    {"watch", "unknown sizes, native is faster", 1e-3, 2e-3, 0, NULL, 0, 0.05, "", 3000, 0, false,
     false, 0, NULL, 0, 0},
    {"paper", "each order thrice", 1, 20e-6, 25e-6, "pull(columns, plain)", 10e-6, 0.01,
     "pull(columns, plain)", 100, 0, false, false, 0, NULL, 0, 0},
    {"paper", "then its copies", 1, 20e-6, 25e-6, "pull(columns, nt)", 10e-6, 0.01,
     "pull(columns, nt)", 200, 0, false, false, 0, NULL, 0, 0},
};

static bool tries_copies(const struct world *world) { return strstr(world->name, "copies"); }

static void add(const struct reduction *reduction, const char *in, char *inout, size_t count) {
    for (size_t i = 0; i < count * reduction->bytes; i++) inout[i] = (char)(in[i] + inout[i]);
}

static const char *heard[most_ranks];
static char first_choice[64];

static double seconds_of(const struct world *world, const struct plan *plan, int number) {
    if (!plan->algorithm->code->run)
        return world->latest_native > 0 && number > world->calls / 3 ? world->latest_native
                                                                     : world->native;
    if (world->best && strcmp(plan->text, world->best) == 0) return world->best_seconds;
    if (tries_copies(world) && strcmp(plan->text, "pull(columns, plain)") == 0)
        return 1.5 * world->best_seconds;
    if (world->disturbed > 0 && number > world->calls / 3 && number < 2 * world->calls / 3)
        return world->disturbed;
    bool chosen = world->classes || strcmp(plan->text, first_choice) == 0;
    return chosen ? world->choice : world->others;
}

static void one_call(struct rank *rank, const struct world *world, struct plan *plan,
                     const struct shape *shape, bool reach) {
    if (!plan->algorithm->code->run) return;
    struct call call = {
        .shape = *shape, .send = rank->block, .recv = rank->block + rank->crew->room / 4};
    /* Times are made up, so are lengths. */
    struct reduction reduction = {.combine = add, .bytes = 8, .count = 8};
    struct blocks empty = {
        .base = rank->block, .count = rank->team.p, .layout = &layout_bytes, .unit = 1};
    if (shape->unsized) call.sends = call.recvs = &empty;
    if (among(shape->collective, REDUCTIONS)) call.reduction = &reduction;
    size_t region = rank->team.region_bytes;
    if (!reach) rank->team.region_bytes = 0;
    enum outcome outcome = plan->algorithm->code->run(&rank->team, &call, &plan->arguments);
    rank->team.region_bytes = region;
    expect(outcome == DONE || outcome == STAGED, "%s: %s: outcome %d", world->name, plan->text,
           (int)outcome);
    if (outcome != DONE) plan_detour(&rank->team, shape, outcome);
}

/* The time in which this rank is. */
static _Thread_local double now;
static double made_up_clock(void) { return now; }

static const char *found_better;
static void look_for_better(const struct team *team, const struct plan *plan,
                            const struct evidence *evidence) {
    (void)team, (void)plan;
    if (evidence && *evidence->better)
        found_better = evidence->better[0] == 'n' ? "native" : "arrival";
}

/* The plan of the next call. Every other rank remembers one for each class from time to time, as
 * mpi/ does, and need not ask while plan_repeats says so. */
static struct plan *ask(struct team *team, const struct shape *shape, struct plan *before[],
                        int number) {
    int class = class_of(shape->bytes);
    struct plan_class *of = team->me % 2 && before[class] ? plan_class_of(team, shape) : NULL;
    if (of && plan_repeats(of, before[class])) {
        expect(!before[class]->timed && !before[class]->beside, "call %d: a trial repeats", number);
        return before[class];
    }
    struct plan *plan = plan_for(team, shape);
    if (!before[class] || number % 7 == 0) before[class] = plan;
    return plan;
}

static void play(struct rank *rank) {
    const struct world *world = rank->crew->argument;
    struct team *team = &rank->team;
    bool agrees = strstr(world->name, "agree"); /* to run native beside, which may not take over */
    struct shape shape = {.collective = COLL_alltoall, .bytes = bytes},
                 other = {.collective = COLL_allgather, .bytes = 3 * bytes};
    if (world->loose) shape = (struct shape){.collective = COLL_reduce, .bytes = 512 << 10};
    shape.rounds = world->beside || strncmp(world->name, "sums", 4) == 0;
    if (shape.rounds && !world->loose) shape.collective = COLL_allreduce;
    if (agrees) shape.collective = COLL_scan; /* whose only rival is native */
    if (strncmp(world->name, "unknown", 7) == 0)
        shape = (struct shape){.collective = COLL_alltoallv, .unsized = true};
    double total = 0, regret = 0, native_calls = 0;
    const char *usual = ""; /* what most of the last calls run */
    const char *timed = ""; /* what was timed in the call before */
    int usual_calls = 0, stretches = 0, ordered = 0, copied = 0; /* timed calls of two plans */
    struct plan *before[65] = {0};
    if (tries_copies(world))
        team->figures.l2_bytes = bytes; /* for all: a threshold below a block */
    for (int number = 0; number < world->calls; number++) {
        bool reach = !world->detours || number / 1000 % 2;
        if (world->detours && number % 3 == 0)
            one_call(rank, world, plan_for(team, &other), &other, true);
        if (world->classes) shape.bytes = (size_t)1 << number % world->classes;
        struct plan *plan = ask(team, &shape, before, number);
        if (number == 0 && team->me == 0) memcpy(first_choice, plan->text, sizeof first_choice);
        heard[team->me] = plan->text;
        if (number < 500 || number % 32 == 0) {
            sync_all(team, 0);
            for (int r = 0; r < team->p; r++)
                expect(strcmp(heard[r], plan->text) == 0, "%s, call %d: rank %d has %s, rank %d %s",
                       world->name, number, r, heard[r], team->me, plan->text);
            sync_all(team, 0);
        }
        plan->tally.calls++;
        expect(!world->beside || strcmp(plan->text, first_choice) == 0, "%s, call %d: %s delivers",
               world->name, number, plan->text);
        expect(!shape.rounds || strcmp(world->mode, "watch") != 0 || plan->algorithm->code->run,
               "%s, call %d: native delivers", world->name, number);
        if (plan->beside) {
            double took = seconds_of(world, plan->beside, number);
            plan->beside->timed_seconds = took;
            /* The first of a pair waits for late ranks, and so does who sums its times. */
            double waits = agrees && plan->beside->aside.call == 0 ? 6e-3 : 0;
            if (plan->beside->aside.call == 0) plan->beside->aside.waited = waits;
            took += 2 * waits;
            regret += took, total += took;
            native_calls += !plan->beside->algorithm->code->run;
            plan->beside = NULL;
        }
        one_call(rank, world, plan, &shape, reach);
        double noise = 1 + world->noise * ((double)draw_below(&rank->own, 2001) / 1000 - 1),
               took = seconds_of(world, plan, number);
        bool waits = world->best && strcmp(plan->text, world->best) == 0;
        now += took + (waits && strncmp(world->name, "and wait behind", 15) == 0 ? 3.3e-3 : 0);
        if (plan->timed) {
            stretches += strcmp(timed, plan->text) != 0;
            plan->timed_seconds =
                took * noise * (world->second > 0 && stretches % 2 == 0 ? world->second : 1);
        }
        ordered += plan->timed && strcmp(plan->text, "pull(morton, plain)") == 0;
        copied += plan->timed && strcmp(plan->text, "pull(columns, nt)") == 0;
        timed = plan->timed ? plan->text : "";
        double least = agrees || world->choice < world->native ? world->choice : world->native;
        total += took;
        if (took > least && !world->beside) regret += took - least;
        if (number >= world->calls - 50) { /* trials may be among them */
            usual_calls += strcmp(usual, plan->text) == 0 ? 1 : -1;
            if (usual_calls < 0) usual = plan->text, usual_calls = 1;
        }
        native_calls += !plan->algorithm->code->run;
    }
    if (strcmp(world->mode, "paper") == 0) {
        int runs = tries_copies(world) ? paper_runs : 3;
        expect(ordered == runs && copied == (tries_copies(world) ? runs : 0),
               "%s: an order was timed %d times, a copy %d times", world->name, ordered, copied);
    }
    if (team->me != 0) return;
    const char *winner = world->winner && !*world->winner ? first_choice : world->winner;
    if (winner)
        expect(strcmp(usual, winner) == 0, "%s: in the end %s runs, not %s", world->name, usual,
               winner);
    bool known = world->classes || (winner && strcmp(winner, "native") != 0);
    bool changes = world->latest_native > 0 || world->disturbed > 0;
    bool steady = strcmp(world->mode, "watch") == 0 && !changes && known &&
                  !shape.unsized; /* which has no trials */
    found_better = "";
    plan_visit(team, look_for_better);
    expect(!world->beside || strcmp(found_better, world->beside) == 0,
           "%s: found \"%s\" to be better", world->name, found_better);
    expect(!steady || native_calls >= 1, "%s: native was never tried", world->name);
    /* The learner knows its costs as far as noise allows. */
    double budget = 0.011 * total + 2e-3 + world->native + (agrees ? 12e-3 : 0);
    expect(!steady || regret <= budget, "%s: trials cost %g s of %g s", world->name, regret, total);
    printf("%-24s %6d calls, %4.0f native, regret %5.2f %%, in the end %s\n", world->name,
           world->calls, native_calls, 100 * regret / total, usual);
}

static void in_world(uint64_t *random, const struct world *world) {
    static struct crew crew;
    setenv("MORTAR_TUNE", world->mode, 1);
    setenv("MORTAR_TUNE_RUNS", tries_copies(world) ? "5" : "3", 1);
    crew = (struct crew){.p = 2 + (int)draw_below(random, 3),
                         .reach = REACH_MAPPED,
                         .slot = 64 * 16,
                         .seed = draw(random)};
    crew.body = play, crew.argument = world, crew.all_have_regions = crew.one_domain = true,
    crew.room = 1 << 16;
    crew_run(&crew);
}

int main(int count, char **words) {
    uint64_t random = seed_from(count, words);
    for (int o = 0; o < OPTIONS; o++) unsetenv(option_rows[o].name);
    learn_clock = made_up_clock;
    for (size_t w = 0; w < sizeof worlds / sizeof *worlds; w++) in_world(&random, &worlds[w]);
    return 0;
}
