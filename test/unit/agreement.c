/* SPDX-License-Identifier: BSD-3-Clause */
/* agreement - the ranks of a team decide alike although they differ in everything that is a rank's
 * own: which memory they have, how they wait, how long their set-up and their calls took (by
 * factors of up to a thousand, drawn anew in each call), whether they remember their plans, and how
 * they got to a call. Collectives and sizes are drawn, trials of every kind run, some calls turn
 * out to have buffers out of reach. In each call all ranks hold up their plan, and whether it is
 * timed: on one node, and over several. The rest of the rule is held by types: `can` and `cost` get
 * struct figures alone.
 * agreement [SEED [CALLS]] */
#include "cluster.h"

#include "plan/plan.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { most_bytes = 1 << 22 };

static int calls = 1500;
static long decisions;

static struct held {
    const struct plan *plan, *beside;
    char text[160];
} held[most_ranks];

static double any_time(struct rank *rank) {
    double seconds = 1e-7;
    for (uint32_t doublings = draw_below(&rank->own, 20); doublings > 0; doublings--) seconds *= 2;
    return seconds;
}

/* What only this rank knows. */
static void differ(struct rank *rank, struct team *team) {
    team->setup_seconds = any_time(rank);
    team->scratch_wish = draw_below(&rank->own, 1 << 20);
    team->patience.haste = draw_below(&rank->own, 5);
    team->patience.ranks = 1 + (int)draw_below(&rank->own, 64);
    team->patience.per_processor = 1 + draw_below(&rank->own, 8);
    team->waits.seconds = any_time(rank);
    team->waits.length = any_time(rank);
}

/* The barriers are the crew's, whoever belongs to the team. */
static void hold_up(struct rank *rank, const struct plan *plan, int number) {
    struct held *mine = &held[rank->team.me];
    snprintf(mine->text, sizeof mine->text, "%s, %s, %s, beside %s", plan->text,
             plan->reason ? plan->reason : "", plan->timed ? "timed" : "",
             plan->beside ? plan->beside->text : "none");
    sync_all(&rank->team, 0);
    for (int r = 0; r < rank->team.p; r++)
        expect(strcmp(held[r].text, mine->text) == 0, "call %d: rank %d: %s; rank %d: %s", number,
               r, held[r].text, rank->team.me, mine->text);
    sync_all(&rank->team, 0);
}

static void decide(struct rank *rank, struct team *team, int most_calls) {
    for (int number = 0; number < most_calls; number++) {
        if (number % 64 == 63 && !crew_goes_on(rank)) return;
        enum collective c = (enum collective)draw_below(&rank->common, COLLECTIVES);
        struct shape shape = {.collective = c, .bytes = draw_bytes(&rank->common, most_bytes)};
        shape.unsized = among(c, UNSIZED);
        shape.rounds = among(c, REDUCTIONS) && draw_below(&rank->common, 2);
        /* Sizes that come again, so that trials have something to compare. */
        if (draw_below(&rank->common, 8)) shape.bytes = (size_t)64 << 4 * (number / 200 % 4);
        if (draw_below(&rank->common, 8))
            shape.collective = number / 100 % 2, shape.unsized = false;
        if (shape.collective < 2) shape.rounds = false;
        differ(rank, team);
        struct plan *plan = plan_for(team, &shape);
        hold_up(rank, plan, number);
        plan->tally.calls++;
        if (plan->beside) plan->beside->timed_seconds = any_time(rank), plan->beside = NULL;
        plan->timed_seconds = any_time(rank);
        /* The outcome of a call is the same on all ranks: its barrier says so. Over nodes there is
         * no such barrier, and no detour. */
        uint32_t what = draw_below(&rank->common, 24);
        if (what < 4 && plan->algorithm->code->run && !team->wire)
            plan_detour(team, &shape,
                        (enum outcome[]){STAGED, OUT_OF_REACH, STAGED_SOON, LEFT}[what]);
        if (team->me == 0) decisions++;
    }
}

static void body(struct rank *rank) { decide(rank, &rank->team, calls); }

static void body_on_nodes(struct rank *rank, struct team *team) {
    decide(rank, team, calls / 8);
    if (team->plans_free) team->plans_free(team);
}

int main(int count, char **words) {
    static const char *const modes[] = {"watch", "online", "off", "paper"};
    uint64_t random = seed_from(count, words);
    if (count > 2) calls = atoi(words[2]);
    for (int o = 0; o < OPTIONS; o++) unsetenv(option_rows[o].name);
    for (size_t i = 0; i < 12; i++) {
        static struct crew crew;
        setenv("MORTAR_TUNE", modes[i % 4], 1);
        crew = (struct crew){.p = 2 + (int)draw_below(&random, 6),
                             .reach = (enum reach)draw_below(&random, REACH_MAPPED + 1),
                             .slot = 64 * 16,
                             .room = 1 << 16,
                             .seed = draw(&random),
                             .body = body};
        crew_run(&crew);
    }
    printf("%ld decisions\n", decisions);
    for (size_t i = 0; i < 3; i++) {
        setenv("MORTAR_TUNE", modes[i], 1);
        clusters_run(&random, NULL, body_on_nodes);
    }
    printf("%ld decisions, with those over nodes\n", decisions);
    return 0;
}
