/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_halving - reduce_scatter by vector halving and distance doubling, for any number of
 * ranks (Thakur, Rabenseifner and Gropp 2005, section 4.3, with the parts in bit-reversed order, so
 * that consecutive groups combine and operands stay in the order of the ranks). Each rank beyond a
 * power of two gives its vector to a neighbour and gets its part from it.
 * Cost    ceil(log2 p) (L + 2 o) + n beta + n gamma of the whole vector, about twice that where p
 *         is no power of two; scratch two vectors.
 * Wins    long vectors. */
#include "coll/flat/pieces.h"

extern const struct algorithm_code algorithm_halving;

enum { TAG, TAG_EXTRA };

static double halving_cost(const struct figures *f, const struct shape *shape,
                           const struct arguments *arguments) {
    (void)arguments;
    size_t bytes = vector_bytes(f, shape);
    double seconds = 0;
    if (power_in(f->p) < f->p)
        seconds +=
            combining_steps(f, shape, 1, bytes) + steps_seconds(f, shape, 1, (double)shape->bytes);
    for (int left = f->p; left > 1; left /= 2) seconds += combining_steps(f, shape, 1, bytes /= 2);
    return seconds;
}

static char nowhere[1]; /* for a part that is lost */

struct halving_task {
    struct team *team;
    const struct call *call;
    const struct reduction *reduction;
    int power; /* ranks that take part: the largest power of two in p */
    int extra; /* ranks beyond it; each is the first of a pair, whose second takes part */
    int place; /* my number among those that take part */
    /* [power + 1] in elements: where the part of each place begins, places in bit-reversed
     * order. */
    size_t *starts;
    char *mine, *theirs;
};

static int rank_of(const struct halving_task *t, int place) {
    return place < t->extra ? 2 * place + 1 : place + t->extra;
}

static int reversed(const struct halving_task *t, int place) {
    int result = 0;
    for (int bit = 1; bit < t->power; bit *= 2) result = 2 * result + !!(place & bit);
    return result;
}

static void halving_trade(struct halving_task *t, int rank, const char *send, size_t sent,
                          char *recv, size_t received, int tag) {
    int mark = messages_mark(t->team);
    message_recv(t->team, rank, recv, received * t->reduction->bytes, tag);
    message_send(t->team, rank, send, sent * t->reduction->bytes, tag);
    messages_finish(t->team, mark);
}

/* The elements of a place: of its rank, or of both ranks of its pair. */
static struct part part_at(const struct halving_task *t, int place) {
    int rank = rank_of(t, place);
    struct part part = part_received(t->team, t->call, rank);
    if (place >= t->extra) return part;
    struct part before = part_received(t->team, t->call, rank - 1);
    return (struct part){before.first, before.count + part.count};
}

/* Copies my vector, place by place. */
static void halving_lay_out(struct halving_task *t) {
    size_t bytes = t->reduction->bytes;
    t->starts[0] = 0;
    for (int k = 0; k < t->power; k++) {
        struct part part = part_at(t, reversed(t, k));
        if (!messages_lost(t->team))
            memcpy(t->mine + t->starts[k] * bytes, t->call->send + part.first * bytes,
                   part.count * bytes);
        t->starts[k + 1] = t->starts[k] + part.count;
    }
}

/* Receives the vector of my pair's first rank, which is in the order of the ranks, and combines it
 * with mine. */
static void join_pairs(struct halving_task *t) {
    size_t bytes = t->reduction->bytes;
    halving_trade(t, t->team->me - 1, NULL, 0, t->theirs, t->reduction->count, TAG_EXTRA);
    for (int k = 0; k < t->power && !messages_lost(t->team); k++) {
        struct part part = part_at(t, reversed(t, k));
        t->reduction->combine(t->reduction, t->theirs + part.first * bytes,
                              t->mine + t->starts[k] * bytes, part.count);
    }
}

static void halve(struct halving_task *t) {
    size_t bytes = t->reduction->bytes;
    int low = 0, high = t->power;
    for (int bit = 1; bit < t->power; bit *= 2) {
        int middle = (low + high) / 2, other = t->place ^ bit, give = t->place & bit ? low : middle;
        if (t->place & bit) low = middle;
        else high = middle;
        size_t at = t->starts[low], count = t->starts[high] - at, away = t->starts[give];
        size_t sent = t->starts[give + high - low] - away;
        char *mine = t->mine + at * bytes;
        halving_trade(t, rank_of(t, other), t->mine + away * bytes, sent, t->theirs, count, TAG);
        if (messages_lost(t->team) || count == 0) continue;
        if (other < t->place) {
            t->reduction->combine(t->reduction, t->theirs, mine, count);
        } else {
            t->reduction->combine(t->reduction, mine, t->theirs, count);
            memcpy(mine, t->theirs, count * bytes);
        }
    }
}

static void halving_work(struct halving_task *t) {
    int me = t->team->me;
    struct part part = part_received(t->team, t->call, me);
    bool paired = me < 2 * t->extra;
    if (paired && me % 2 == 0) {
        halving_trade(t, me + 1, t->call->send, t->reduction->count, NULL, 0, TAG_EXTRA);
        halving_trade(t, me + 1, NULL, 0, t->call->recv, part.count, TAG_EXTRA);
        return;
    }
    halving_lay_out(t);
    if (paired) join_pairs(t);
    halve(t);
    size_t others = paired ? part_received(t->team, t->call, me - 1).count : 0;
    const char *result = t->mine + t->starts[reversed(t, t->place)] * t->reduction->bytes;
    if (!messages_lost(t->team))
        memcpy(t->call->recv, result + others * t->reduction->bytes,
               part.count * t->reduction->bytes);
    if (paired) halving_trade(t, me - 1, result, others, NULL, 0, TAG_EXTRA);
}

static enum outcome halving_run(struct team *team, const struct call *call,
                                const struct arguments *arguments) {
    (void)arguments;
    struct halving_task t = {
        .team = team, .call = call, .reduction = call->reduction, .power = power_in(team->p)};
    size_t bytes = call->reduction->count * call->reduction->bytes;
    t.extra = team->p - t.power;
    t.place = team->me < 2 * t.extra ? team->me / 2 : team->me - t.extra;
    t.starts = team_keeps_agreed(team, &algorithm_halving, 0,
                                 ((size_t)t.power + 1) * sizeof *t.starts, true);
    if (!t.starts) return LEFT;
    far_begin(team, call, false);
    size_t apart = (bytes + 63) / 64 * 64;
    t.mine = far_take(team, 2 * apart);
    t.theirs = t.mine ? t.mine + apart : nowhere;
    if (!t.mine) t.mine = nowhere;
    halving_work(&t);
    return far_end(team);
}

const struct algorithm_code algorithm_halving = {.where = BY_MESSAGES,
                                                 .loose = true,
                                                 .copies_in = true,
                                                 .cost = halving_cost,
                                                 .run = halving_run};
