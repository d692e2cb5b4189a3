/* SPDX-License-Identifier: BSD-3-Clause */
/* learn.h - private to plan/: measures in the running program which plan of a class is fastest. */
#ifndef MORTAR_LEARN_H
#define MORTAR_LEARN_H

#include "plan/plan.h"

enum { most_arms = 24, most_ratios = 16, longest_rest = 1 << 20 };

enum learn_mode { LEARN_OFF, LEARN_WATCH, LEARN_ONLINE, LEARN_PAPER };
/* Option TUNE. Local. */
enum learn_mode learn_mode(void);

/* One plan that may run the class. */
struct arm {
    char text[64];
    struct plan *plan;         /* NULL: not made yet */
    double seconds;            /* of one call when last tried; 0: never tried */
    double ratio[most_ratios]; /* arm / incumbent; a ring, indexed by pairs % most_ratios */
    double tried_seconds;      /* sum over its trials */
    int tried;                 /* number of its trials */
    int pairs;                 /* number of ratios so far */
    int grown;                 /* loose collectives: log4 of the growth of its pairs (lengthen) */
    double waited;             /* for ranks that came late, to run beside the incumbent */
    bool first;                /* this arm runs first in the next pair */
    /* Seconds in the latest pair of each order, if of full length: [this arm ran first][0 this arm,
     * 1 incumbent]. */
    double way[2][2];
    bool out;    /* clearly slower: tried only now and then */
    bool broken; /* cannot run */
    bool halves; /* has the same digits as others that have (reduce.h) */
};

/* Two arms tried one after the other. */
struct pair {
    int arm[2];        /* in the order in which they run */
    int calls;         /* timed calls of each arm */
    int warm;          /* calls of each arm before them, not timed */
    bool look;         /* only a first look: no evidence */
    double cost;       /* seconds that it is expected to cost more than the incumbent */
    /* What the timed calls of each arm took inside, and with all that the program did between them,
     * or what a rival waited to run beside; of this rank, later the mean over all ranks. */
    double seconds[2], elapsed[2];
    double began; /* clock_seconds at the first timed call of the arm that runs */
};

/* What the trials of all classes of a team may cost; the same on all ranks. */
struct account {
    double seconds; /* that the calls of classes with trials have taken, per rank */
    double spent;   /* seconds per rank that trials of slower arms have cost, or will */
};

struct learner {
    enum learn_mode mode;
    struct account *account; /* the team's */
    struct shape shape;
    bool in_reach;
    struct arm arms[most_arms];
    int count;     /* of arms */
    int incumbent; /* the arm in use */
    int native;    /* the arm of the host MPI; -1: none */
    int favourite; /* a loose rival that was far better in the latest pair; -1: none */
    bool loose;    /* ranks may run ahead of each other */
    /* Rivals with other digits run beside the incumbent and never take over: results must not
     * depend on timing. */
    bool beside;
    bool copies;      /* mode paper: the orders have run, the arms now are copiers too */
    int better;       /* with `beside`: the latest rival that won its trials; -1: none */
    struct pair pair; /* the pair that runs now */
    struct pair told; /* the pair before, whose times are being summed over the ranks */
    int turn;         /* calls of `pair` so far; -1: no pair runs */
    bool due;         /* the times of `told` are to be summed */
    bool asked;       /* they are being summed, and the sums are to be read */
    /* Nanoseconds of all ranks: seconds, elapsed. */
    uint64_t sums[sum_words];
    uint64_t quiet;   /* calls that ran unasked since the last turn */
    uint64_t rest;    /* calls to come before the next pair */
    int settled;      /* pairs in a row that changed nothing */
    int rounds;       /* how often a pair was looked for */
};

/* clock_seconds; a test has its own. */
extern double (*learn_clock)(void);

/* Starts a learner for a class whose plan is the model's or the file's. False: there is nothing to
 * learn (MORTAR_TUNE=off, or no rival). */
bool learn_start(struct learner *learner, const struct team *team, struct account *account,
                 const struct shape *shape, bool in_reach, struct plan *plan);
/* The plan of the next call; *quiet: how many calls after it need not ask. Collective when an arm
 * is tried for the first time. */
struct plan *learn_turn(struct learner *learner, struct team *team, uint32_t *quiet);
/* A call did not run as planned (a buffer out of reach, a rank that left): drops the running
 * pair. */
void learn_spoil(struct learner *learner);
/* What was measured about the plan. False: nothing. */
bool learn_evidence(const struct learner *learner, const struct plan *plan,
                    struct evidence *evidence);

/* ---- between learn.c and paper.c, which is the mode of that name ---- */
/* An arm that has a plan becomes the incumbent. Collective. */
void learn_enthrone(struct learner *learner, struct team *team, int arm);
/* Chooses the next pair. False: there is none, and the learner rests. */
bool paper_begin(struct learner *learner);
/* The arms of a pair have their times. Collective. */
void paper_hear(struct learner *learner, struct team *team);

#endif
