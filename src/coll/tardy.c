/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_tardy - reduce over several nodes where ranks come at different times: a rank leaves its vector in its node's memory
 * (arrival.c) and goes; only the root, and on every other node the last rank to come, carry on, among the nodes (parsons2015
 * section III). The nodes before the root's and those after it are a binomial tree each, so operands stay in the order of the
 * nodes, and brackets do not depend on who comes when.
 *
 * Who is the last of a node nobody else knows, so words tell it (words.c): the last of a node says so to each rank of the nodes
 * below it; their last ones wait for that, say a word back, that they are it, and send their vector. To the root, which all know,
 * they do so at once; but in the first call of a window the root tells its word too, so that who only sends does not run away.
 *
 * Cost    inside the node as arrival; then ceil(log2 nodes) (2 L + (ranks of a node + 3) o + n beta + n gamma).
 * Wins    where ranks come at different times; where they come together the words are what it loses. */
#include "coll/arrival.h"
#include "coll/pieces.h"
#include "coll/words.h"

#include <errno.h>

extern const struct algorithm_code algorithm_tardy;

/* One piece of a vector. */
struct task {
    struct team *team;
    struct words *words;
    const struct reduction *reduction;
    struct word up, down;
    struct load load;
    int root, home, middle; /* rank; my node and the root's */
    const char *at;         /* what I carry */
    char *own;              /* the same, where I may write there */
    char *spare[2];
};

/* ---- the trees: node by distance from the root's ---- */

static int distance(const struct task *t, int node) { return node < t->middle ? t->middle - node : node - t->middle; }
static int parent(const struct task *t, int node) {
    int from = distance(t, node), to = from & (from - 1);
    return node < t->middle ? t->middle - to : t->middle + to;
}
/* Child number k of my node on that side (-1 or 1); -1: there is none. */
static int child(const struct task *t, int side, int k) {
    int from = distance(t, t->home), to = from + (1 << k);
    bool outside = from & ((1 << (k + 1)) - 1) || (from && (t->home > t->middle) != (side > 0));
    int node = t->middle + side * to;
    return outside || node < 0 || node >= t->team->places->nodes ? -1 : node;
}

/* ---- among the nodes ---- */

/* "I carry on", to all ranks of the nodes below mine: who needs it only they know. */
static int tell_below(const struct task *t) {
    const struct places *places = t->team->places;
    int error = 0;
    for (int side = -1; side <= 1; side += 2) {
        for (int k = 0, node; (node = child(t, side, k)) >= 0; k++)
            for (int l = 0; l < ranks_on(places, node) && !error; l++)
                error = message_send(t->team, rank_at(places, node, l), &t->down, sizeof t->down, TAG_WORD);
    }
    return error;
}

/* What came from that side, to what I carry. */
static void combine(struct task *t, int side, char *theirs) {
    const struct reduction *reduction = t->reduction;
    if (side > 0) {
        reduction->combine(reduction, t->at, theirs, t->load.count);
        t->at = t->own = theirs;
        load_drop(&t->load);
        return;
    }
    if (!t->own) t->at = t->own = memcpy(theirs == t->spare[0] ? t->spare[1] : t->spare[0], t->at, t->load.bytes);
    reduction->combine(reduction, theirs, t->own, t->load.count);
}

static int take_in(struct task *t) {
    int error = 0;
    for (int side = -1; side <= 1; side += 2) {
        for (int k = 0, node; !error && (node = child(t, side, k)) >= 0; k++) {
            char *theirs = t->at == t->spare[0] ? t->spare[1] : t->spare[0];
            int from;
            error = words_wait(t->team, t->words, node, &from);
            if (!error) error = words_receive(t->team, from, theirs, t->load.bytes, TAG_AFTER_WORD);
            if (!error) combine(t, side, theirs);
        }
    }
    return error;
}

static int hand_up(const struct task *t) {
    int error = 0, above = parent(t, t->home), to = t->root;
    if (above != t->middle) error = words_wait(t->team, t->words, above, &to);
    if (!error) error = message_send(t->team, to, &t->up, sizeof t->up, TAG_WORD);
    return error ? error : message_send(t->team, to, t->at, t->load.bytes, TAG_AFTER_WORD);
}

static int reduce_piece(struct task *t, char *result) {
    struct team *team = t->team;
    bool is_root = team->me == t->root;
    bool root_tells = words_begin_window(t->words);
    int owed = t->home != t->middle && (root_tells || parent(t, t->home) != t->middle);
    int mark = messages_mark(team), error = words_catch_up(team, t->words, owed);
    if (!error && is_root && root_tells) error = tell_below(t);
    if (t->home == t->middle) {
        arrival_reduce(team->node, team->places->local_of[t->root], &t->load, result);
        if (!is_root) return error;
        t->at = t->own = result;
    } else {
        const char *sent = t->load.at; /* the user's, still, where no other rank sits */
        if (!arrival_combine(team->node, &t->load)) return error;
        t->at = t->load.at;
        t->own = t->at == sent ? NULL : (char *)(uintptr_t)t->at;
        if (!error) error = tell_below(t);
    }
    if (!error) error = take_in(t);
    if (!error && !is_root) error = hand_up(t);
    int last = messages_finish(team, mark);
    if (is_root && t->at != result) memcpy(result, t->at, t->load.bytes);
    load_drop(&t->load);
    return error ? error : last;
}

static enum outcome run(struct team *team, const struct call *call, const struct arguments *arguments) {
    (void)arguments;
    const struct reduction *reduction = call->reduction;
    size_t bytes = reduction->bytes, most = bytes3 / bytes;
    if (most == 0) return LEFT;
    struct words *words = words_of(team);
    struct task task = {.team = team, .words = words, .reduction = reduction, .root = call->root};
    task.home = team->places->node_of[team->me];
    task.middle = team->places->node_of[call->root];
    if (most > reduction->count) most = reduction->count;
    for (int i = 0; i < 2; i++) task.spare[i] = scratch_take(team, most * bytes);
    int error = words && task.spare[0] && task.spare[1] ? 0 : -ENOMEM;
    for (size_t at = 0, now; at < reduction->count && !error; at += now) {
        now = reduction->count - at < most ? reduction->count - at : most;
        task.up = (struct word){words->number, 0};
        task.down = (struct word){words->number, 1};
        task.load = load_of(team->node, reduction, call->send + at * bytes, now);
        error = reduce_piece(&task, call->recv + at * bytes);
        words->number++;
    }
    scratch_drop(team);
    if (error && words) words->lost = true;
    return error ? FAILED : DONE;
}

static int prepare(struct team *team, const struct arguments *arguments) {
    (void)arguments;
    return team_agree(team, words_of(team) != NULL) ? 0 : -ENOMEM;
}

static bool can(const struct team *team, const struct calls *calls, const struct arguments *arguments) {
    (void)arguments;
    return !calls->largest.ordered || team->places->in_order;
}

static double cost(const struct team *team, const struct shape *shape, const struct arguments *arguments) {
    struct shape alone = *shape;
    alone.beside = 1; /* one rank of each node sends */
    int steps = steps_to(team->places->nodes);
    double pieces = (double)(shape->bytes / bytes3 + 1),
           inside = algorithms[ALGORITHM_arrival].code->cost(team->model, shape, arguments);
    double words = steps * burst_seconds(team, &alone, team->places->most + 1, sizeof(struct word));
    return inside + pieces * words + combining_steps(team, &alone, steps, shape->bytes);
}

const struct algorithm_code algorithm_tardy = {
    .where = OVER_NODES, .loose = true, .copies_in = true, .can = can, .prepare = prepare, .cost = cost, .run = run};
