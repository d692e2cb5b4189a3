/* SPDX-License-Identifier: BSD-3-Clause */
/* parcels.h - messages of several blocks whose sizes the receiver may not know: private to coll/.
 *
 * If it knows them, the message is the blocks, back to back. Otherwise a word and the sizes precede
 * the blocks, and long data follow in a second message. Reuse of sizes: if the sizes are those of
 * the sender's last parcel to this receiver, the word alone says so. It holds a number that both
 * sides count, so no other rank has to agree. A rank whose part is lost (messages.h) still sends
 * the word and the sizes, with a flag and without data. */
#ifndef MORTAR_PARCELS_H
#define MORTAR_PARCELS_H

#include "coll/coll.h"

struct parcel {
    int peer;
    int count;     /* of blocks */
    bool known;    /* the receiver knows the sizes */
    size_t *sizes; /* [count]; a receiver that does not know them gets them by parcels_finish */
    /* [1 + count] number and sizes of the last parcel, kept by the team, zero at first; NULL if
     * known. */
    size_t *memory;
    char *at;     /* the blocks; on the receiver set by parcel_expect or parcels_finish */
    size_t bytes; /* of the blocks */
    char *room;   /* for the word, the sizes and short data; NULL if known */
    int number;   /* of the message, as messages_next counts */
};

/* Hands out, piece by piece, memory that all ranks have agreed to have. */
struct larder {
    char *at;
};
static inline void *larder_take(struct larder *larder, size_t bytes) {
    char *at = larder->at;
    larder->at += (bytes + 15) / 16 * 16;
    return at;
}

/* Data up to this many bytes travel in the message of the sizes: they cost about the latency of
 * another message. */
enum { parcel_inside = 16 << 10 };
/* Bytes that must be free in front of the blocks to send. */
static inline size_t parcel_head(const struct parcel *parcel) {
    return parcel->known ? 0 : 8 * (1 + (size_t)parcel->count);
}
/* Memory that a parcel cannot do without, for sizes, memory and room; parcel_furnish hands it out.
 * comes: the parcel is received. */
static inline size_t parcel_needs(int count, bool known, bool comes) {
    size_t sizes = (size_t)count * sizeof(size_t) + 16, head = 8 * (1 + (size_t)count) + 16;
    if (known) return sizes;
    return sizes + head + (comes ? parcel_inside : 0);
}
static inline void parcel_furnish(struct parcel *parcel, struct larder *larder, bool comes) {
    parcel->sizes = larder_take(larder, (size_t)parcel->count * sizeof(size_t));
    if (!parcel->known)
        parcel->room = larder_take(larder, parcel_head(parcel) + (comes ? parcel_inside : 0));
}
/* Sends what lies at parcel->at, parcel->bytes long. */
void parcel_send(struct team *team, struct parcel *parcel, int tag);
/* Starts to receive a parcel. at: where to, NULL: into scratch memory. mark: as for
 * parcels_finish. */
void parcel_expect(struct team *team, struct parcel *parcel, char *at, int tag, int mark);
/* Waits for all messages since mark, among them these parcels, and completes the parcels. */
void parcels_finish(struct team *team, struct parcel *parcels, int count, int tag, int mark);

/* Copies pieces one after the other, and merges those that are consecutive on both sides. Starts
 * zeroed. Local. */
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
