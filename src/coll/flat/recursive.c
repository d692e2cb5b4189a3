/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_recursive - allreduce by recursive doubling (Thakur, Rabenseifner and Gropp 2005,
 * section 4.4), for any number of ranks: each rank beyond a power of two gives its vector to a
 * neighbour and gets the result from it. Consecutive groups combine, so operands stay in the order
 * of the ranks, and the association is the same on all ranks.
 * Cost    ceil(log2 p) (L + 2 o + n beta + n gamma), one more if p is no power of two;
 *         scratch two pieces.
 * Wins    short vectors. */
#include "coll/flat/pieces.h"

extern const struct algorithm_code algorithm_recursive;

enum { TAG };

static double recursive_cost(const struct figures *f, const struct shape *shape,
                             const struct arguments *arguments) {
    (void)arguments;
    bool extra = power_in(f->p) < f->p;
    return combining_steps(f, shape, steps_to(f->p) + extra, shape->bytes);
}

/* One rank's part in a piece. `mine` is what it has combined so far; it changes places with
 * `theirs`. */
struct walk_of_piece {
    struct team *team;
    const struct reduction *reduction;
    size_t count, bytes;
    char *mine, *theirs;
};

static void swap(struct walk_of_piece *w) {
    char *mine = w->mine;
    w->mine = w->theirs, w->theirs = mine;
}

/* Sends and receives, if not NULL, and waits. */
static void recursive_trade(struct walk_of_piece *w, int rank, const char *send, char *recv) {
    int mark = messages_mark(w->team);
    if (recv) message_recv(w->team, rank, recv, w->bytes, TAG);
    if (send) message_send(w->team, rank, send, w->bytes, TAG);
    messages_finish(w->team, mark);
}

/* Combines the received vector, which is the right or the left operand, with mine. */
static void recursive_join(struct walk_of_piece *w, bool right) {
    if (messages_lost(w->team)) return;
    if (right) w->reduction->combine(w->reduction, w->mine, w->theirs, w->count), swap(w);
    else w->reduction->combine(w->reduction, w->theirs, w->mine, w->count);
}

static void recursive_walk(struct walk_of_piece *w) {
    int p = w->team->p, me = w->team->me, power = power_in(p);
    /* Of each pair only the second rank takes part. */
    int extra = p - power, place = me < 2 * extra ? me / 2 : me - extra;
    if (me < 2 * extra && me % 2 == 0) {
        recursive_trade(w, me + 1, w->mine, NULL);
        recursive_trade(w, me + 1, NULL, w->mine);
        return;
    }
    if (me < 2 * extra) recursive_trade(w, me - 1, NULL, w->theirs), recursive_join(w, false);
    for (int bit = 1; bit < power; bit *= 2) {
        int other = place ^ bit;
        recursive_trade(w, other < extra ? 2 * other + 1 : other + extra, w->mine, w->theirs);
        recursive_join(w, other > place);
    }
    if (me < 2 * extra) recursive_trade(w, me - 1, w->mine, NULL);
}

static enum outcome recursive_run(struct team *team, const struct call *call,
                                  const struct arguments *arguments) {
    (void)arguments;
    const struct reduction *reduction = call->reduction;
    struct walk_of_piece w = {.team = team, .reduction = reduction};
    struct pieces pieces;
    if (!pieces_get(&pieces, team, reduction, piece_bytes)) return LEFT;
    far_begin(team, call, false);
    for (size_t at = 0; at < reduction->count; at += w.count) {
        w.count = reduction->count - at < pieces.most ? reduction->count - at : pieces.most;
        w.bytes = w.count * reduction->bytes;
        w.mine = pieces.spare[0], w.theirs = pieces.spare[1];
        if (!messages_lost(team)) memcpy(w.mine, call->send + at * reduction->bytes, w.bytes);
        recursive_walk(&w);
        if (!messages_lost(team)) memcpy(call->recv + at * reduction->bytes, w.mine, w.bytes);
    }
    return far_end(team);
}

const struct algorithm_code algorithm_recursive = {.where = BY_MESSAGES,
                                                   .loose = true,
                                                   .copies_in = true,
                                                   .cost = recursive_cost,
                                                   .run = recursive_run};
