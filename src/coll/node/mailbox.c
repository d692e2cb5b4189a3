/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_mailbox - rooted and neighbourhood collectives: each sender puts an offer into a box of
 * its ring, and each of its receivers takes a block out of it. No other rank takes part, and a
 * sender whose data fit into its boxes need not wait.
 * Source  eager and rendezvous messages, as every MPI library has them, with one copy for all
 *         receivers; li2018 section 3 for what neighbours exchange. The order of the paper's
 *         compact curve is not needed, since a rank copies only its own blocks.
 * Cost    staged: one context switch in BOXES calls, and blocks are copied twice. In place, if the
 *         blocks are in reach and so long that a second copy costs more than waiting for the
 *         receivers: one copy and one such wait (about a barrier).
 * Wins    over a barrier, if calls follow each other or a rank has few neighbours. */
#include "coll/node/letters.h"

#include <errno.h>

extern const struct algorithm_code algorithm_mailbox;

/* ---- receiving ---- */

struct receiving {
    const struct call *call;
    const struct copier *copier;
    uint64_t op;
    uint32_t count;  /* edges that come to me */
    uint32_t left;   /* edges that have not brought all their data */
    uint32_t more;   /* edges of which another part follows, as far as seen in this part */
    uint32_t *turns; /* [2][count] the edges of `left`, of `more`. NULL: no memory */
    bool lost;       /* a sender could not read its blocks */
};

/* The edge that is visited as number k. Ranks start with different edges, so that they do not all
 * visit the same sender first. */
static struct edge edge_at(const struct team *team, const struct receiving *r, uint32_t k) {
    const struct call *call = r->call;
    uint32_t me = (uint32_t)team->me;
    if (call->neighbours) {
        struct edge edge = call->neighbours->from[(k + me) % r->count];
        enum collective c = call->shape.collective;
        if (c == COLL_neighbor_allgather || c == COLL_neighbor_allgatherv) edge.out = 0;
        return edge;
    }
    uint32_t other = (me + 1 + k) % (uint32_t)team->p, root = (uint32_t)call->root;
    if (me == root) return (struct edge){.source = other, .dest = me, .in = other};
    return (struct edge){
        .source = root, .dest = me, .out = call->shape.collective == COLL_bcast ? 0 : me};
}

static struct box *box_at(const struct team *team, const struct receiving *r, uint32_t k,
                          uint32_t part) {
    return box_of(team, (int)edge_at(team, r, k).source, r->op, part);
}

/* Takes the edge's data out of this part. True: another part follows. *emptied: mine was the last
 * look into the box, so box_wake has to follow. */
HOT static bool mailbox_take_part(const struct team *team, struct receiving *r,
                                  const struct edge *edge, uint32_t part, bool *emptied) {
    struct block mine = {0};
    bool absent = r->call->trouble != 0;
    if (!absent) mine = block_of(r->call->recvs, (int)edge->in);
    enum letter_end end = letter_take(team, (int)edge->source, r->op, part, edge->out,
                                      absent ? NULL : &mine, r->copier);
    if (end == LETTER_LOST) r->lost = true;
    *emptied = box_ack(team, box_of(team, (int)edge->source, r->op, part));
    return end == LETTER_GOES_ON;
}

/* Takes this part of each pending edge on which it has arrived. Returns the number of the others,
 * which are moved to the front of `turns`. With a core for each rank most of the time goes by until
 * the boxes' lines have come: some are on their way at once, and one fence serves all senders. */
HOT static uint32_t take_ready(struct team *team, struct receiving *r, uint32_t part,
                               uint32_t pending) {
    enum { ahead = 6 };
    uint32_t late = 0, emptied = 0; /* behind those that are late lie the boxes to wake */
    for (uint32_t i = 0; i < ahead && i < pending; i++)
        box_soon(box_at(team, r, r->turns[i], part));
    for (uint32_t i = 0; i < pending; i++) {
        uint32_t turn = r->turns[i];
        struct edge edge = edge_at(team, r, turn);
        bool last;
        if (i + ahead < pending) box_soon(box_at(team, r, r->turns[i + ahead], part));
        if (!box_ready(team, (int)edge.source, r->op, part)) {
            r->turns[late + emptied] = r->turns[late];
            r->turns[late++] = turn;
            continue;
        }
        if (mailbox_take_part(team, r, &edge, part, &last)) r->turns[r->count + r->more++] = turn;
        if (last) r->turns[late + emptied++] = turn;
    }
    if (emptied > 0) flags_fence();
    for (uint32_t i = late; i < late + emptied; i++) box_wake(box_at(team, r, r->turns[i], part));
    return late;
}

/* Takes this part of all edges that have one, as they arrive. */
HOT static void take_parts(struct team *team, struct receiving *r, uint32_t part) {
    r->more = 0;
    for (uint32_t late, pending = r->left; pending > 0; pending = late) {
        late = take_ready(team, r, part, pending);
        if (late < pending) continue;
        /* On oversubscribed nodes wait for the last pending edge: the ranks run one after the
         * other, and when it has arrived all have, after one context switch. */
        int source = (int)edge_at(team, r, r->turns[team->patience.crowded ? late - 1 : 0]).source;
        if (r->count == 1) {
            box_wait_for(team, source, r->op, part);
            continue;
        }
        uint32_t rings = box_settle(team, source, r->op, part);
        late = take_ready(team, r, part, pending);
        if (late == pending) box_wait_settled(team, source, r->op, part, rings);
    }
    memcpy(r->turns, r->turns + r->count, r->more * sizeof *r->turns);
    r->left = r->more;
}

/* Without memory for `turns`: one edge after the other. */
HOT static void take_in_order(struct team *team, struct receiving *r) {
    for (uint32_t k = 0; k < r->count; k++) {
        struct edge edge = edge_at(team, r, k);
        bool more = true, last;
        for (uint32_t part = 0; more; part++) {
            box_wait_for(team, (int)edge.source, r->op, part);
            more = mailbox_take_part(team, r, &edge, part, &last);
            if (!last) continue;
            flags_fence();
            box_wake(box_of(team, (int)edge.source, r->op, part));
        }
    }
}

/* ---- the call ---- */

static uint32_t readers_of(const struct team *team, const struct call *call) {
    if (call->neighbours) return (uint32_t)call->neighbours->to_count;
    if (among(call->shape.collective, GATHERS)) return team->me != call->root;
    return team->me == call->root && team->p > 1 ? ALL_OTHERS : 0;
}

static uint32_t sources_of(const struct team *team, const struct call *call) {
    if (call->neighbours) return (uint32_t)call->neighbours->from_count;
    if (among(call->shape.collective, GATHERS))
        return team->me == call->root ? (uint32_t)team->p - 1 : 0;
    return team->me != call->root;
}

/* Copies the root's block to itself, unless it is in place. */
HOT static void mailbox_copy_own(const struct team *team, const struct call *call,
                                 const struct copier *copier) {
    bool gather = among(call->shape.collective, GATHERS);
    if (call->neighbours || team->me != call->root || call->shape.collective == COLL_bcast ||
        call->trouble)
        return;
    if (call->sends->count == 0 || call->recvs->count == 0) return; /* in place */
    struct block from = block_of(call->sends, gather ? 0 : team->me);
    struct block to = block_of(call->recvs, gather ? team->me : 0);
    size_t bytes = block_bytes(&from);
    fit_block(&to, bytes);
    if (from.layout->run && to.layout->run && bytes == block_bytes(&to))
        copy_block(copier, to.at, from.at, bytes);
    else layout_copy(to.at, to.layout, to.elements, from.at, from.layout, from.elements, copier);
}

static bool one_sends(enum collective c) { return among(c, BIT(bcast) | SCATTERS); }

/* Up to this size a second copy is cheaper than waiting for all receivers, which takes about a
 * barrier. A single sender has a processor to itself. On an oversubscribed node each of several
 * neighbours waits for others in turn: EPYC virtual machine with 2 cores, 2026-11, `mortar bench
 * neighbor_alltoall`, 64 ranks, 2D grid, 4 KiB: 170 us staged, 315 us in place, 70 us a barrier. */
static size_t most_staged(const struct figures *f, enum collective c) {
    enum { least = 1 << 10, turns = 4, block = 256 };
    double times = 1;
    if (one_sends(c)) times = crowding(f);
    else if (among(c, NEIGHBORS) && crowding(f) > 1) times = turns;
    size_t bytes = (size_t)(times * (double)short_bytes(f, block));
    return bytes > least ? bytes : least;
}

/* Sends my next part. If I shall have to wait for the receivers, wakes them now. */
HOT static void send_part(struct team *team, const struct call *call, struct sending *s) {
    letter_send(team, s);
    if (!s->straight && !s->more) return;
    for (int e = 0; call->neighbours && e < call->neighbours->to_count; e++)
        box_ring(team, (int)call->neighbours->to[e].dest);
    if (!call->neighbours && team->me != call->root) box_ring(team, call->root);
}

HOT static void exchange_letters(struct team *team, struct receiving *r, uint32_t readers) {
    uint32_t one[2] = {0};
    const struct call *call = r->call;
    struct sending s = {.blocks = call->trouble ? NULL : call->sends,
                        .op = r->op,
                        .rooms = one_sends(call->shape.collective) ? BOXES : 2,
                        .readers = readers};
    if (readers > 0) s.most = most_staged(&team->figures, call->shape.collective);
    r->left = r->count;
    r->turns = r->count > 1 ? team_turns(team, 2 * r->count) : one;
    for (uint32_t k = 0; r->turns && k < r->count; k++) r->turns[k] = k;
    if (readers > 0) send_part(team, call, &s);
    mailbox_copy_own(team, call, r->copier);
    for (uint32_t part = 0; s.more || r->left > 0; part++) {
        if (s.more && part > 0) send_part(team, call, &s);
        if (r->turns) take_parts(team, r, part);
        else if (!s.more) take_in_order(team, r), r->left = 0;
    }
    letters_wait(team, &s);
}

/* Most short calls: whoever sends has one brief letter, and takes blocks from one rank at most. */
HOT static void exchange_brief(struct team *team, struct receiving *r, uint32_t readers) {
    const struct call *call = r->call;
    if (readers > 0) letter_send_brief(team, r->op, readers, call->sends);
    mailbox_copy_own(team, call, r->copier);
    take_in_order(team, r);
}

HOT static enum outcome mailbox_run(struct team *team, const struct call *call,
                                    const struct arguments *arguments) {
    struct receiving r = {.call = call,
                          .copier = &arguments->copier,
                          .op = box_next_op(team),
                          .count = sources_of(team, call)};
    uint32_t readers = readers_of(team, call);
    if (r.count <= 1 && (readers == 0 || (!call->trouble && is_brief(call->sends))))
        exchange_brief(team, &r, readers);
    else exchange_letters(team, &r, readers);
    return r.lost ? FAILED : DONE;
}

/* If peers' regions cannot be mapped, no rank offers in place (blocks_shown). */
static int mailbox_prepare(struct team *team, const struct arguments *arguments) {
    (void)arguments;
    team_map(team, false);
    return team_agree(team, team_turns(team, 2 * (uint32_t)team->p) != NULL) ? 0 : -ENOMEM;
}

/* Neighbours wait for each other's data, though not for all ranks': estimated as three quarters of
 * a barrier. */
static double mailbox_cost(const struct figures *f, const struct shape *shape,
                           const struct arguments *arguments) {
    (void)arguments;
    static const double neighbourly = 0.75;
    enum collective c = shape->collective;
    bool scatter = among(c, SCATTERS), neighbours = among(c, NEIGHBORS);
    size_t offered = scatter ? shape->bytes * (size_t)f->p : shape->bytes;
    bool staged = offered <= most_staged(f, c) && offered <= f->box_room;
    double copies = staged && c != COLL_bcast ? 2 : 1;
    double wait = (staged ? 1.0 / BOXES : 1) * f->sync_seconds;
    if (c == COLL_bcast) return wait + crowding(f) * copy_seconds(f, 1, shape->bytes);
    /* The root copies everything. */
    if (!neighbours) return wait + copies * copy_seconds(f, f->p, shape->bytes);
    wait = (staged ? 1 : 2) * neighbourly * f->sync_seconds;
    return wait + copies * crowding(f) * copy_seconds(f, typical_blocks(f, shape), shape->bytes);
}

const struct algorithm_code algorithm_mailbox = {
    .loose = true, .prepare = mailbox_prepare, .cost = mailbox_cost, .run = mailbox_run};
