/* SPDX-License-Identifier: BSD-3-Clause */
/* pieces.h - private to coll/: what those have in common that combine by messages. Long vectors go piece by piece: memory for two
 * pieces is enough, and one is on its way while others are combined elsewhere. */
#ifndef MORTAR_PIECES_H
#define MORTAR_PIECES_H

#include "coll/coll.h"

#include <stdlib.h>

enum { piece_bytes = 1 << 20, piece_stack = 4096 };

struct pieces {
    size_t most;             /* elements of one */
    char *spare[2], *memory; /* each has room for a piece */
    _Alignas(64) char stack[2 * piece_stack];
};

/* False: no memory, on this rank. */
static inline bool pieces_begin(struct pieces *pieces, const struct reduction *reduction) {
    pieces->most = reduction->bytes < piece_bytes ? piece_bytes / reduction->bytes : 1;
    if (pieces->most > reduction->count) pieces->most = reduction->count;
    size_t each = (pieces->most * reduction->bytes + 63) / 64 * 64;
    pieces->memory = each > piece_stack ? malloc(2 * each) : NULL;
    pieces->spare[0] = pieces->memory ? pieces->memory : pieces->stack;
    pieces->spare[1] = pieces->spare[0] + each;
    return pieces->memory || each <= piece_stack;
}

static inline void pieces_end(struct pieces *pieces) { free(pieces->memory); }

/* Seconds for so many steps, one after the other, in each of which a vector comes and is combined. */
static inline double combining_steps(const struct team *team, const struct shape *shape, int steps, size_t bytes) {
    return steps_seconds(team, shape, steps, (double)bytes) + steps * combine_seconds(bytes);
}
static inline int steps_to(int p) {
    int steps = 0;
    while (1 << steps < p) steps++;
    return steps;
}

#endif
