/* SPDX-License-Identifier: BSD-3-Clause */
/* trade.h - the phases of mnco's alltoall: private to coll/. The messages are finished by the
 * caller, but for those of trade_gather. */
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
    size_t *memory; /* what the parcels remember, [1 + blocks] each; NULL where sizes are known */
    struct larder larder;
    bool owner; /* of a tile: */
    struct group senders, receivers;
    struct parcel *in;        /* [senders] */
    struct run *to;           /* [receivers][senders] the transposed tile */
    const struct cell *cells; /* its cells in Morton order */
    struct run *last;         /* [rows] what comes for me, by rows of tiles */
};

/* team, call, p and me are set; the rest is filled. Collective at the first call; false on all
 * ranks when one has no memory. */
bool trade_open(struct trade *t, enum owners owners);
/* 1: what this rank has goes to the owners in its row of tiles; an owner gets what the senders of
 * its tile have. */
void trade_gather(struct trade *t);
/* 2: an owner transposes its tile; what is for itself goes to where it belongs. */
void trade_transpose(struct trade *t);
/* 3: what owners will send is asked for; an owner sends its tile. */
void trade_expect(struct trade *t);
void trade_send(struct trade *t);
/* What came, and belongs to several places, goes there. Local. */
void trade_spread(struct trade *t);

#endif
