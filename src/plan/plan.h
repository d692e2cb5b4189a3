/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.h - which algorithm runs a call. A plan is written name(argument, ...), for instance "pull(morton, plain)"; the same text
 * is what the environment accepts and the report, the log and the benchmark print. */
#ifndef MORTAR_PLAN_H
#define MORTAR_PLAN_H

#include "coll/coll.h"

struct tally {
    uint64_t calls, bytes; /* bytes: received by this rank */
    double seconds;        /* counted only when a report is asked for */
};

struct plan {
    const struct algorithm *algorithm;
    struct arguments arguments;
    char text[64];
    const char *reason; /* why native; NULL otherwise. Static storage */
    struct tally tally;
};

/* The plan of a call on this team. Looks only at what is the same on all ranks, so all ranks get the same plan. Collective when the
 * team meets a collective and size class for the first time. Never NULL; the team owns it. */
struct plan *plan_for(struct team *team, const struct shape *shape);

/* Should buffers out of reach rather go to the host MPI than be staged? Only what is the same on all ranks decides. */
bool plan_prefers_host(const struct team *team, const struct shape *shape);

/* Tells the planner that a call of this shape met buffers out of reach: unless the plan was forced, the next calls of the shape's
 * class take a plan that is made for that. Returns it; NULL when the plan was forced. Collective: every rank must tell, here. */
struct plan *plan_detour(struct team *team, const struct shape *shape);

/* The plan that stands for "this call was left to the host MPI" for a reason found after plan_for. */
struct plan *plan_left(struct team *team, enum collective collective);

/* Calls visit for each plan of the team that ran at least once. */
void plan_visit(struct team *team, void (*visit)(const struct team *, enum collective, const struct plan *));

/* Forces a plan for all teams (NULL or "": automatic again). -EINVAL: no such plan; nothing changes. */
int plan_force(const char *text);

/* ---- text.c ---- */
/* Reads a plan. -EINVAL and a sentence in why[size] when the text is no plan. Fills algorithm, arguments and the full text. */
int plan_parse(const char *text, struct plan *plan, char *why, size_t size);

/* ---- choose.c ---- */
/* Is staging expected to be faster than the host MPI for this size? */
bool staging_pays(const struct team *team, const struct shape *shape);
/* What mortar would run here, from its cost model; looks only at what is the same on all ranks. in_reach: are the buffers expected
 * where peers can touch them? Fills algorithm, arguments, text, reason. Collective if they are not: data paths may be tried. */
void plan_choose(struct team *team, const struct shape *shape, bool in_reach, struct plan *plan);

#endif
