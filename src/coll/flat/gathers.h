/* SPDX-License-Identifier: BSD-3-Clause */
/* gathers.h - private to coll/: allgather and allgatherv by messages. All ranks know the bytes of
 * all blocks, so a range of consecutive blocks travels as one message. The blocks lie back to back
 * in the receive buffer or, if the program wants them elsewhere, in scratch memory, from which each
 * is copied when it has arrived. */
#ifndef MORTAR_GATHERS_H
#define MORTAR_GATHERS_H

#include "coll/coll.h"

struct gathering {
    struct team *team;
    const struct call *call;
    struct blocks recvs;
    char *area;     /* the blocks, back to back */
    size_t *starts; /* [p + 1] where each begins in the area; NULL: equal blocks */
    bool apart;     /* the area is scratch memory */
};

/* Begins a call and copies my own block to its place. Collective at the first call. False on all
 * ranks: one has no memory for the starts. */
bool gathering_begin(struct gathering *g, struct team *team, const struct call *call);
/* Start to send or receive blocks first .. first + count - 1, modulo p, to or from a rank: one
 * message, or two if the range wraps. */
void gathering_send(struct gathering *g, int to, int first, int count, int tag);
void gathering_recv(struct gathering *g, int from, int first, int count, int tag);
/* Waits for what was started. */
void gathering_finish(struct gathering *g, int mark);
/* Call when a range has arrived: copies its blocks to their places and calls `arrived`. Local. */
void gathering_came(struct gathering *g, int first, int count);
/* What run returns. Local. */
enum outcome gathering_end(const struct gathering *g);

/* The allgathers of the rows bruck and mnco, which have an alltoall of their own. */
enum outcome gather_bruck(struct team *team, const struct call *call);
enum outcome gather_grid(struct team *team, const struct call *call);
double gather_bruck_cost(const struct figures *f, const struct shape *shape);
double gather_grid_cost(const struct figures *f, const struct shape *shape);

#endif
