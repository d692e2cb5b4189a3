/* SPDX-License-Identifier: BSD-3-Clause */
/* crew.h - the threads of a scene as the ranks of a team. */
#ifndef EXPLORE_CREW_H
#define EXPLORE_CREW_H

#include "explore.h"

#include "coll/coll.h"

extern struct team teams[most_threads];
/* For `begin`: teams with a control block, and `slot` bytes of stage per rank and half. */
void crew_begin(size_t slot);
/* For `begin`: sync_shape or, with no_gates, sync_watch. */
enum { no_gates = 9 };
void crew_shape(struct team *team, uint32_t fan);
/* As crew_begin, with nothing shared. */
void crew_plain(void);
/* For `begin`, with showing.c: all buffers are in reach, but for those of ranks that are hidden.
 * Ranks that are not scarce get memory in reach, too. */
void crew_show(void);
extern bool hidden[most_threads], scarce[most_threads];
/* At the begin of a call. With `reported` in the command line, as if a report were wanted: then
 * ranks also tell each other when they entered (src/reach/waits.c). */
void crew_enter(void);
static inline struct team *crew_team(void) { return &teams[thread_now()]; }

#endif
