/* SPDX-License-Identifier: BSD-3-Clause */
/* words.h - private to coll/: short messages by which ranks tell others, who may have left the call
 * by then, that they carry on in it; for tardy.c. Calls are numbered, alike on all ranks. A word
 * may come long before it is asked for, or to a rank that never asks: each rank knows how many
 * words come to it, receives what is there at the beginning of each call, and the rest before the
 * team dies. In every window each rank waits for the words of the one before, so they do not pile
 * up.
 *
 * Nobody waits for a rank that has left, as long as the MPI library sends eight bytes without the
 * receiver's help, as all do. */
#ifndef MORTAR_WORDS_H
#define MORTAR_WORDS_H

#include "coll/coll.h"

/* Like no other algorithm's: they may come while another one runs. */
enum { TAG_WORD = TAGS - 3, TAG_AFTER_WORD = TAGS - 2, words_window = 16 };

struct word {
    uint32_t number;  /* of the call */
    uint32_t counted; /* not asked for: in the receiver's `owed` */
};

struct words {
    uint32_t number; /* of the call that runs, or comes next */
    /* Counted words to me: until now, until the last window began; those that I have received. */
    uint64_t owed, mark, heard;
    bool lost; /* messages failed: nothing more is to be waited for */
    int count, room;
    struct known {
        uint32_t number;
        int rank;
    } *known; /* [room] what was said of this call and later ones */
};

/* The team's; it settles them before it dies. NULL: no memory. Local. */
struct words *words_of(struct team *team);
/* The same, and memory for all that is usually said of later calls. Local. */
bool words_ready(struct team *team);
/* Does a window begin with this call? The same on all ranks. */
static inline bool words_begin_window(const struct words *words) {
    return words->number % words_window == 0;
}
/* At the beginning of a call in which so many counted words will be sent to me. */
void words_catch_up(struct team *team, struct words *words, int owed);
/* Waits for the word of a rank of that node about this call: *rank is who said it. 0, or -errno:
 * nobody will. */
int words_wait(struct team *team, struct words *words, int node, int *rank);

#endif
