/* SPDX-License-Identifier: BSD-3-Clause */
/* seen - calls that the host MPI ran on young communicators. To examine one takes 3 us where each
 * switch between ranks empties the TLB, more than all else that is done for it. What a team has
 * seen it remembers itself (known.c); young communicators come and go by thousands, so what was
 * seen on one serves the others with as many ranks. Ranks need not remember alike: a call counts
 * the same either way. */
#include "mpi/look.h"

enum { bits = 6 };

/* Two lines, of which most calls need both. */
static struct place {
    _Alignas(64) struct look look;
    struct fit fit;
    struct seen seen;
    int p;             /* ranks of the communicator; 0: nothing was seen */
    bool root;         /* this rank was the call's root */
    _Atomic bool busy; /* a thread is here; others go by */
} places[1 << bits];

HOT static struct place *place_of(const struct look *look, int p) {
    return &places[hashed(mix_of(look) + (uint64_t)p) >> (64 - bits)];
}

HOT static inline bool enter(struct place *place) {
    return !atomic_exchange_explicit(&place->busy, true, memory_order_acquire);
}

HOT static inline void leave(struct place *place) {
    atomic_store_explicit(&place->busy, false, memory_order_release);
}

HOT bool seen_find(const struct request *r, const struct young *young, struct seen *seen) {
    struct look look = look_with(r, r->recv.count);
    struct place *place = place_of(&look, young->p);
    if (!enter(place)) return false;
    bool found = looks_same(&place->look, &look) && place->p == young->p &&
                 place->root == (young->me == r->root) && buffers_fit(&place->fit, r);
    if (found) *seen = place->seen;
    leave(place);
    return found;
}

/* Neighbourhoods belong to a communicator, and lists may change in place. */
static bool tells_all(const struct request *r, const struct fit *fit) {
    if (among(r->collective, NEIGHBORS) || r->send.counts || r->recv.counts) return false;
    if (!among(r->collective, REDUCTIONS)) return types_are_steady(fit, r);
    return op_is_steady(r->op) && r->send.type == r->recv.type && type_is_steady(r->recv.type);
}

void seen_note(const struct request *r, const struct young *young, struct seen seen) {
    const struct standing at = {.p = young->p, .me = young->me};
    struct block_counts extent = extent_of(r, &at);
    struct fit fit = fit_of(r, &extent, young->me);
    if (!tells_all(r, &fit)) return;
    struct look look = look_with(r, r->recv.count);
    struct place *place = place_of(&look, young->p);
    if (!enter(place)) return;
    place->look = look;
    place->fit = fit;
    place->seen = seen;
    place->p = young->p;
    place->root = young->me == r->root;
    leave(place);
}
