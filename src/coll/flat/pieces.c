/* SPDX-License-Identifier: BSD-3-Clause */
/* pieces - memory for the algorithms that combine by messages; see pieces.h. A rank without memory
 * cannot combine, and others would wait for it. So either all ranks have it or none begins. */
#include "coll/flat/pieces.h"

enum { least_bytes = 64 };

bool pieces_get(struct pieces *pieces, struct team *team, const struct reduction *reduction,
                size_t bytes) {
    static const char whose;
    pieces->most = reduction->bytes < bytes ? bytes / reduction->bytes : 1;
    if (pieces->most > reduction->count) pieces->most = reduction->count;
    unsigned which = 0;
    /* Rounded up to a size class, so that a longer vector of another rank fits if it is of the same
     * class. */
    while ((size_t)least_bytes << which <= pieces->most * reduction->bytes) which++;
    size_t room = (size_t)least_bytes << which;
    char *memory = team_keeps_agreed(team, &whose, which, 2 * room, true);
    if (!memory) return false;
    pieces->spare[0] = memory, pieces->spare[1] = memory + room;
    return true;
}
