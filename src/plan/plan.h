/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.h - which algorithm runs a call. A plan is written name(argument, ...), for instance
 * "pull(morton, plain)"; the same text is what the environment accepts and the report, the log and
 * the benchmark print. */
#ifndef MORTAR_PLAN_H
#define MORTAR_PLAN_H

#include "coll/coll.h"

struct tally {
    uint64_t calls, bytes;  /* bytes: received by this rank */
    struct traffic traffic; /* messages sent by this rank; not those of the host MPI's own calls */
    /* The rest is counted only when a report is asked for. */
    double seconds;
    double late_seconds;   /* of them, waiting for ranks that had not entered the call yet */
    double inside_seconds; /* and waiting for peers to do their part */
    struct lateness *late; /* [p] for whom; NULL: never for anybody. Freed with the plan */
};

/* How often this rank waited for one that came late, and for how long in all. */
struct lateness {
    uint64_t times;
    double seconds;
};

/* A plan as it runs the calls of one collective and size class on one team. */
struct plan {
    const struct algorithm *algorithm;
    struct arguments arguments;
    char text[64];
    uint8_t tag;        /* of the text, for struct ledger_entry */
    const char *reason; /* why native; NULL otherwise. Static storage */
    const char *source; /* who chose it: model, forced, measured, ... Static storage */
    enum collective collective;
    int size_class;       /* class_of the blocks' bytes */
    bool ordered, rounds; /* as in the shape */
    struct tally tally;
    bool timed;           /* the next call is to be timed, */
    double timed_seconds; /* and this is what it took */
    /* In the next call this plan is to run too, on a copy that nobody gets, and to be timed; NULL:
     * none. */
    struct plan *beside;
};

/* What was measured about a class: means over the ranks, of the calls that were timed. */
struct evidence {
    double seconds, native_seconds; /* of one call */
    /* Native / chosen: the median of pairs of trials, and its interval. */
    double gain, low, high;
    int pairs;
    bool outside; /* of calls whose buffers peers cannot reach */
    /* A plan that won its trials but may not take over, as sums would be bracketed otherwise; "":
     * none. */
    char better[64];
    double better_seconds;
};

/* The plan of the next call on this team, to be called once per call. Looks only at what is the
 * same on all ranks, so all ranks get the same plan. Collective when the team meets a collective
 * and size class for the first time. Never NULL. */
struct plan *plan_for(struct team *team, const struct shape *shape);

/* After plan_for: how many calls of this shape's class will get the same plan without anybody being
 * asked. Who leaves out plan_for for one of them takes it off; only a plan that is forced meanwhile
 * changes that. Belongs to the team. NULL: ask every time. */
uint32_t *plan_quiet(struct team *team, const struct shape *shape);

/* Should buffers out of reach rather go to the host MPI than be staged? Only what is the same on
 * all ranks decides. */
bool plan_prefers_host(const struct team *team, const struct shape *shape);

/* Tells the planner that a call of this shape met buffers out of reach: unless the plan was forced,
 * the next calls of the shape's class take a plan that is made for that. Returns it; NULL when the
 * plan was forced. Every rank must tell. Collective. */
struct plan *plan_detour(struct team *team, const struct shape *shape);

/* Tells the planner that a trial of this shape's class did not run as planned. Every rank must
 * tell. Local. */
void plan_spoil(struct team *team, const struct shape *shape);

/* The plan that stands for "this call was left to the host MPI" for a reason found after plan_for.
 * Every rank must ask. Local. */
struct plan *plan_left(struct team *team, const struct shape *shape);

/* Calls visit for each plan of the team that ran at least once; evidence NULL: nothing was measured
 * about it. */
void plan_visit(struct team *team,
                void (*visit)(const struct team *, const struct plan *, const struct evidence *));

/* Forces a plan for all teams (NULL or "": automatic again). -EINVAL: no such plan; nothing
 * changes. */
int plan_force(const char *text);

/* Does MORTAR_OFF name something that is no collective? Then the first such name. */
bool plan_off_wrong(char name[32]);

/* A plan by its text, ready to run: NULL when it cannot run here. The same on all ranks.
 * Collective. */
struct plan *plan_ready(struct team *team, const struct shape *shape, const char *text,
                        const char *source, const char *reason);

/* The plans that are worth a comparison for this shape: the model's choice, native, those that are
 * likely to win, then all others. in_reach: with buffers in the shared heap. Fills texts[most][64],
 * returns how many, or -ENOMEM. Collective; the same on all. */
int plan_worth(struct team *team, const struct shape *shape, bool in_reach, char texts[][64],
               int most);

/* ---- tally.c ---- */
/* Adds what this call of the team waited for. Local. */
void tally_waits(struct tally *tally, const struct team *team);

/* ---- tuned.c: the tuning file, option TUNING ---- */
/* Tells what MPI_Get_library_version says, once, before any team; the job's first process reads the
 * file. Local. */
void plan_tuning(const char *mpi_version);
/* Gives a team over several nodes the network of rank 0's file, or the usual one. Collective. */
void plan_network(struct team *team);
/* The plan that the file has for this shape; false: none, or no file. The same answer on all ranks.
 * Collective. */
bool plan_tuned(struct team *team, const struct shape *shape, bool in_reach, struct plan *plan);

/* ---- text.c ---- */
/* Reads a plan. -EINVAL and a sentence in why[size] when the text is no plan. Fills algorithm,
 * arguments and the full text. */
int plan_parse(const char *text, struct plan *plan, char *why, size_t size);
/* Where the hybrid copy of this team's plans starts: bytes of a block that are copied plainly
 * (ramesh2024 section V-E). */
size_t hybrid_bytes(const struct figures *f);
/* Puts in, also in the text, what was left to the team: the bytes of a plain `hybrid`. The same on
 * all ranks. Local. */
void plan_settle(const struct figures *f, struct plan *plan);

/* ---- candidates.c ---- */
/* A plan that may run a call. */
struct candidate {
    char text[64];
    const struct algorithm *algorithm;
    enum path_id path;
    enum variant {
        /* A variant that the algorithm names, or with the arguments that are usual here. */
        USUAL,
        SIMPLEST, /* with the first order of the table instead */
        ORDERED,  /* with another order */
        COPIED,   /* with another copier */
    } variant;
    double seconds; /* expected; -1: nobody knows */
    int place;      /* in the order of the tables */
};
enum { most_candidates = 256 };
/* All plans that can run the shape: the model's choice, then the others, the cheapest first, native
 * last. in_reach: are the buffers where peers can touch them? Of plans that name a path nobody has
 * tried whether it works. Fills list[most], returns how many. */
int plan_candidates(const struct figures *f, const struct shape *shape, bool in_reach,
                    struct candidate *list, int most);
/* The shape that is priced: over nodes blocks of which nobody knows how long they are are taken for
 * middling ones. */
struct shape shape_priced(const struct figures *f, const struct shape *shape);

/* ---- choose.c ---- */
/* Is staging expected to be faster than the host MPI for this size? */
bool staging_pays(const struct figures *f, const struct shape *shape);
/* What mortar would run here: the first of the candidates, or native. in_reach: are the buffers
 * expected where peers can touch them? If not, it is collective, for data paths may be tried. Fills
 * algorithm, arguments, text, reason. The same on all ranks. */
void plan_choose(struct team *team, const struct shape *shape, bool in_reach, struct plan *plan);

/* ---- rivals.c ---- */
/* The candidates that may be worth a try for this class beside the choice, which comes first, then
 * native: those that are likely to win; all; or those with another order, without native. Fills
 * texts[most][64], returns how many. */
enum rivals { RIVALS_likely, RIVALS_all, RIVALS_orders };
int plan_rivals(const struct figures *f, const struct shape *shape, bool in_reach,
                const char *choice, enum rivals which, char texts[][64], int most);

#endif
