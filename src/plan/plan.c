/* SPDX-License-Identifier: BSD-3-Clause */
/* plan - the plans of a team: one per collective and power-of-two size class, made when first needed, collectively. */
#include "plan/plan.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { classes = 65, most_plans = 48 };

/* After a call whose buffers were out of reach, so many calls of its class are expected to be like it; then mortar looks again. */
enum { detour_calls = 255 };

struct slot {
    struct plan *plan, *instead;
    uint32_t detour; /* calls to come that run `instead` */
};

struct plans {
    uint32_t generation; /* of the forced plan that the table was made under */
    bool forced;
    struct slot table[COLLECTIVES][classes];
    int count;
    struct entry {
        enum collective collective;
        struct plan plan;
    } entries[most_plans];
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct plan forced; /* algorithm NULL: automatic */
static _Atomic uint32_t generation;

int plan_force(const char *text) {
    struct plan plan = {0};
    char why[192];
    int error = text && *text ? plan_parse(text, &plan, why, sizeof why) : 0;
    if (error) {
        warn("%s", why);
        return error;
    }
    pthread_mutex_lock(&lock);
    forced = plan;
    atomic_fetch_add(&generation, 1);
    pthread_mutex_unlock(&lock);
    return 0;
}

static struct plan forced_plan(void) {
    pthread_mutex_lock(&lock);
    struct plan plan = forced;
    pthread_mutex_unlock(&lock);
    return plan;
}

/* Is the collective named in MORTAR_OFF, a comma-separated list? */
static bool switched_off(enum collective collective) {
    const char *list = option_text(OPTION_OFF), *name = collective_names[collective];
    while (*list) {
        size_t length = strcspn(list, ",");
        if (length == strlen(name) && memcmp(list, name, length) == 0) return true;
        if (length == 3 && memcmp(list, "all", 3) == 0) return true;
        list += length + (list[length] == ',');
    }
    return false;
}

static void be_native(struct plan *plan, const char *reason) {
    *plan = (struct plan){.algorithm = &algorithms[ALGORITHM_native], .text = "native", .reason = reason};
}

static struct plan *keep(struct plans *plans, enum collective collective, const struct plan *plan) {
    for (int i = 0; i < plans->count; i++) {
        struct entry *entry = &plans->entries[i];
        if (entry->collective == collective && strcmp(entry->plan.text, plan->text) == 0 && entry->plan.reason == plan->reason)
            return &entry->plan;
    }
    if (plans->count == most_plans) return &plans->entries[0].plan; /* always native: see plans_of */
    struct entry *entry = &plans->entries[plans->count++];
    *entry = (struct entry){collective, *plan};
    return &entry->plan;
}

static void free_plans(struct team *team) { free(team->plans); }

/* A team's table; entry 0 is native, for when there is nothing better. On a team that is not native all ranks get one or none. */
HOT static struct plans *plans_of(struct team *team) {
    if (team->plans) return team->plans;
    struct plans *plans = calloc(1, sizeof *plans);
    if (!team->why_native && !team_agree(team, plans != NULL)) {
        free(plans);
        return NULL;
    }
    if (!plans) return NULL;
    struct plan native;
    be_native(&native, "too many plans");
    keep(plans, 0, &native);
    plans->generation = atomic_load(&generation) - 1; /* so that plan_for looks */
    team->plans = plans;
    team->plans_free = free_plans;
    return plans;
}

/* What the plan needs once. Collective. */
static void make_ready(struct team *team, struct plan *plan) {
    const struct algorithm_code *code = plan->algorithm->code;
    if (code->prepare && code->prepare(team, &plan->arguments) != 0) be_native(plan, "the plan could not be prepared");
}

/* Collective, unless the team is native. */
static struct plan resolve(struct team *team, const struct shape *shape) {
    struct plan plan = forced_plan();
    if (team->why_native) be_native(&plan, team->why_native);
    else if (switched_off(shape->collective)) be_native(&plan, "switched off by MORTAR_OFF");
    else if (shape->bytes == 0) be_native(&plan, "no bytes");
    else if (!plan.algorithm) plan_choose(team, shape, team_shares(team), &plan);
    const struct algorithm *algorithm = plan.algorithm;
    if (algorithm == &algorithms[ALGORITHM_native]) {
        if (!plan.reason) plan.reason = "asked for by MORTAR_PLAN";
        return plan;
    }
    const struct algorithm_code *code = algorithm->code;
    if (!(algorithm->collectives >> shape->collective & 1) || (code->can && !code->can(team, shape)))
        be_native(&plan, "the forced plan does not do this collective");
    else make_ready(team, &plan);
    return plan;
}

static int class_of(size_t bytes) { return bytes == 0 ? 0 : 64 - __builtin_clzll(bytes); }

HOT struct plan *plan_for(struct team *team, const struct shape *shape) {
    static struct plan native = {.algorithm = &algorithms[ALGORITHM_native], .text = "native", .reason = "out of memory"};
    struct plans *plans = plans_of(team);
    if (!plans) return &native;
    uint32_t now = atomic_load_explicit(&generation, memory_order_relaxed);
    if (plans->generation != now) {
        memset(plans->table, 0, sizeof plans->table);
        plans->forced = forced_plan().algorithm != NULL;
        plans->generation = now;
    }
    struct slot *slot = &plans->table[shape->collective][class_of(shape->bytes)];
    if (slot->detour > 0) {
        slot->detour--;
        return slot->instead;
    }
    if (!slot->plan) {
        double start = clock_seconds();
        struct plan plan = resolve(team, shape);
        slot->plan = keep(plans, shape->collective, &plan);
        team->setup_seconds += clock_seconds() - start;
        note("%s of %zu bytes on %d ranks: %s%s%s", collective_names[shape->collective], shape->bytes, team->p, plan.text,
             plan.reason ? ": " : "", plan.reason ? plan.reason : "");
    }
    return slot->plan;
}

bool plan_prefers_host(const struct team *team, const struct shape *shape) {
    const struct plans *plans = team->plans;
    return plans && !plans->forced && !staging_pays(team, shape);
}

struct plan *plan_detour(struct team *team, const struct shape *shape) {
    struct plans *plans = team->plans;
    struct slot *slot = &plans->table[shape->collective][class_of(shape->bytes)];
    if (plans->forced) return NULL;
    enum path_id path = slot->instead ? slot->instead->arguments.path : PATH_stage;
    if (!slot->instead || (path && !team_has_path(team, path))) { /* or its path was lost since */
        struct plan plan;
        plan_choose(team, shape, false, &plan);
        make_ready(team, &plan);
        slot->instead = keep(plans, shape->collective, &plan);
    }
    slot->detour = detour_calls;
    return slot->instead;
}

struct plan *plan_left(struct team *team, enum collective collective) {
    struct plan native;
    be_native(&native, "a rank could not take part (a buffer on a device or at MPI_BOTTOM, or no memory to pack into)");
    return keep(team->plans, collective, &native);
}

void plan_visit(struct team *team, void (*visit)(const struct team *, enum collective, const struct plan *)) {
    struct plans *plans = team->plans;
    for (int i = 0; plans && i < plans->count; i++)
        if (plans->entries[i].plan.tally.calls) visit(team, plans->entries[i].collective, &plans->entries[i].plan);
}
