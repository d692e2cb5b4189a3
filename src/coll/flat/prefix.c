/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_prefix - scan and exscan in log p steps (Hillis and Steele 1986): each rank holds the
 * combination of the w ranks up to itself, sends it to rank + w, and combines the one of rank - w
 * in front of its own; then w doubles.
 * Cost    ceil(log2 p) (L + 2 o + n beta + 2 n gamma);  scratch two pieces.
 * Wins    with many ranks. */
#include "coll/flat/pieces.h"

extern const struct algorithm_code algorithm_prefix;

enum { TAG };

static double prefix_cost(const struct figures *f, const struct shape *shape,
                          const struct arguments *arguments) {
    (void)arguments;
    int steps = steps_to(f->p);
    return combining_steps(f, shape, steps, shape->bytes) + steps * combine_seconds(shape->bytes);
}

/* One step: sends my piece to rank + w and receives that of rank - w. */
static void shift(struct team *team, int w, const char *mine, char *theirs, size_t bytes) {
    int mark = messages_mark(team);
    if (team->me >= w) message_recv(team, team->me - w, theirs, bytes, TAG);
    if (team->me + w < team->p) message_send(team, team->me + w, mine, bytes, TAG);
    messages_finish(team, mark);
}

static enum outcome prefix_run(struct team *team, const struct call *call,
                               const struct arguments *arguments) {
    (void)arguments;
    const struct reduction *reduction = call->reduction;
    bool exclusive = call->shape.collective == COLL_exscan;
    struct pieces pieces;
    if (!pieces_get(&pieces, team, reduction, piece_bytes)) return LEFT;
    far_begin(team, call, false);
    for (size_t at = 0, now; at < reduction->count; at += now) {
        now = reduction->count - at < pieces.most ? reduction->count - at : pieces.most;
        size_t bytes = now * reduction->bytes;
        char *mine = pieces.spare[0], *theirs = pieces.spare[1],
             *result = call->recv + at * reduction->bytes;
        if (!messages_lost(team)) memcpy(mine, call->send + at * reduction->bytes, bytes);
        for (int w = 1; w < team->p; w *= 2) {
            shift(team, w, mine, theirs, bytes);
            if (team->me < w || messages_lost(team)) continue;
            reduction->combine(reduction, theirs, mine, now);
            if (exclusive && w == 1) memcpy(result, theirs, bytes);
            else if (exclusive) reduction->combine(reduction, theirs, result, now);
        }
        if (!exclusive && !messages_lost(team)) memcpy(result, mine, bytes);
    }
    return far_end(team);
}

const struct algorithm_code algorithm_prefix = {
    .where = BY_MESSAGES, .loose = true, .copies_in = true, .cost = prefix_cost, .run = prefix_run};
