/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_arrival - a rank leaves its vector in shared memory and returns; only the root waits
 * (parsons2015 section III, the part within a node). At each inner node of a binary tree over the
 * ranks the first of two ranks to arrive deposits what it carries and leaves; the second combines
 * both and climbs. The rank that reaches the top hands the result to the root. So log p
 * combinations follow the last arrival. Which rank combines depends on arrival; operand order and
 * association do not.
 *
 * The word of a node's entry (arrival.h) says which side has deposited: 0, or 1 (left), 2 (right).
 * Each side has its own memory, so no rank waits for a peer between claiming and filling. A rank
 * that arrives from side s finds
 *   0      its partner has not come: it deposits and sets s, unless the partner does so meanwhile;
 *   s      its own side's vector of call k - depth, which the partner has yet to fetch: it waits;
 *   else   the partner's vector of this call: all ranks of side s have left call k - depth, so the
 *          vector of that call is consumed.
 * A combined vector stays in the entry where it was combined, and the entry is held until the
 * vector has moved on; only a rank that is calls ahead waits for that. So a long vector is copied
 * once, when it is deposited. A root has one box per class; its word is 1 + the rank that filled
 * it. The box is empty when it is filled: the result contains the root's own vector, so the root is
 * in this call already.
 *
 * Cost    no barrier; per rank about one copy and one combination. Longer vectors go in pieces.
 * Wins    where ranks come at different times, or run ahead of each other. */
#include "coll/node/arrival.h"

extern const struct algorithm_code algorithm_arrival;

/* False: the partner's vector is there, so I have to combine. */
HOT static bool deposit(struct team *team, struct entry *entry, uint32_t side,
                        const struct load *load) {
    uint32_t seen = flag_look(&entry->flag);
    while (seen == side) seen = flag_wait(team, &entry->flag, side);
    if (seen != 0) return false;
    memcpy(entry->vectors + (side - 1) * classes[load->class].bytes, load->at, load->bytes);
    return atomic_compare_exchange_strong_explicit(&entry->flag.word, &seen, side,
                                                   memory_order_acq_rel, memory_order_acquire);
}

/* Combines my vector and the partner's, which is there. My side's memory is free: its vector of an
 * earlier call is consumed. */
HOT static void arrival_merge(struct load *load, struct entry *entry, uint32_t side) {
    const struct reduction *reduction = load->reduction;
    size_t room = classes[load->class].bytes;
    char *theirs = entry->vectors + (2 - side) * room,
         *mine = load->held ? (char *)(uintptr_t)load->at : entry->vectors + (side - 1) * room;
    if (side == 1) {
        reduction->combine(reduction, load->at, theirs, load->count);
        load_hold(load, entry, theirs, 0);
        return;
    }
    if (!load->held) memcpy(mine, load->at, load->bytes);
    reduction->combine(reduction, theirs, mine, load->count);
    if (load->held) flag_set(&entry->flag, 0);
    else load_hold(load, entry, mine, 0);
}

/* Do I carry the result? */
HOT static bool arrival_climb(struct team *team, struct load *load, uint32_t number) {
    uint32_t p = (uint32_t)team->p, slot = number % classes[load->class].depth;
    for (uint32_t level = 0; (1u << level) < p; level++) {
        uint32_t block = (uint32_t)team->me >> level;
        uint32_t right = (block | 1) << level; /* first rank of the right half: names the node */
        if (right >= p) continue;              /* there is no right half */
        struct entry *entry = entry_at(team, load->class, (int)right, slot);
        uint32_t side = 1 + (block & 1);
        if (deposit(team, entry, side, load)) {
            load_drop(load);
            return false;
        }
        arrival_merge(load, entry, side);
    }
    return true;
}

/* The root waits for its result. The rank that brings it arrived last, or nearly so. */
HOT static void await_box(struct team *team, struct entry *box) {
    bool waited = flag_look(&box->flag) == 0;
    int brought_by = (int)flag_wait(team, &box->flag, 0) - 1;
    if (waited) waits_for(team, brought_by, box->entered);
}

HOT struct load load_of(const struct team *team, const struct reduction *reduction, const char *at,
                        size_t count) {
    struct load load = {
        .reduction = reduction, .count = count, .bytes = count * reduction->bytes, .at = at};
    while (classes[load.class].bytes < load.bytes) load.class ++;
    if (reduction->any_order && team->p < UINT16_MAX) load.class += tree_classes;
    return load;
}

/* ---- the pool, if the operand order does not matter (option REDUCE=arrival) ----
 *
 * At most one vector per call waits in the pool. A rank that finds one combines it with its own and
 * looks again. A rank that finds none leaves what it has and returns, unless it has combined all
 * ranks' vectors. So the last rank to arrive combines once or twice, not log p times (parsons2015
 * section III).
 *
 * The hub of a call is the word of node 0's entry: its upper half is the round, call / depth; its
 * lower half is 1 + the rank whose vector waits, or 0. The rank that holds everything begins the
 * next round. Until then ranks that are `depth` calls ahead wait, so no vector is overwritten
 * before it was read. */
HOT static bool arrival_pool(struct team *team, struct load *load, uint32_t number) {
    uint32_t depth = classes[load->class].depth, slot = number % depth,
             round = number / depth << 16;
    struct entry *hub = entry_at(team, load->class, 0, slot),
                 *mine = entry_at(team, load->class, team->me, slot);
    uint32_t seen = flag_look(&hub->flag);
    while ((seen ^ round) >> 16 != 0) seen = flag_wait(team, &hub->flag, seen);
    uint64_t held = 1;
    while (held < (uint64_t)team->p) {
        uint32_t waits = seen & 0xffff, wanted = waits ? round : round | (uint32_t)(team->me + 1);
        if (!waits) {
            if (load->at != mine->vectors) memcpy(mine->vectors, load->at, load->bytes);
            mine->held = held;
        }
        if (!atomic_compare_exchange_strong_explicit(&hub->flag.word, &seen, wanted,
                                                     memory_order_acq_rel, memory_order_acquire))
            continue;
        if (!waits) return false;
        struct entry *theirs = entry_at(team, load->class, (int)waits - 1, slot);
        load->reduction->combine(load->reduction, load->at, theirs->vectors, load->count);
        load->at = theirs->vectors;
        held += theirs->held;
        seen = flag_look(&hub->flag);
    }
    /* No rank writes there before the next round. */
    load_hold(load, hub, load->at, round + (1u << 16));
    return true;
}

/* ---- either ---- */

HOT bool arrival_combine(struct team *team, struct load *load) {
    uint32_t number = counted_by(team, team->me)->calls[load->class]++;
    return load->class < tree_classes ? arrival_climb(team, load, number)
                                      : arrival_pool(team, load, number);
}

HOT void arrival_reduce(struct team *team, int root, struct load *load, char *result) {
    bool top = arrival_combine(team, load);
    if (!top && team->me != root) return;
    struct entry *box = entry_at(team, load->class, root, classes[load->class].depth);
    if (team->me != root) {
        memcpy(box->vectors, load->at, load->bytes);
        load_drop(load);
        box->entered = team->waits.entered;
        flag_set(&box->flag, (uint32_t)team->me + 1);
        return;
    }
    if (!top) await_box(team, box);
    const char *from = top ? load->at : box->vectors;
    if (from != result) memcpy(result, from, load->bytes);
    load_drop(load);
    if (!top) atomic_store_explicit(&box->flag.word, 0, memory_order_release);
}

HOT static enum outcome arrival_run(struct team *team, const struct call *call,
                                    const struct arguments *arguments) {
    (void)arguments;
    const struct reduction *reduction = call->reduction;
    size_t bytes = reduction->bytes, most = bytes3 / bytes;
    if (most == 0) return LEFT;
    for (size_t at = 0, now; at < reduction->count; at += now) {
        now = reduction->count - at < most ? reduction->count - at : most;
        struct load load = load_of(team, reduction, call->send + at * bytes, now);
        arrival_reduce(team, call->root, &load, call->recv + at * bytes);
    }
    return DONE;
}

/* Per rank one copy, one combination and cache misses; ranks that run ahead wait when a ring is
 * full. */
static double arrival_cost(const struct figures *f, const struct shape *shape,
                           const struct arguments *arguments) {
    (void)arguments;
    double pieces = (double)(shape->bytes / bytes3 + 1);
    int class = 0;
    while (class < tree_classes - 1 && classes[class].bytes < shape->bytes) class ++;
    uint32_t depth = classes[class].depth;
    return crowding(f) * (pieces * visit_seconds + 2 * combine_seconds(shape->bytes)) +
           pieces / depth * f->usual_sync_seconds;
}

static bool arrival_halves(const struct figures *f) {
    (void)f;
    return true;
}

const struct algorithm_code algorithm_arrival = {.loose = true,
                                                 .copies_in = true,
                                                 .halves = arrival_halves,
                                                 .shared = {0, arrival_room},
                                                 .cost = arrival_cost,
                                                 .run = arrival_run};
