/* SPDX-License-Identifier: BSD-3-Clause */
/* plan.h - which algorithm runs a call. A plan is written name(argument, ...), for instance
 * "pull(morton, plain)". The environment accepts this text; the report, the log and the benchmark
 * print it. */
#ifndef MORTAR_PLAN_H
#define MORTAR_PLAN_H

#include "coll/coll.h"

struct tally {
    uint64_t calls, bytes;  /* bytes: of a block of each call */
    struct traffic traffic; /* messages sent by this rank; not those of the host MPI's own calls */
    /* Calls that were run again by the MPI library, and those whose results differed. */
    uint64_t verified, different;
    /* The rest is counted only when a report is asked for. */
    double seconds;        /* in all */
    double late_seconds;   /* part of them: waiting for ranks that had not entered the call yet */
    double inside_seconds; /* part of them: waiting for peers that were inside the call */
    struct lateness *late; /* [p] by late rank; NULL: none was late. Freed with the plan */
};

/* How often and how long this rank waited for one late rank. */
struct lateness {
    uint64_t times;
    double seconds;
};

/* Of a plan that runs beside another in some calls of a class, one after the other. */
struct aside {
    int call, calls; /* the number, from 0, of the next of them, and how many there are */
    /* For the results, from the first of them to the last; all ranks have it. NULL: none. */
    char *memory;
    size_t bytes;
    double waited; /* seconds that the ranks took to agree on it */
};

/* A plan as it runs the calls of one collective and size class on one team. */
struct plan {
    const struct algorithm *algorithm;
    struct arguments arguments;
    char text[64];
    uint8_t tag;        /* for struct ledger_entry: ranks with one tag understand each other */
    const char *reason; /* why native; NULL for other plans. Static storage */
    const char *source; /* model, forced, file, measured, ... Static storage */
    enum collective collective;
    int size_class;       /* class_of the blocks' bytes */
    bool ordered, rounds; /* as in the shape */
    struct tally tally;
    bool timed;           /* time the next call */
    double timed_seconds; /* what the latest timed call took */
    /* Run and time this plan, too, in the next call, on a copy that is discarded; NULL: none. */
    struct plan *beside;
    struct aside aside; /* while this plan runs beside another */
};

/* What was measured about a class: means over ranks and timed calls. */
struct evidence {
    double seconds, native_seconds; /* of one call */
    double gain;                    /* native / chosen: the median over pairs of trials */
    double low, high;               /* interval of the gain */
    int pairs;
    bool outside; /* calls with buffers that peers cannot reach */
    /* A plan that won its trials but may not take over, since it sums in another association; "":
     * none. */
    char better[64];
    double better_seconds;
};

/* The plan of the next call on this team. Call it once per call. All ranks get the same plan, since
 * it depends only on what is the same on all ranks. Collective for the first call of a collective
 * and size class. Never NULL. */
struct plan *plan_for(struct team *team, const struct shape *shape);

/* The plans of one collective and size class on one team; plan.c fills it in. Here, so that
 * plan_repeats is a few instructions of the shortest calls. */
struct slot {
    struct plan *plan;
    uint32_t quiet; /* further calls that run it without asking the learner */
    struct learner *learner;
};
enum { IN_REACH, OUTSIDE, FORCED, SLOTS }; /* OUTSIDE: some buffer is out of reach */
struct plan_class {
    struct slot *usual; /* the slot of most calls: IN_REACH or FORCED. NULL: none was asked for */
    uint32_t detour;    /* further calls that take OUTSIDE */
    uint32_t since;     /* plan_generation, when plan_for was last asked */
    struct slot slots[SLOTS];
    uint64_t counted; /* see plan_due */
    uint32_t soon;    /* calls since the last detour whose buffers were to come soon */
};

/* Changes with each plan_force. */
extern _Atomic uint32_t plan_generation;

/* Call after plan_for: the class of the shape, owned by the team, for plan_repeats. NULL: a result
 * was wrong, call plan_for every time. */
struct plan_class *plan_class_of(struct team *team, const struct shape *shape);

/* Instead of plan_for. True: the next call of this class runs this plan, and is no trial; it counts
 * as asked for. False: call plan_for, as after each plan_force. The same on all ranks. Local. */
static inline bool plan_repeats(struct plan_class *class, const struct plan *plan) {
    struct slot *slot = class->usual;
    if (class->since != atomic_load_explicit(&plan_generation, memory_order_relaxed)) return false;
    if (class->detour > 0 || slot->plan != plan || slot->quiet == 0) return false;
    slot->quiet--;
    return true;
}

/* Should a call with buffers out of reach go to the host MPI rather than be staged? The same answer
 * on all ranks. */
bool plan_prefers_host(const struct team *team, const struct shape *shape);

/* After a call that ended with this outcome. If some buffer was out of reach: its time tells
 * nothing about the plan; the next calls of its class take a plan for such buffers, unless the
 * buffers are to come into reach soon. Returns that plan; NULL: there is none, or none is needed,
 * or the outcome is another one. Collective. */
struct plan *plan_detour(struct team *team, const struct shape *shape, enum outcome outcome);

/* Tells the planner that a trial of this shape's class did not run as planned. Every rank must call
 * it. Local. */
void plan_spoil(struct team *team, const struct shape *shape);

/* Counts calls of this shape's class. True for the first and each `every`-th after it. After
 * plan_for; the same on all ranks. Local. */
bool plan_due(struct team *team, const struct shape *shape, uint64_t every);
/* From the next call on the host MPI runs this collective on this team, since a result was wrong.
 * Every rank must call it. Local. */
void plan_condemn(struct team *team, enum collective collective);

/* The host MPI, for sums that it still runs; see start_sums. Instead of plan_for; the same on all
 * ranks. Collective for the first call on this team. Never NULL. */
struct plan *plan_early(struct team *team, const struct shape *shape);

/* The plan that counts calls left to the host MPI for a reason found after plan_for. Every rank
 * must call it. Local. */
struct plan *plan_left(struct team *team, const struct shape *shape);

/* Calls visit for each plan of the team that ran at least once. evidence NULL: nothing was
 * measured. */
void plan_visit(struct team *team,
                void (*visit)(const struct team *, const struct plan *, const struct evidence *));

/* Forces a plan for all teams; NULL or "": automatic again. -EINVAL: no such plan, nothing
 * changes. */
int plan_force(const char *text);
/* The plan that is forced; algorithm NULL: none. */
struct plan plan_asked(void);
/* Is the collective named in MORTAR_OFF? */
bool plan_off(enum collective collective);
extern const char plan_off_why[];
/* Call when this process has taken over another rank's settings. */
void plan_settings_changed(void);

/* Does MORTAR_OFF contain a name that is no collective? name: the first such name. */
bool plan_off_wrong(char name[32]);

/* A plan by its text, prepared. NULL: it cannot run here. The same on all ranks. Collective. */
struct plan *plan_ready(struct team *team, const struct shape *shape, const char *text,
                        const char *source, const char *reason);

/* The plans worth comparing for this shape: the model's choice, native, the likely winners, then
 * all others. in_reach: buffers are in the shared heap. Fills texts[most][64] and returns the
 * count, or -ENOMEM. Collective; the same on all ranks. */
int plan_worth(struct team *team, const struct shape *shape, bool in_reach, char texts[][64],
               int most);

/* ---- tally.c ---- */
/* Adds the waits of this call of the team. Local. */
void tally_waits(struct tally *tally, const struct team *team);

/* ---- tuned.c: the tuning file, option TUNING ---- */
/* Call once, before any team, with what MPI_Get_library_version returns. The job's first process
 * then reads the file. Local. */
void plan_tuning(const char *mpi_version);
/* Sets the network figures of a team over several nodes: from rank 0's file, or the default ones.
 * Collective. */
void plan_network(struct team *team);
/* The plan that rank 0's file has for this shape. False: none, or no file. The same answer on all
 * ranks. Collective. */
bool plan_tuned(struct team *team, const struct shape *shape, bool in_reach, struct plan *plan);

/* ---- text.c ---- */
/* Parses a plan; fills algorithm, arguments and the full text. -EINVAL: the text is no plan, and
 * why[size] says why, unless size is 0. */
int plan_parse(const char *text, struct plan *plan, char *why, size_t size);
/* The team's threshold of the hybrid copy: bytes of a block that are copied by plain stores, the
 * rest non-temporally (ramesh2024 section V-E). */
size_t hybrid_bytes(const struct figures *f);
/* Replaces a `hybrid` without a number by hybrid(N), N the team's threshold, also in the text. The
 * same on all ranks. Local. */
void plan_settle(const struct figures *f, struct plan *plan);

/* ---- candidates.c ---- */
/* A plan that may run a call. */
struct candidate {
    char text[64];
    const struct algorithm *algorithm;
    enum path_id path;
    enum variant {
        /* One of the algorithm's own variants, or with the default arguments here. */
        USUAL,
        SIMPLEST, /* with the first order of the table */
        ORDERED,  /* with another order */
        COPIED,   /* with another copier */
    } variant;
    double seconds; /* expected; -1: unknown */
    int place;      /* index in the order of the tables */
};
enum { most_candidates = 256 };
/* All plans that can run the shape: the model's choice, then the others from the cheapest up,
 * native last. in_reach: peers can reach the buffers. Plans that name a data path are listed
 * without trying whether the path works. Fills list[most_candidates], returns the count. */
int plan_candidates(const struct figures *f, const struct shape *shape, bool in_reach,
                    struct candidate *list);
/* most_candidates of a team that has plans, to be filled by whoever needs them: they would not fit
 * on the stack of every thread. Local. */
struct candidate *plan_room(const struct team *team);
/* The shape that is priced: over several nodes blocks of unknown size are assumed to be of middling
 * size. */
struct shape shape_priced(const struct figures *f, const struct shape *shape);

/* ---- choose.c ---- */
/* Is staging expected to be faster than the host MPI for this size? */
bool staging_pays(const struct figures *f, const struct shape *shape);
/* The model's choice: the first candidate that works here, or native. in_reach: peers are expected
 * to reach the buffers. Otherwise it is collective, since data paths may be tried. Fills algorithm,
 * arguments, text, reason. The same on all ranks. */
void plan_choose(struct team *team, const struct shape *shape, bool in_reach, struct plan *plan);

/* ---- rivals.c ---- */
/* The plans to compare for this class: the choice, native, then the likely winners, or all
 * candidates. RIVALS_orders: the choice and its other orders, without native. RIVALS_copies: the
 * choice and its other copiers, in its order. Fills texts[most][64], and room[most_candidates] on
 * the way; returns the count. */
enum rivals { RIVALS_likely, RIVALS_all, RIVALS_orders, RIVALS_copies };
int plan_rivals(const struct figures *f, const struct shape *shape, bool in_reach,
                const char *choice, enum rivals which, struct candidate *room, char texts[][64],
                int most);

#endif
