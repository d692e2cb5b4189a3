/* SPDX-License-Identifier: BSD-3-Clause */
/* patience.h - what a waiting rank does next. Integer times are ticks of clock_ticks, doubles are
 * seconds. All local. */
#ifndef MORTAR_PATIENCE_H
#define MORTAR_PATIENCE_H

#include "base/base.h"

/* How this rank waits; adapted at run time (patience.c). */
struct patience {
    enum { WAIT_AUTO, WAIT_SPIN, WAIT_YIELD, WAIT_FUTEX } mode;
    bool crowded;    /* oversubscribed: more ranks than processors */
    bool gave;       /* the latest wait has yielded, and no vigil has seen it yet */
    uint64_t prompt; /* a yield that takes no longer is never late */
    uint64_t lost;   /* by late yields, less what sleeping would have cost */
    uint64_t left;   /* when the last wait ended that was more than a look; 0: none */
    uint64_t work;   /* the longest time between two waits lately */
    uint64_t yields; /* a count, for the report */
    uint64_t began;  /* that wait; one that was more than a look */
    /* Yields let other processes run: until when waits sleep instead, and for how long that was.
     * Short waits, long ones. */
    struct rest {
        uint64_t until, span;
    } brief, lasting;
    uint64_t sleeps; /* a count, for the report */
    /* When the host MPI was driven last, and how long it may go without. */
    uint64_t driven, rest;
    /* How often the watching was halved, because a peer needed this very processor. */
    uint32_t haste;
    /* Waits in a row that a first yield ended, and how many of them make the rank leave. */
    uint32_t shared, bears;
    int ranks;            /* on this node */
    double per_processor; /* ranks per processor */
    double tick_rate;     /* clock_ticks per second */
};

enum {
    WATCH, /* look at the word repeatedly, for about a microsecond */
    GIVE,  /* yield the processor */
    NAP,   /* sleep */
};
struct turn {
    int what;
    int drives;     /* how often to drive the host MPI first; before a nap: 0 or 1 */
    double seconds; /* of a nap, unless it is woken */
};
/* One wait. */
struct vigil {
    enum { WATCHING, YIELDING, POLLING, SLEEPING } stage; /* POLLING: yields in a long wait */
    int last;                                             /* `what` of the turn before */
    uint64_t began, turned, driven; /* begin of the wait, of the last turn, last drive */
    uint64_t usual;  /* how long a yield takes if peers do on this processor what this rank did */
    uint64_t since;  /* begin of the window of a long wait */
    uint64_t lost;   /* ticks of late yields in that window */
    uint64_t until;  /* in sleep: when to yield again */
    uint32_t yields; /* of a short wait */
    double nap;      /* seconds of the next nap */
};
/* While nobody has said how many ranks share the processors: patience as on a crowded node. */
static inline struct patience patience_first(int ranks) {
    return (struct patience){.mode = (unsigned)option_choice(OPTION_WAIT, "auto|spin|yield|futex"),
                             .crowded = true,
                             .ranks = ranks,
                             .per_processor = 1,
                             .tick_rate = clock_ticks_per_second()};
}
/* Says how many ranks share the processors. */
void patience_settle(struct patience *patience, int ranks, int processors);
/* The vigil of a wait that begins now, or that has begun, and may have yielded, then. */
struct vigil vigil_begin(struct patience *patience, uint64_t began);
/* Most waits on a crowded node end with their first yield. So a wait that begins now may yield
 * before it makes a vigil; then set `began` and `gave`. */
static inline bool patience_gives(const struct patience *patience, uint64_t now) {
    return patience->crowded && patience->mode == WAIT_AUTO && now >= patience->brief.until;
}
/* That yield has ended the wait, now. False: it may have been late; make a vigil. */
bool patience_prompt(struct patience *patience, uint64_t now);
/* The next turn, after the last one it returned. done: the wait is over. */
struct turn vigil_next(struct patience *patience, struct vigil *vigil, uint64_t now, bool done);
/* The wait has ended. True: call machine_leave_processor, since a peer needs this one. */
bool patience_leaves(struct patience *patience, uint64_t now);
/* Should the host MPI be driven behind a call? Then set `driven`. */
static inline bool patience_drives(const struct patience *patience, uint64_t now) {
    return now - patience->driven > patience->rest;
}
/* The wait ended while watching. */
static inline void patience_watched(struct patience *patience) {
    patience->haste = 0;
    patience->shared = 0;
    patience->bears = 0;
}
/* The time since then counts as the yield's: call this between a long drive and the yield. */
static inline void vigil_yields(struct vigil *vigil, uint64_t now) { vigil->turned = now; }
/* Call this instead of taking a nap, if driving the host MPI before it found work. */
void vigil_worked(struct vigil *vigil, uint64_t now);

#endif
