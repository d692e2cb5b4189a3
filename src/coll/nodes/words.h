/* SPDX-License-Identifier: BSD-3-Clause */
/* words.h - private to coll/: short messages by which a rank announces that it carries its node's
 * result, to ranks that may have left the call already; for tardy.c. Calls are numbered, alike on
 * all ranks. A word may arrive long before it is needed, or at a rank that never needs it. Each
 * rank knows how many words it will get, receives those that are there at the beginning of each
 * call, and the rest before the team is freed. In every window each rank waits for the words of the
 * window before, so they do not pile up.
 *
 * No rank waits for one that has left, provided that the MPI library sends eight bytes eagerly, as
 * all do. */
#ifndef MORTAR_WORDS_H
#define MORTAR_WORDS_H

#include "coll/coll.h"

/* Used by no other algorithm, since words may arrive while another one runs. */
enum { TAG_WORD = TAGS - 3, TAG_AFTER_WORD = TAGS - 2, words_window = 16 };

struct word {
    uint32_t number;  /* of the call */
    uint32_t counted; /* 1: the receiver counts it in `owed`; 0: it does not */
};

struct words {
    uint32_t number; /* of the call that runs, or of the next one */
    uint64_t owed;   /* counted words to me up to this call */
    uint64_t mark;   /* counted words to me up to the beginning of the last window */
    uint64_t heard;  /* counted words that I have received */
    bool lost;       /* messages failed: wait for nothing any more */
    int count, room;
    struct known {
        uint32_t number;
        int rank;
    } *known; /* [room] the words about this call and later ones; count of them */
};

/* The team's words; the team receives those still owed before it is freed. NULL: no memory.
 * Local. */
struct words *words_of(struct team *team);
/* The same, and allocates memory for the words of later calls. False: no memory. Local. */
bool words_ready(struct team *team);
/* Does a window begin with this call? The same on all ranks. */
static inline bool words_begin_window(const struct words *words) {
    return words->number % words_window == 0;
}
/* Call at the beginning of a call in which `owed` counted words will be sent to me. */
void words_catch_up(struct team *team, struct words *words, int owed);
/* Waits for a word about this call from a rank of that node; *rank: which rank. 0, or -errno: none
 * will come. */
int words_wait(struct team *team, struct words *words, int node, int *rank);

#endif
