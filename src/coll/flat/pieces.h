/* SPDX-License-Identifier: BSD-3-Clause */
/* pieces.h - private to coll/: what those have in common that combine by messages. Long vectors go
 * piece by piece: memory for two pieces is enough, and one is on its way while others are combined
 * elsewhere. */
#ifndef MORTAR_PIECES_H
#define MORTAR_PIECES_H

#include "coll/coll.h"

enum { piece_bytes = 1 << 20 };

struct pieces {
    size_t most;    /* elements of one */
    char *spare[2]; /* each has room for a piece; the team keeps them */
};

/* For pieces of up to so many bytes, the same on all ranks. Collective at the first call of a size;
 * false on all ranks when one has no memory. */
bool pieces_get(struct pieces *pieces, struct team *team, const struct reduction *reduction,
                size_t bytes);

/* Seconds for so many steps, one after the other, in each of which a vector comes and is
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
