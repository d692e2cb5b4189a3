/* SPDX-License-Identifier: BSD-3-Clause */
/* parcels.h - messages of several blocks whose sizes the receiver may not know: private to coll/.
 *
 * Where it knows them the message is the blocks, one behind the other. Else a word and the sizes come before them; long data follow
 * in a message of their own. Reuse of counts: the sender compares the sizes with those of its last parcel on this way, and where
 * they are the same the word alone says so. It holds a number that both sides count, and needs nobody's agreement but the two's. */
#ifndef MORTAR_PARCELS_H
#define MORTAR_PARCELS_H

#include "coll/coll.h"

struct parcel {
    int peer, count; /* of blocks */
    bool known;      /* the receiver knows the sizes */
    size_t *sizes;   /* [count]; where they are not known, filled by parcel_open */
    size_t *memory;  /* [1 + count] kept by the team, zero at first: the number and sizes of the last parcel; known: NULL */
    char *at;        /* the blocks; set by parcel_expect or parcel_open */
    size_t bytes;    /* of the blocks */
    char *room;      /* of messages that wait to be opened */
    int number;      /* as messages_next counts */
};

/* Bytes that must be free before the blocks that are sent. */
static inline size_t parcel_head(const struct parcel *parcel) { return parcel->known ? 0 : 8 * (1 + (size_t)parcel->count); }
/* Sends what lies at parcel->at, parcel->bytes long. All: 0 or -errno. */
int parcel_send(struct team *team, struct parcel *parcel, int tag);
/* Begins to receive: as the first message since mark that has this number. at: where to, or NULL: into scratch. */
int parcel_expect(struct team *team, struct parcel *parcel, char *at, int tag, int mark);
/* Waits for all messages since mark, among them these parcels, which are complete then. */
int parcels_finish(struct team *team, struct parcel *parcels, int count, int tag, int mark);

/* Copies pieces one after the other, as one where they follow each other on both sides. Begins as zeros. Local. */
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
