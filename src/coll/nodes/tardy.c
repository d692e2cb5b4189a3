/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_tardy - reduce over several nodes for ranks that arrive at different times: a rank
 * leaves its vector in its node's memory (arrival.c) and returns. Only the root, and on every other
 * node the last rank to arrive, take part among the nodes (parsons2015 section III). The nodes
 * before the root's and those after it form one binomial tree each, so operands stay in the order
 * of the nodes, and the association does not depend on arrival.
 *
 * No other rank knows which rank was the last of a node, so words announce it (words.c). The last
 * rank of a node sends a word to each rank of the nodes below it. The last ranks of those wait for
 * it, answer with a word and send their vector. To the root, which all ranks know, they do so at
 * once. In the first call of a window the root sends its word, too, so that ranks which only send
 * cannot run arbitrarily far ahead.
 *
 * Cost    as arrival inside the node; then ceil(log2 nodes) (2 L + (ranks of a node + 3) o + n beta
 *         + n gamma).
 * Wins    if ranks arrive at different times; if they arrive together, the words are its
 *         overhead. */
#include "coll/node/arrival.h"
#include "coll/flat/pieces.h"
#include "coll/nodes/words.h"

#include <errno.h>

extern const struct algorithm_code algorithm_tardy;

/* One piece of a vector. */
struct tardy_task {
    struct team *team;
    struct words *words;
    const struct reduction *reduction;
    struct word up, down;
    struct load load;
    int root;       /* rank */
    int home;       /* my node */
    int middle;     /* the root's node */
    const char *at; /* what I carry */
    char *own;      /* the same, if I may write there; NULL: I may not */
    char *spare[2];
};

/* ---- the trees: nodes by their distance from the root's node ---- */

static int tardy_distance(const struct tardy_task *t, int node) {
    return node < t->middle ? t->middle - node : node - t->middle;
}
static int tardy_parent(const struct tardy_task *t, int node) {
    int from = tardy_distance(t, node), to = from & (from - 1);
    return node < t->middle ? t->middle - to : t->middle + to;
}
/* Child number k of my node on that side (-1 or 1); -1: there is none. */
static int tardy_child(const struct tardy_task *t, int side, int k) {
    int from = tardy_distance(t, t->home), to = from + (1 << k);
    bool outside = from & ((1 << (k + 1)) - 1) || (from && (t->home > t->middle) != (side > 0));
    int node = t->middle + side * to;
    return outside || node < 0 || node >= t->team->places->nodes ? -1 : node;
}

/* ---- among the nodes ---- */

/* Sends "I am the last of my node" to all ranks of the nodes below mine, as I do not know which of
 * them needs it. */
static void tell_below(const struct tardy_task *t) {
    const struct places *places = t->team->places;
    for (int side = -1; side <= 1; side += 2) {
        for (int k = 0, node; (node = tardy_child(t, side, k)) >= 0; k++)
            for (int l = 0; l < ranks_on(places, node); l++)
                word_send(t->team, rank_at(places, node, l), &t->down, sizeof t->down, TAG_WORD);
    }
}

/* Combines the vector received from that side with mine. */
static void tardy_combine(struct tardy_task *t, int side, char *theirs) {
    const struct reduction *reduction = t->reduction;
    if (messages_lost(t->team)) return;
    if (side > 0) {
        reduction->combine(reduction, t->at, theirs, t->load.count);
        t->at = t->own = theirs;
        load_drop(&t->load);
        return;
    }
    if (!t->own) {
        char *spare = theirs == t->spare[0] ? t->spare[1] : t->spare[0];
        t->at = t->own = memcpy(spare, t->at, t->load.bytes);
    }
    reduction->combine(reduction, theirs, t->own, t->load.count);
}

static void take_in(struct tardy_task *t) {
    for (int side = -1; side <= 1; side += 2) {
        for (int k = 0, node; (node = tardy_child(t, side, k)) >= 0; k++) {
            char *theirs = t->at == t->spare[0] ? t->spare[1] : t->spare[0];
            int from, mark = messages_mark(t->team);
            if (words_wait(t->team, t->words, node, &from) != 0) return;
            message_recv(t->team, from, theirs, t->load.bytes, TAG_AFTER_WORD);
            messages_finish(t->team, mark);
            tardy_combine(t, side, theirs);
        }
    }
}

static void hand_up(const struct tardy_task *t) {
    int above = tardy_parent(t, t->home), to = t->root;
    if (above != t->middle && words_wait(t->team, t->words, above, &to) != 0) return;
    word_send(t->team, to, &t->up, sizeof t->up, TAG_WORD);
    message_send(t->team, to, t->at, t->load.bytes, TAG_AFTER_WORD);
}

static void reduce_piece(struct tardy_task *t, char *result) {
    struct team *team = t->team;
    bool is_root = team->me == t->root;
    bool root_tells = words_begin_window(t->words);
    int owed = t->home != t->middle && (root_tells || tardy_parent(t, t->home) != t->middle);
    int mark = messages_mark(team);
    words_catch_up(team, t->words, owed);
    if (is_root && root_tells) tell_below(t);
    if (t->home == t->middle) {
        arrival_reduce(team->node, team->places->local_of[t->root], &t->load, result);
        if (!is_root) return;
        t->at = t->own = result;
    } else {
        const char *sent = t->load.at; /* still the user's buffer if no other rank is on my node */
        if (!arrival_combine(team->node, &t->load)) return;
        t->at = t->load.at;
        t->own = t->at == sent ? NULL : (char *)(uintptr_t)t->at;
        tell_below(t);
    }
    take_in(t);
    if (!is_root) hand_up(t);
    messages_finish(team, mark);
    if (is_root && t->at != result) memcpy(result, t->at, t->load.bytes);
    load_drop(&t->load);
}

static enum outcome tardy_run(struct team *team, const struct call *call,
                              const struct arguments *arguments) {
    (void)arguments;
    const struct reduction *reduction = call->reduction;
    size_t bytes = reduction->bytes, most = bytes3 / bytes;
    if (most == 0) return LEFT;
    struct pieces pieces;
    struct words *words = words_of(team);
    if (!words || !pieces_get(&pieces, team, reduction, bytes3)) return LEFT;
    far_begin(team, call, false);
    struct tardy_task task = {
        .team = team, .words = words, .reduction = reduction, .root = call->root};
    task.home = team->places->node_of[team->me];
    task.middle = team->places->node_of[call->root];
    for (int i = 0; i < 2; i++) task.spare[i] = pieces.spare[i];
    for (size_t at = 0, now; at < reduction->count; at += now) {
        now = reduction->count - at < most ? reduction->count - at : most;
        task.up = (struct word){words->number, 0};
        task.down = (struct word){words->number, 1};
        task.load = load_of(team->node, reduction, call->send + at * bytes, now);
        reduce_piece(&task, call->recv + at * bytes);
        words->number++;
    }
    return far_end(team);
}

static int tardy_prepare(struct team *team, const struct arguments *arguments) {
    (void)arguments;
    return team_agree(team, words_ready(team)) ? 0 : -ENOMEM;
}

static bool tardy_can(const struct figures *f, const struct calls *calls,
                      const struct arguments *arguments) {
    (void)arguments;
    return !calls->largest.ordered || f->in_order;
}

static double tardy_cost(const struct figures *f, const struct shape *shape,
                         const struct arguments *arguments) {
    struct shape alone = *shape;
    alone.beside = 1; /* one rank of each node sends */
    int steps = steps_to(f->nodes);
    double pieces = (double)(shape->bytes / bytes3 + 1),
           inside = algorithms[ALGORITHM_arrival].code->cost(f->node, shape, arguments);
    double words = steps * burst_seconds(f, &alone, f->most + 1, sizeof(struct word));
    return inside + pieces * words + combining_steps(f, &alone, steps, shape->bytes);
}

const struct algorithm_code algorithm_tardy = {.where = OVER_NODES,
                                               .loose = true,
                                               .copies_in = true,
                                               .can = tardy_can,
                                               .prepare = tardy_prepare,
                                               .cost = tardy_cost,
                                               .run = tardy_run};
