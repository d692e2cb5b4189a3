/* SPDX-License-Identifier: BSD-3-Clause */
/* rounds.h - the rounds of bruck.c, one for each digit of the positions: which blocks a message
 * holds, where they come from and where they lie. Private to coll/. */
#ifndef MORTAR_ROUNDS_H
#define MORTAR_ROUNDS_H

#include "coll/flat/parcels.h"

enum { TAG = 2, most_radix = 64 };

/* A digit of the positions 0 .. p - 1: how many of them in a row share its value, and its base. */
struct digit {
    int p, width, radix;
};

/* The last position with this value of the digit, and the one before another; negative: there is
 * none. */
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
    return digit->p / cycle * digit->width + (rest < 0              ? 0
                                              : rest < digit->width ? rest
                                                                    : digit->width);
}
/* A round has a message for each value but 0, which stays: the values from 1 on, and the positions
 * that have them. */
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
    /* What each message is: all that is sent; NULL: */
    char *whole;
    char *packed; /* the messages */
    size_t room;
    /* Positions that leave less than this when divided by width are packed before the round. */
    int early;
};

struct rounds {
    struct team *team;
    const struct call *call;
    struct blocks sends, recvs;
    int p, me;
    int delivered; /* so many positions' blocks are in the receive buffer */
    bool known;
    /* [p] where the block at each position lies, or will when the messages under way have come. */
    struct run *slot;
    /* What parcels remember: of the next parcel; NULL where sizes are known. */
    size_t *next;
    struct larder larder; /* for the parcels */
};

/* Bytes that the parcels of all rounds need, whatever becomes of the call. */
size_t rounds_need(int p, int radix, bool known);
/* Lays out the messages of a round, of which digit is set, by what the slots say, and packs what is
 * early. */
void round_open(struct rounds *r, struct round *round);
/* Begins to receive its messages; to send them, packing the rest. */
void round_expect(struct rounds *r, struct round *round, int mark);
void round_send(struct rounds *r, struct round *round);
/* Sets the slots of what comes: not before its sizes are known. Local. */
void round_settle(struct rounds *r, const struct round *round);

#endif
