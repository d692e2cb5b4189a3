/* SPDX-License-Identifier: BSD-3-Clause */
/* parcels.h - messages of several blocks whose sizes the receiver may not know: private to coll/.
 *
 * Where it knows them the message is the blocks, one behind the other. Else a word and the sizes
 * come before them; long data follow in a message of their own. Reuse of counts: the sender
 * compares the sizes with those of its last parcel on this way, and where they are the same the
 * word alone says so. It holds a number that both sides count, and needs nobody's agreement but the
 * two's. The word and the sizes come also from a rank whose part is lost (messages.h), and say so:
 * then there are no data. */
#ifndef MORTAR_PARCELS_H
#define MORTAR_PARCELS_H

#include "coll/coll.h"

struct parcel {
    int peer, count; /* of blocks */
    bool known;      /* the receiver knows the sizes */
    size_t *sizes;   /* [count]; where they are not known, filled by parcel_open */
    /* [1 + count] kept by the team, zero at first: the number and sizes of the last parcel; known:
     * NULL. */
    size_t *memory;
    char *at;     /* the blocks; set by parcel_expect or parcel_open */
    size_t bytes; /* of the blocks */
    char *room;   /* for the word and the sizes, and what comes with them; known: NULL */
    int number;   /* as messages_next counts */
};

/* Memory that all ranks have agreed to have, handed out piece by piece. */
struct larder {
    char *at;
};
static inline void *larder_take(struct larder *larder, size_t bytes) {
    char *at = larder->at;
    larder->at += (bytes + 15) / 16 * 16;
    return at;
}

/* Data up to here travel behind their sizes: about what the latency of a message of its own
 * costs. */
enum { parcel_inside = 16 << 10 };
/* Bytes that must be free before the blocks that are sent. */
static inline size_t parcel_head(const struct parcel *parcel) {
    return parcel->known ? 0 : 8 * (1 + (size_t)parcel->count);
}
/* What a parcel needs in any case, and can be given: sizes, memory, room. comes: it is received. */
static inline size_t parcel_needs(int count, bool known, bool comes) {
    size_t sizes = (size_t)count * sizeof(size_t) + 16, head = 8 * (1 + (size_t)count) + 16;
    return sizes + (known ? 0 : head + (comes ? parcel_inside : 0));
}
static inline void parcel_furnish(struct parcel *parcel, struct larder *larder, bool comes) {
    parcel->sizes = larder_take(larder, (size_t)parcel->count * sizeof(size_t));
    if (!parcel->known)
        parcel->room = larder_take(larder, parcel_head(parcel) + (comes ? parcel_inside : 0));
}
/* Sends what lies at parcel->at, parcel->bytes long. */
void parcel_send(struct team *team, struct parcel *parcel, int tag);
/* Begins to receive: as the first message since mark that has this number. at: where to, or NULL:
 * into scratch. */
void parcel_expect(struct team *team, struct parcel *parcel, char *at, int tag, int mark);
/* Waits for all messages since mark, among them these parcels, which are complete then. */
void parcels_finish(struct team *team, struct parcel *parcels, int count, int tag, int mark);

/* Copies pieces one after the other, as one where they follow each other on both sides. Begins as
 * zeros. Local. */
struct joint {
    char *to;
    const char *from;
    size_t bytes;
};
static inline void joint_end(struct joint *joint) {
    static const struct copier plain = {.kernel = KERNEL_plain};
    if (joint->bytes) copy_block(&plain, joint->to, joint->from, joint->bytes);
    *joint = (struct joint){0};
}
static inline void joint_add(struct joint *joint, char *to, const char *from, size_t bytes) {
    if (bytes && (joint->to + joint->bytes != to || joint->from + joint->bytes != from)) {
        joint_end(joint);
        *joint = (struct joint){to, from, 0};
    }
    joint->bytes += bytes;
}

#endif
