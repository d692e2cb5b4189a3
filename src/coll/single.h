/* SPDX-License-Identifier: BSD-3-Clause */
/* single.h - a part of coll.h: calls that take the team's barrier once. What a rank does before and
 * behind it are loads and stores. So a call that repeats needs no more than these steps, and while
 * nobody is late nothing can happen in it that the rest of mortar has to be prepared for
 * (mpi/known.c): no long wait, no way out, and of the MPI library no more than an operation on two
 * vectors. The algorithm's `run` does the same, for other ranks may take that way. */
#ifndef MORTAR_SINGLE_H
#define MORTAR_SINGLE_H

#include "reach/reach.h"

struct call;
struct arguments;

/* What run returns; all but FAILED are the same on all ranks. */
enum outcome {
    DONE,
    STAGED,       /* done, but some buffer was out of reach and had to be staged */
    LEFT,         /* no data moved: some rank has trouble, the host MPI must run the call */
    OUT_OF_REACH, /* no data moved: some buffer is out of reach, and the call is `straight` */
    FAILED,       /* on this rank only */
    /* As above, but the buffers will come into reach after a few more calls. */
    STAGED_SOON,
    OUT_OF_REACH_SOON
};
/* Some buffer was out of reach, and the call has not been made yet. */
static inline bool is_unmade(enum outcome outcome) {
    return outcome == OUT_OF_REACH || outcome == OUT_OF_REACH_SOON;
}

struct single {
    /* Does this call take one barrier? NULL: all do. Local. */
    bool (*is)(const struct team *team, const struct call *call, const struct arguments *arguments);
    /* Before the barrier. Writes to the half of the team's epoch. Returns the trouble flags to
     * arrive with. Local. */
    uint32_t (*before)(struct team *team, const struct call *call,
                       const struct arguments *arguments);
    /* At each gate where this rank is the last to arrive (sync_meet), unless a rank has to LEAVE.
     * NULL: nothing. Local. */
    void (*met)(struct team *team, const struct call *call);
    /* Behind the barrier. half: the one that `before` wrote to; trouble: of all ranks. Collective
     * if there is any, else local. If there is none, DONE or FAILED. */
    enum outcome (*after)(struct team *team, const struct call *call,
                          const struct arguments *arguments, uint32_t half, uint32_t trouble);
};
/* Where such a call stands. */
struct single_state {
    bool passed, over; /* the barrier; the call */
    uint32_t half, trouble;
    enum outcome outcome; /* of a call that is over */
};

/* As sync_briefly, with something to do at the gates. */
HOT static inline bool single_meets(const struct single *single, struct team *team,
                                    const struct call *call, uint32_t *trouble) {
    while (!sync_is_top(team)) {
        if (!sync_meet(team, trouble)) return sync_wait_briefly(team, trouble);
        if (!(*trouble & LEAVE)) single->met(team, call);
    }
    *trouble = sync_release(team);
    return true;
}

/* Runs the call, of no trouble, up to the barrier. True: that is passed, and no rank has trouble.
 * single_end must follow. Collective, as the next. */
HOT static inline bool single_begin(const struct single *single, struct team *team,
                                    const struct call *call, const struct arguments *arguments,
                                    struct single_state *state) {
    state->half = team->epoch & 1;
    state->over = false;
    state->trouble = single->before(team, call, arguments);
    state->passed = single->met ? single_meets(single, team, call, &state->trouble)
                                : sync_briefly(team, &state->trouble);
    return state->passed && !state->trouble;
}

/* Waits for the barrier, if it is not passed, and ends the call, if it is not over. */
HOT static inline enum outcome single_end(const struct single *single, struct team *team,
                                          const struct call *call,
                                          const struct arguments *arguments,
                                          struct single_state *state) {
    if (state->over) return state->outcome;
    if (!state->passed) state->trouble = single->met ? sync_wait_longer(team) : sync_longer(team);
    state->passed = state->over = true;
    state->outcome = single->after(team, call, arguments, state->half, state->trouble);
    return state->outcome;
}

#endif
