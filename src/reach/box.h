/* SPDX-License-Identifier: BSD-3-Clause */
/* box.h - a part of reach.h: data from one rank to some others, without a barrier (box.c).
 *
 * Every rank owns a ring of boxes. Each call of a team that goes through boxes has a number, op.
 * Part k of the call on rank r is in box (op + k) % BOXES of r. The owner fills a box once all
 * readers of its last contents have acknowledged. Nothing else synchronises the ranks, so a rank
 * may be up to BOXES parts ahead of its readers. A reader may read a box from box_ready or
 * box_wait_for until its box_ack. There is no deadlock if every rank makes the calls in the order
 * of op, and in a call takes the parts k in order: fills its own box, then reads all others. */
#ifndef MORTAR_BOX_H
#define MORTAR_BOX_H

#include "reach/reach.h"

struct box {
    _Alignas(64) _Atomic uint64_t holds; /* op and part; 0: nothing yet */
    /* Readers wait on it: grows at least by one for each filling; wraps. */
    struct flag rings;
    /* The owner waits on it: the latest filling that all its readers have acknowledged. */
    struct flag emptied;
    uint32_t readers;             /* of the contents: ranks, or their groups */
    bool grouped;                 /* they acknowledge in groups; see box.c */
    uint32_t filling;             /* number of the contents; wraps */
    double entered, last_entered; /* when the owner and last_reader entered the call; see waits.c */
    int32_t last_reader;          /* the rank that acknowledged last */
    _Alignas(64) _Atomic uint32_t taken; /* acknowledgements so far, if readers > 1 */
    _Alignas(64) char inside[BOX_INSIDE];
};
struct outbox {
    /* The number, from 1, of the box that the rank waits at; 0: none. The rank may have stopped
     * waiting meanwhile; to ring there is then harmless. */
    _Alignas(64) _Atomic uint32_t desk;
    struct box boxes[BOXES];
};
/* Bytes for the outboxes of p ranks and their rooms. boxes_attach makes a team's of that many zero
 * bytes. Local. */
size_t boxes_size(int p, size_t slot);
void boxes_attach(struct team *team, char *memory, size_t slot);
/* The number of the next call. Every rank must count every such call. Local. */
static inline uint64_t box_next_op(struct team *team) { return ++team->ops; }
struct box *box_of(const struct team *team, int rank, uint64_t op, uint32_t part);
/* Rooms take what is too long for `inside`. Each rank has BOXES rooms of figures.box_room bytes. */
char *box_room_of(const struct team *team, int rank, uint32_t room);
/* Waits until nobody reads in my room any more, and gives it to this free box of mine. */
char *box_wait_room(struct team *team, struct box *box, uint32_t room);
/* Waits until nobody reads my box any more: before it is filled, or until its readers are done. */
struct box *box_wait_free(struct team *team, uint64_t op, uint32_t part);
/* Publishes what was written into my free box to `readers` >= 1 ranks, or to all others. */
enum { ALL_OTHERS = 0x7fffffff };
void box_publish(const struct team *team, struct box *box, uint64_t op, uint32_t part,
                 uint32_t readers);
/* True: the source has published the part. */
bool box_ready(const struct team *team, int source, uint64_t op, uint32_t part);
void box_wait_for(struct team *team, int source, uint64_t op, uint32_t part);
/* I shall look into the box soon, and a short letter in it. */
static inline void box_soon(const struct box *box) {
    __builtin_prefetch(box);
    __builtin_prefetch(box->inside);
}
/* To wait for any of several sources: call box_settle for the box of one of them, then box_ready
 * for all, and if none is ready box_wait_settled with the result of box_settle. It returns when
 * that box is filled, or when another sender calls box_ring. */
uint32_t box_settle(struct team *team, int source, uint64_t op, uint32_t part);
void box_wait_settled(struct team *team, int source, uint64_t op, uint32_t part, uint32_t rings);
/* After box_publish, by a sender that will wait for this reader: wakes the reader if it has settled
 * at another rank's box. */
void box_ring(const struct team *team, int reader);
/* One reader is done; it may not touch the box afterwards. True: it was the last one, and the owner
 * may sleep: box_wake has to follow behind a flags_fence, which may serve many boxes. */
bool box_ack(const struct team *team, struct box *box);
static inline void box_wake(struct box *box) { flag_wake(&box->emptied); }

#endif
