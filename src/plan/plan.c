/* SPDX-License-Identifier: BSD-3-Clause */
/* plan - the plans of a team, one per collective and power-of-two size class. A plan is made
 * collectively when it is first needed. */
#include "plan/plan.h"

#include "plan/learn.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

enum { classes = 65, most_plans = 1024, most_learners = 256 };

/* After a call with buffers out of reach this many calls of its class are expected to be alike;
 * then mortar looks again. */
enum { detour_calls = 255 };

struct plans {
    uint32_t generation; /* of the forced plan, when last looked at */
    unsigned forced;     /* bit set of enum collective that the forced plan does */
    unsigned condemned;  /* bit set of those whose results were wrong */
    struct plan_class table[COLLECTIVES][2][2][classes]; /* [shape.ordered][shape.rounds] */
    int count, learners;
    struct account account;
    struct plan entries[most_plans];
    struct learner learner[most_learners];
    struct candidate room[most_candidates];
};

static void be_native(struct plan *plan, const char *reason) {
    *plan = (struct plan){.algorithm = &algorithms[ALGORITHM_native],
                          .text = "native",
                          .reason = reason,
                          .source = plan->source};
}

/* ---- the entries of a team ---- */

static struct plan *plan_keep(struct plans *plans, const struct shape *shape,
                              const struct plan *plan) {
    int class = class_of(shape->bytes);
    for (int i = 0; i < plans->count; i++) {
        struct plan *entry = &plans->entries[i];
        if (entry->collective == shape->collective && entry->size_class == class &&
            entry->ordered == shape->ordered && entry->rounds == shape->rounds &&
            strcmp(entry->text, plan->text) == 0 && entry->reason == plan->reason &&
            entry->source == plan->source)
            return entry;
    }
    if (plans->count == most_plans) return &plans->entries[0]; /* always native: see plans_of */
    struct plan *entry = &plans->entries[plans->count++];
    *entry = *plan;
    /* Ranks that combine vectors of two classes do not understand each other, whatever the plan. */
    uint64_t salt = among(shape->collective, REDUCTIONS) ? (uint64_t)class : 0;
    entry->tag = (uint8_t)(1 + (hash_text(HASH_START, plan->text) + salt) % UINT8_MAX);
    entry->collective = shape->collective;
    entry->size_class = class;
    entry->ordered = shape->ordered;
    entry->rounds = shape->rounds;
    return entry;
}

static struct plan *native_entry(struct plans *plans, const struct shape *shape,
                                 const char *reason) {
    struct plan native = {0};
    be_native(&native, reason);
    return plan_keep(plans, shape, &native);
}

/* Tables of teams that were native and have gone, for the next teams: all 0. Communicators that are
 * never mortar's come and go by thousands, and MPI libraries that register memory (UCX) write down
 * each munmap until they register again: 71 bytes. */
static struct spares spares;

/* Makes the table of a native team all 0, without touching the pages that it has not used; there
 * are no learners. False: too many shapes, of which not all have an entry. */
static bool wipe_plans(struct plans *plans) {
    if (plans->count == most_plans) return false;
    for (int i = 0; i < plans->count; i++) {
        struct plan *entry = &plans->entries[i];
        for (int kind = 0; kind < 4; kind++)
            plans->table[entry->collective][kind & 1][kind >> 1][entry->size_class] =
                (struct plan_class){0};
        *entry = (struct plan){0};
    }
    memset(plans, 0, offsetof(struct plans, table));
    plans->count = 0;
    plans->account = (struct account){0};
    return true;
}

static void free_memory(struct plan *plan) {
    free(plan->tally.late);
    free(plan->aside.memory);
    plan->aside = (struct aside){0};
}

static void free_plans(struct team *team) {
    struct plans *plans = team->plans;
    for (int i = 0; i < plans->count; i++) free_memory(&plans->entries[i]);
    bool kept = team->why_native && plans->learners == 0 && wipe_plans(plans);
    if (kept) plans = spares_keep(&spares, plans);
    if (plans) munmap(plans, sizeof *plans);
}

static void rest_plans(struct team *team) {
    struct plans *plans = team->plans;
    for (int i = 0; i < plans->count; i++) {
        free_memory(&plans->entries[i]);
        plans->entries[i].tally = (struct tally){0};
    }
}

/* A team's table; entry 0 is native, used when the table is full. On a team that is not native
 * either all ranks get a table or none. It has 2.4 MB, of which most teams touch a few pages;
 * malloc would clear all of it when it gets the memory of an earlier team. */
HOT static struct plans *plans_of(struct team *team) {
    if (team->plans) return team->plans;
    struct plans *plans = spares_take(&spares);
    if (!plans)
        plans = mmap(NULL, sizeof *plans, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (plans == MAP_FAILED) plans = NULL;
    if (!team->why_native && !team_agree(team, plans != NULL)) {
        if (plans) munmap(plans, sizeof *plans);
        return NULL;
    }
    if (!plans) return NULL;
    native_entry(plans, &(struct shape){0}, "too many plans");
    plans->generation = atomic_load(&plan_generation) - 1; /* so that plan_for looks */
    team->plans = plans;
    team->plans_free = free_plans;
    team->plans_rest = rest_plans;
    if (!team->why_native && team->wire) plan_network(team);
    return plans;
}

struct candidate *plan_room(const struct team *team) {
    return ((struct plans *)team->plans)->room;
}

static bool is_forced(const struct plans *plans, const struct shape *shape) {
    return plans->forced >> shape->collective & 1;
}
static bool is_condemned(const struct plans *plans, const struct shape *shape) {
    return plans->condemned >> shape->collective & 1;
}

static struct plan_class *class_at(struct plans *plans, const struct shape *shape) {
    return &plans->table[shape->collective][shape->ordered][shape->rounds][class_of(shape->bytes)];
}

/* ---- making plans ---- */

/* Can it run here? Prepares it. Collective, unless the team is native. */
static bool plan_prepare(struct team *team, const struct shape *shape, struct plan *plan) {
    const struct algorithm_code *code = plan->algorithm->code;
    plan_settle(&team->figures, plan);
    if (!can_run(plan->algorithm, &plan->arguments, &team->figures, shape)) return false;
    return !code->prepare || code->prepare(team, &plan->arguments) == 0;
}

struct plan *plan_ready(struct team *team, const struct shape *shape, const char *text,
                        const char *source, const char *reason) {
    struct plan plan;
    if (plan_parse(text, &plan, NULL, 0) != 0 || !plan_prepare(team, shape, &plan)) return NULL;
    plan.source = source;
    plan.reason = reason;
    return plan_keep(team->plans, shape, &plan);
}

/* Why this class must run natively; NULL: it need not. */
static const char *why_native(const struct team *team, const struct shape *shape) {
    if (plan_off(shape->collective)) return plan_off_why;
    if (team->why_native) return team->why_native;
    return shape->bytes == 0 && !shape->unsized ? "no bytes" : NULL;
}

int plan_worth(struct team *team, const struct shape *shape, bool in_reach, char texts[][64],
               int most) {
    struct plan choice = {.text = "native"};
    if (!plans_of(team)) return -ENOMEM;
    if (team->why_native) {
        snprintf(texts[0], sizeof texts[0], "native");
        return 1;
    }
    struct calls calls = calls_of(shape);
    in_reach = in_reach && team->figures.shares;
    plan_choose(team, &calls.least, in_reach, &choice);
    plan_settle(&team->figures, &choice);
    return plan_rivals(&team->figures, &calls.least, in_reach, choice.text, RIVALS_all,
                       plan_room(team), texts, most);
}

/* Collective, unless the team is native. */
static struct plan *resolve(struct team *team, const struct shape *shape, bool in_reach) {
    struct plan plan = plan_asked();
    bool asked = plan.algorithm && plan.algorithm->collectives >> shape->collective & 1;
    struct calls calls = calls_of(shape);
    const char *why = why_native(team, shape);
    double start = clock_seconds();
    if (why) be_native(&plan, why);
    bool filed = !why && !asked && plan_tuned(team, shape, in_reach && team->figures.shares, &plan);
    if (filed && plan.algorithm->code->run && !plan_prepare(team, shape, &plan)) filed = false;
    if (!why && !asked && !filed)
        plan_choose(team, &calls.least, in_reach && team->figures.shares, &plan);
    plan.source = filed ? "file" : "model";
    if (asked) plan.source = "forced";
    if (why) plan.source = NULL;
    if (!plan.algorithm->code->run) {
        if (!plan.reason) plan.reason = "asked for by MORTAR_PLAN";
    } else if (!filed && !plan_prepare(team, shape, &plan)) {
        be_native(&plan, asked ? "the forced plan does not do this here"
                               : "the plan could not be prepared");
    }
    team->setup_seconds += clock_seconds() - start;
    const char *where = in_reach ? "" : ", buffers out of reach";
    const char *colon = plan.reason ? ": " : "";
    const char *reason = plan.reason ? plan.reason : "";
    note("%s of %zu bytes on %d ranks%s: %s%s%s", collective_names[shape->collective], shape->bytes,
         team->p, where, plan.text, colon, reason);
    return plan_keep(team->plans, shape, &plan);
}

/* Is this the class of calls whose sizes no rank knows yet? Only mortar's own plans find out, as a
 * side effect (vector.c). If a trial gave it to the host MPI, that would run all later calls,
 * whatever their size. Other collectives without a size have no other class, and over nodes the
 * ranks add up their sizes. */
static bool is_unknown(const struct team *team, const struct shape *shape) {
    return among(shape->collective, BIT(alltoallv) | BIT(alltoallw)) && shape->bytes == 0 &&
           !team->wire;
}

/* Resolves a class that is met for the first time with such buffers. */
static void plan_meet(struct team *team, const struct shape *shape, struct slot *slot,
                      bool in_reach) {
    struct plans *plans = team->plans;
    slot->plan = resolve(team, shape, in_reach);
    if (why_native(team, shape) || plans->learners == most_learners) return;
    if (is_unknown(team, shape)) return;
    struct learner *learner = &plans->learner[plans->learners];
    struct calls calls = calls_of(shape);
    if (!learn_start(learner, team, &plans->account, &calls.least, in_reach && team->figures.shares,
                     slot->plan))
        return;
    slot->learner = learner;
    plans->learners++;
}

static struct plan *forced_for(struct team *team, const struct shape *shape,
                               struct plan_class *class, uint32_t now) {
    struct slot *slot = &class->slots[FORCED];
    if (!slot->plan || class->since != now)
        *slot = (struct slot){.plan = resolve(team, shape, true), .quiet = UINT32_MAX};
    class->since = now, class->usual = slot, class->detour = 0;
    return slot->plan;
}

static void look_at_forced(struct plans *plans, uint32_t now) {
    struct plan plan = plan_asked();
    plans->forced = plan.algorithm ? plan.algorithm->collectives : 0;
    plans->generation = now;
}

/* Where there is no memory for plans. */
static struct plan planless = {
    .algorithm = &algorithms[ALGORITHM_native], .text = "native", .reason = "out of memory"};

struct plan *plan_early(struct team *team, const struct shape *shape) {
    struct plans *plans = plans_of(team);
    return plans ? native_entry(plans, shape, "one of the communicator's first sums") : &planless;
}

HOT struct plan *plan_for(struct team *team, const struct shape *shape) {
    struct plans *plans = plans_of(team);
    if (!plans) return &planless;
    uint32_t now = atomic_load_explicit(&plan_generation, memory_order_relaxed);
    if (plans->generation != now) look_at_forced(plans, now);
    struct plan_class *class = class_at(plans, shape);
    if (is_condemned(plans, shape))
        return native_entry(plans, shape, "a result differed from the MPI library's");
    if (is_forced(plans, shape)) return forced_for(team, shape, class, now);
    uint32_t which = IN_REACH;
    class->usual = &class->slots[IN_REACH];
    class->since = now;
    if (class->detour > 0) class->detour--, which = OUTSIDE;
    struct slot *slot = &class->slots[which];
    if (!slot->plan) plan_meet(team, shape, slot, which == IN_REACH);
    if (slot->quiet > 0) slot->quiet--;
    else if (slot->learner) slot->plan = learn_turn(slot->learner, team, &slot->quiet);
    else slot->quiet = UINT32_MAX;
    return slot->plan;
}

bool plan_due(struct team *team, const struct shape *shape, uint64_t every) {
    return class_at(team->plans, shape)->counted++ % every == 0;
}

void plan_condemn(struct team *team, enum collective collective) {
    ((struct plans *)team->plans)->condemned |= 1u << collective;
}

struct plan_class *plan_class_of(struct team *team, const struct shape *shape) {
    return team->plans && !is_condemned(team->plans, shape) ? class_at(team->plans, shape) : NULL;
}

/* ---- calls that did not run as planned ---- */

bool plan_prefers_host(const struct team *team, const struct shape *shape) {
    const struct plans *plans = team->plans;
    return plans && !is_forced(plans, shape) && !staging_pays(&team->figures, shape);
}

static void spoil(struct plan_class *class) {
    for (int i = 0; i < SLOTS; i++) {
        struct slot *slot = &class->slots[i];
        if (slot->learner && slot->quiet == 0) learn_spoil(slot->learner);
    }
}

struct plan *plan_detour(struct team *team, const struct shape *shape, enum outcome outcome) {
    /* Programs that take new buffers for each call never come to the end of `soon`. */
    enum { patience = 128 };
    struct plans *plans = team->plans;
    bool soon = outcome == STAGED_SOON || outcome == OUT_OF_REACH_SOON;
    if (!soon && outcome != STAGED && outcome != OUT_OF_REACH) return NULL;
    struct plan_class *class = class_at(plans, shape);
    if (is_forced(plans, shape)) return NULL;
    spoil(class);
    bool leaves = !soon || ++class->soon == patience;
    if (!leaves && outcome == STAGED_SOON) return NULL;
    /* Staged, they would take pages of the stage that nobody has touched, as many as have all
     * blocks: 8 ranks, 128 KiB, Open MPI 4.1, the first calls 4.2 ms instead of 2.7. */
    if (!leaves && is_personal(shape->collective))
        return native_entry(plans, shape, "its buffers will soon be in reach");
    struct slot *slot = &class->slots[OUTSIDE];
    enum path_id path = slot->plan ? slot->plan->arguments.path : PATH_stage;
    /* The path was lost since: the class starts anew. */
    if (path && !team_has_path(team, path)) *slot = (struct slot){0};
    if (!slot->plan) plan_meet(team, shape, slot, false);
    if (leaves) {
        class->detour = detour_calls;
        class->soon = 0;
    }
    return slot->plan;
}

void plan_spoil(struct team *team, const struct shape *shape) {
    spoil(class_at(team->plans, shape));
}

struct plan *plan_left(struct team *team, const struct shape *shape) {
    static const char reason[] =
        "a rank could not take part (a buffer on a device or at MPI_BOTTOM, or no memory to pack into)";
    plan_spoil(team, shape);
    return native_entry(team->plans, shape, reason);
}

void plan_visit(struct team *team,
                void (*visit)(const struct team *, const struct plan *, const struct evidence *)) {
    struct plans *plans = team->plans;
    for (int i = 0; plans && i < plans->count; i++) {
        const struct plan *plan = &plans->entries[i];
        struct evidence evidence;
        bool known = false;
        for (int l = 0; l < plans->learners && !known; l++)
            known = learn_evidence(&plans->learner[l], plan, &evidence);
        if (plan->tally.calls) visit(team, plan, known ? &evidence : NULL);
    }
}
