/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_fold - reduce along a binomial tree: each rank combines its vector with those of the
 * next 1, 2, 4 .. ranks and sends the result to its parent. Operands stay in the order of the
 * ranks; rank 0 sends the result to the root.
 * Cost    ceil(log2 p) (L + 2 o + n beta + n gamma), one message more where the root is not rank 0;
 *         scratch two pieces.
 * Wins    short vectors. */
#include "coll/flat/pieces.h"

extern const struct algorithm_code algorithm_fold;

enum { TAG, TAG_RESULT };

static double fold_cost(const struct figures *f, const struct shape *shape,
                        const struct arguments *arguments) {
    (void)arguments;
    return combining_steps(f, shape, steps_to(f->p), shape->bytes) +
           steps_seconds(f, shape, 1, (double)shape->bytes);
}

static void fold_await(struct team *team, int from, char *data, size_t bytes, int tag) {
    int mark = messages_mark(team);
    message_recv(team, from, data, bytes, tag);
    messages_finish(team, mark);
}

static void give(struct team *team, int to, const char *data, size_t bytes, int tag) {
    int mark = messages_mark(team);
    message_send(team, to, data, bytes, tag);
    messages_finish(team, mark);
}

/* One piece. *mine: what the rank has combined so far; swapped with *theirs, the received
 * vector. */
static void fold_climb(struct team *team, const struct reduction *reduction, char **mine,
                       char **theirs, size_t count) {
    size_t bytes = count * reduction->bytes;
    for (int bit = 1; bit < team->p; bit *= 2) {
        if (team->me & bit) {
            give(team, team->me - bit, *mine, bytes, TAG);
            return;
        }
        if (team->me + bit >= team->p) continue;
        fold_await(team, team->me + bit, *theirs, bytes, TAG);
        if (messages_lost(team)) continue;
        reduction->combine(reduction, *mine, *theirs, count);
        char *result = *theirs;
        *theirs = *mine, *mine = result;
    }
}

static enum outcome fold_run(struct team *team, const struct call *call,
                             const struct arguments *arguments) {
    (void)arguments;
    const struct reduction *reduction = call->reduction;
    struct pieces pieces;
    if (!pieces_get(&pieces, team, reduction, piece_bytes)) return LEFT;
    far_begin(team, call, false);
    for (size_t at = 0, now; at < reduction->count; at += now) {
        now = reduction->count - at < pieces.most ? reduction->count - at : pieces.most;
        size_t bytes = now * reduction->bytes, from = at * reduction->bytes;
        char *mine = pieces.spare[0], *theirs = pieces.spare[1];
        if (!messages_lost(team)) memcpy(mine, call->send + from, bytes);
        fold_climb(team, reduction, &mine, &theirs, now);
        if (team->me != 0 && team->me != call->root) continue;
        if (team->me != call->root) give(team, call->root, mine, bytes, TAG_RESULT);
        else if (team->me != 0) fold_await(team, 0, call->recv + from, bytes, TAG_RESULT);
        else if (!messages_lost(team)) memcpy(call->recv + from, mine, bytes);
    }
    return far_end(team);
}

const struct algorithm_code algorithm_fold = {
    .where = BY_MESSAGES, .loose = true, .copies_in = true, .cost = fold_cost, .run = fold_run};
