/* SPDX-License-Identifier: BSD-3-Clause */
/* gathers.h - private to coll/: allgather and allgatherv by messages. All ranks know all blocks'
 * bytes, so ranges of consecutive blocks travel as one message: the blocks lie back to back in the
 * receive buffer, or, where the program wants them elsewhere, in scratch memory from which each is
 * copied as it comes. */
#ifndef MORTAR_GATHERS_H
#define MORTAR_GATHERS_H

#include "coll/coll.h"

struct gathering {
    struct team *team;
    const struct call *call;
    struct blocks recvs;
    char *area;     /* the blocks, back to back */
    size_t *starts; /* [p + 1] where in the area each begins; NULL: equal ones */
    bool apart;     /* the area is scratch memory */
};

/* My own block is in its place afterwards. Collective at the first call; false on all ranks: one
 * has no memory for the starts. */
bool gathering_begin(struct gathering *g, struct team *team, const struct call *call);
/* The range first .. first + count - 1, modulo p: a message, or two where it wraps. */
void gathering_send(struct gathering *g, int to, int first, int count, int tag);
void gathering_recv(struct gathering *g, int from, int first, int count, int tag);
/* Waits for what was started. */
void gathering_finish(struct gathering *g, int mark);
/* This range has come: it goes to its places, and the asker is told. Local. */
void gathering_came(struct gathering *g, int first, int count);
/* What run returns. Local. */
enum outcome gathering_end(const struct gathering *g);

/* The allgathers of the rows bruck and mnco, which have an alltoall of their own. */
enum outcome gather_bruck(struct team *team, const struct call *call);
enum outcome gather_grid(struct team *team, const struct call *call);
double gather_bruck_cost(const struct figures *f, const struct shape *shape);
double gather_grid_cost(const struct figures *f, const struct shape *shape);

#endif
