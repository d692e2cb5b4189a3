/* SPDX-License-Identifier: BSD-3-Clause */
/* fibers.h - ranks on several nodes as coroutines of one thread, and their messages: what mortar's
 * schedules do, without clocks. A message moves only when its receiver has asked for it (a
 * rendezvous), or at once when it is sent (eager); which of several ranks goes on is drawn. A rank
 * that waits is passed over until what it waits for has happened. If all wait, the schedule has a
 * deadlock: the test fails, and says who waits for what. */
#ifndef MORTAR_FIBERS_H
#define MORTAR_FIBERS_H

#include "coll/coll.h"
#include "unit.h"

enum { most_fibers = 130 };

/* What a message holds may be looked at while it is handed over. depth: the messages that had to
 * arrive one after the other before it, and itself. */
struct handed {
    int from, to;
    const char *data;
    size_t bytes;
    int depth;
};

struct world {
    int p;
    uint64_t seed; /* who goes on, and in which order messages are seen to be done */
    size_t eager; /* messages of up to so many bytes move at once; SIZE_MAX: all */
    const int *node_of;              /* [p] any numbers; NULL: each rank is alone and has no node */
    void (*body)(struct team *team); /* of each rank */
    void (*hand)(const struct handed *handed); /* NULL: nobody looks */
    const char *what;                          /* for messages about failures */
};
/* Makes the teams of a world, which the next calls of world_run use, and frees them. */
void world_open(const struct world *world);
void world_close(void);
/* Runs body on all ranks. Returns the largest depth of all messages. */
int world_run(const struct world *world);

#endif
