/* SPDX-License-Identifier: BSD-3-Clause */
/* inside.h - a part of calls.h: the mark of a thread that is inside mortar, so that collectives
 * that the MPI library calls from there stay native; see take.c. It lies on the stack of the
 * outermost call. */
#ifndef MORTAR_INSIDE_H
#define MORTAR_INSIDE_H

#include "mpi/leap.h"

#include <stdint.h>

struct request;
struct inside {
    struct inside *outer; /* of a call that an error handler makes; perhaps stale; mostly NULL */
    uintptr_t seal;
    struct this_thread *thread;
    /* For a rank that waits in vain, see doubt.c. doubt NULL: way_out is not set. */
    const struct request *request;
    struct team *team;   /* NULL: the communicator is young */
    struct doubt *doubt; /* the team's, or the young communicator's */
    struct way_out way_out;
};
/* The mark of this thread; NULL: it is not inside mortar. */
struct inside *inside_now(void);
void inside_begin(struct inside *here);
/* May be called more than once. */
void inside_end(struct inside *here);

#endif
