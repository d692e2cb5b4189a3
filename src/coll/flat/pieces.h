/* SPDX-License-Identifier: BSD-3-Clause */
/* pieces.h - private to coll/: shared by the algorithms that combine by messages. Long vectors go
 * piece by piece: memory for two pieces is enough, and one piece is in flight while other ranks
 * combine another. */
#ifndef MORTAR_PIECES_H
#define MORTAR_PIECES_H

#include "coll/coll.h"

enum { piece_bytes = 1 << 20 };

struct pieces {
    size_t most;    /* elements of a piece */
    char *spare[2]; /* each has room for a piece; the team keeps them */
};

/* Gets memory for pieces of up to `bytes`, the same on all ranks. Collective at the first call of a
 * size class. False on all ranks: one has no memory. */
bool pieces_get(struct pieces *pieces, struct team *team, const struct reduction *reduction,
                size_t bytes);

/* Seconds for `steps` steps, one after the other, in each of which a vector is received and
 * combined. */
static inline double combining_steps(const struct figures *f, const struct shape *shape, int steps,
                                     size_t bytes) {
    return steps_seconds(f, shape, steps, (double)bytes) + steps * combine_seconds(bytes);
}
static inline int steps_to(int p) {
    int steps = 0;
    while (1 << steps < p) steps++;
    return steps;
}

#endif
