/* SPDX-License-Identifier: BSD-3-Clause */
/* rounds.h - the rounds of bruck.c, one for each digit of the positions: which blocks a message
 * holds, and where they lie. Private to coll/. */
#ifndef MORTAR_ROUNDS_H
#define MORTAR_ROUNDS_H

#include "coll/flat/parcels.h"

enum { TAG = 2, most_radix = 64 };

/* A digit of the positions 0 .. p - 1. width: how many consecutive positions share its value;
 * radix: its base. */
struct digit {
    int p, width, radix;
};

/* The last position with this value of the digit, and the position before position i with the same
 * value; negative: there is none. */
static inline int last_position(const struct digit *digit, int value) {
    int cycle = digit->width * digit->radix,
        from = (digit->p - 1) / cycle * cycle + value * digit->width;
    if (from >= digit->p) from -= cycle;
    return from + digit->width <= digit->p ? from + digit->width - 1 : digit->p - 1;
}
static inline int position_before(const struct digit *digit, int i) {
    return i % digit->width ? i - 1 : i - 1 - (digit->radix - 1) * digit->width;
}
static inline int count_positions(const struct digit *digit, int value) {
    int cycle = digit->width * digit->radix, rest = digit->p % cycle - value * digit->width;
    if (rest < 0) rest = 0;
    if (rest > digit->width) rest = digit->width;
    return digit->p / cycle * digit->width + rest;
}
/* A round has one message for each value from 1 to last_value; positions with value 0 stay.
 * count_moving: the number of positions that do not. */
static inline int last_value(const struct digit *digit) {
    int most = (digit->p - 1) / digit->width;
    return most < digit->radix ? most : digit->radix - 1;
}
static inline int count_moving(const struct digit *digit) {
    return digit->p - count_positions(digit, 0);
}
static inline bool is_last(const struct digit *digit) {
    return digit->width * digit->radix >= digit->p;
}

struct round {
    struct digit digit;
    struct parcel in[most_radix], out[most_radix]; /* by value - 1 */
    /* The whole send buffer, which each message of the round then is; NULL: see `packed`. */
    char *whole;
    char *packed; /* the messages */
    size_t room;
    /* Positions with i % width < early are packed before the round begins. */
    int early;
};

struct rounds {
    struct team *team;
    const struct call *call;
    struct blocks sends, recvs;
    int p, me;
    int delivered; /* number of positions whose blocks are in the receive buffer */
    bool known;    /* sizes: as in struct parcel */
    /* [p] where the block at each position lies, or will lie when its message has arrived. */
    struct run *slot;
    struct round *turns; /* [2] the round that runs, and the next one */
    /* The next parcel's `memory`; NULL if sizes are known. */
    size_t *next;
    struct larder larder; /* for the parcels */
};

/* Bytes that the parcels of all rounds cannot do without. */
size_t rounds_need(int p, int radix, bool known);
/* Lays out the messages of a round from the slots, and packs the early positions. round->digit must
 * be set. */
void round_open(struct rounds *r, struct round *round);
/* Start to receive the messages of a round; start to send its messages, after packing the rest. */
void round_expect(struct rounds *r, struct round *round, int mark);
void round_send(struct rounds *r, struct round *round);
/* Sets the slots of the received blocks, once their sizes are known. Local. */
void round_settle(struct rounds *r, const struct round *round);

#endif
