/* SPDX-License-Identifier: BSD-3-Clause */
/* trade.h - the phases of mnco's alltoall: private to coll/. The caller finishes the messages,
 * except those of trade_gather. */
#ifndef MORTAR_TRADE_H
#define MORTAR_TRADE_H

#include "coll/flat/owners.h"
#include "coll/flat/parcels.h"

/* Ranks first .. first + count - 1. */
struct group {
    int first, count;
};

struct trade {
    struct team *team;
    const struct call *call;
    const struct tiling *tiling;
    struct blocks sends, recvs;
    int p, me;
    bool known;
    size_t *memory; /* the parcels' `memory`, [1 + blocks] each; NULL if sizes are known */
    struct larder larder;
    bool owner; /* I own a tile, described by the members up to `cells` */
    struct group senders, receivers;
    struct parcel *in;        /* [senders] */
    struct run *to;           /* [receivers][senders] the transposed tile */
    const struct cell *cells; /* its cells in Morton order */
    /* [rows] what owners send me, by rows of tiles; at NULL: received in place */
    struct run *last;
};

/* Fills a trade whose team, call, p and me are set. Collective at the first call. False on all
 * ranks: one has no memory. */
bool trade_open(struct trade *t, enum owners owners);
/* 1: sends my blocks to the owners in my row of tiles; an owner receives those of its tile's
 * senders. */
void trade_gather(struct trade *t);
/* 2: an owner transposes its tile; blocks for itself go to its receive buffer. */
void trade_transpose(struct trade *t);
/* 3: posts the receives from owners; an owner sends its tile to the receivers. */
void trade_expect(struct trade *t);
void trade_send(struct trade *t);
/* Copies what was not received in place to the receive buffer. Local. */
void trade_spread(struct trade *t);

#endif
