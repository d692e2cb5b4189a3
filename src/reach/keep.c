/* SPDX-License-Identifier: BSD-3-Clause */
/* keep - memory that a team keeps between calls, so that repeated calls allocate nothing: scratch
 * for the time of one call, and what an algorithm remembers. */
#include "reach/reach.h"

#include <stdlib.h>
#include <string.h>

enum {
    most_scratch = 4 << 20, /* more scratch than this is freed after each call */
    least_chunk = 4096,
    grain = 64, /* alignment, and granularity of sizes */
};

struct chunk {
    struct chunk *next;
    size_t room, used;
    _Alignas(64) char memory[];
};

void *scratch_take(struct team *team, size_t bytes) {
    struct chunk *chunk = team->scratch;
    bytes = (bytes + grain - 1) / grain * grain;
    if (!chunk || chunk->room - chunk->used < bytes) {
        size_t room = bytes > team->scratch_wish ? bytes : team->scratch_wish;
        if (room < least_chunk) room = least_chunk;
        chunk = aligned_alloc(grain, sizeof *chunk + room);
        if (!chunk) return NULL;
        *chunk = (struct chunk){.next = team->scratch, .room = room};
        team->scratch = chunk;
    }
    void *memory = chunk->memory + chunk->used;
    chunk->used += bytes;
    return memory;
}

static void free_chunks(struct team *team) {
    for (struct chunk *chunk = team->scratch, *next; chunk; chunk = next) {
        next = chunk->next;
        free(chunk);
    }
    team->scratch = NULL;
}

void scratch_drop(struct team *team) {
    size_t used = 0;
    if (!team->scratch) return;
    for (struct chunk *chunk = team->scratch; chunk; chunk = chunk->next) used += chunk->used;
    bool keep = !team->scratch->next && team->scratch->room <= most_scratch;
    if (keep) team->scratch->used = 0;
    else free_chunks(team);
    /* The next call gets one chunk that has room for all that this call took. */
    team->scratch_wish = used <= most_scratch ? used : 0;
}

struct kept {
    struct kept *next;
    const void *whose;
    unsigned which;
    bool agreed; /* all ranks have it; see team_keeps_agreed */
    _Alignas(64) char memory[];
};

static struct kept *keep_find(struct team *team, const void *whose, unsigned which) {
    struct kept *kept = team->kept;
    while (kept && (kept->whose != whose || kept->which != which)) kept = kept->next;
    return kept;
}

void *team_keeps(struct team *team, const void *whose, unsigned which, size_t bytes, bool *fresh) {
    struct kept *kept = keep_find(team, whose, which);
    *fresh = !kept;
    if (!kept) {
        size_t all = (sizeof *kept + bytes + grain - 1) / grain * grain;
        kept = aligned_alloc(grain, all);
        if (!kept) return NULL;
        memset(kept, 0, all);
        kept->whose = whose;
        kept->which = which;
        kept->next = team->kept;
        team->kept = kept;
    }
    return kept->memory;
}

void *team_keeps_agreed(struct team *team, const void *whose, unsigned which, size_t bytes,
                        bool fine) {
    struct kept *kept = keep_find(team, whose, which);
    if (kept && kept->agreed) return kept->memory;
    bool fresh;
    /* A rank that is not fine may not know `bytes` yet. */
    void *memory = fine ? team_keeps(team, whose, which, bytes, &fresh) : NULL;
    if (!messages_agree(team, memory && fine)) return NULL;
    keep_find(team, whose, which)->agreed = true;
    return memory;
}

void team_free_kept(struct team *team) {
    free_chunks(team);
    for (struct kept *kept = team->kept, *next; kept; kept = next) {
        next = kept->next;
        free(kept);
    }
    team->kept = NULL;
}
