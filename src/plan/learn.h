/* SPDX-License-Identifier: BSD-3-Clause */
/* learn.h - private to plan/: finding out in the running program which plan of a class is
 * fastest. */
#ifndef MORTAR_LEARN_H
#define MORTAR_LEARN_H

#include "plan/plan.h"

enum { most_arms = 24, most_ratios = 16 };

/* Option TUNE. Local. */
enum learn_mode { LEARN_OFF, LEARN_WATCH, LEARN_ONLINE, LEARN_PAPER };
enum learn_mode learn_mode(void);

/* One plan that may run the class. */
struct arm {
    char text[64];
    struct plan *plan; /* NULL: not made yet */
    double seconds;    /* of one call when last tried; 0: never tried */
    double ratio[most_ratios];
    double tried_seconds; /* all that its trials took, */
    int tried;            /* and their number */
    int pairs;            /* so many ratios, arm / incumbent, the oldest written over */
    int grown;            /* where ranks run ahead: how long pairs with it have become, */
    bool first;           /* whether it is the first one in the next pair, */
    /* And of the latest pairs of full length, as the second one and as the first: its seconds, the
     * other's. */
    double way[2][2];
    bool out, broken; /* clearly slower; cannot run */
};

/* Two arms tried one after the other. */
struct pair {
    int arm[2], calls, warm; /* timed calls of each, and calls before them that are not timed */
    bool look;               /* only a first look: no evidence */
    double seconds[2];       /* of this rank, then of all */
};

struct learner {
    enum learn_mode mode;
    struct shape shape;
    bool in_reach;
    struct arm arms[most_arms];
    int count, incumbent, native; /* native: its place among the arms */
    /* A loose rival that was far better in the latest pair; -1: none. */
    int favourite;
    bool loose; /* ranks may run ahead of each other */
    /* Rivals run beside the incumbent and never take over: what is delivered must not depend on the
     * clock. */
    bool beside;
    int better;             /* and this is the latest of them that won its trials; -1: none */
    struct pair pair, told; /* under way; told to the others */
    int turn;               /* calls of the pair that began; -1: none under way */
    bool due, asked;        /* the last pair is to be told; was told, and the sum is to be read */
    uint64_t sums[2];       /* nanoseconds of all ranks */
    uint64_t calls;         /* of the class, so far */
    uint64_t rest;          /* calls to come between two pairs */
    int settled;            /* pairs in a row that changed nothing */
    int rounds;
    double spent; /* seconds that trying slower arms has cost each rank, on average */
};

/* A learner for a class whose plan is the model's or the file's; false: nothing is to be learned
 * (MORTAR_TUNE=off). */
bool learn_start(struct learner *learner, const struct team *team, const struct shape *shape,
                 bool in_reach, struct plan *plan);
/* The plan of the next call; *quiet becomes how many calls after it need not ask. Collective when
 * an arm is tried first. */
struct plan *learn_turn(struct learner *learner, struct team *team, uint32_t *quiet);
/* A call did not run as planned (a buffer out of reach, a rank that left): the pair under way says
 * nothing. */
void learn_spoil(struct learner *learner);
/* What is known about the plan: false when that is nothing. */
bool learn_evidence(const struct learner *learner, const struct plan *plan,
                    struct evidence *evidence);

#endif
