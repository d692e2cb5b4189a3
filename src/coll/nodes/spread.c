/* SPDX-License-Identifier: BSD-3-Clause */
/* spread - allgather and allgatherv over lanes; see lanes.h. Each rank puts its block into the
 * node's space. After a barrier lane l carries part l of every node's blocks to every node. After
 * another barrier all ranks copy all blocks out of the space. If a lane's part is one contiguous
 * block of the lane's own rank, it is sent from that rank's buffer. Source: li2018 section 4.1.3
 * (the topology-aware rivals); parsons2015 section II. */
#include "coll/nodes/lanes.h"

/* A seat is a rank's number if ranks are numbered node by node. */
struct spreading {
    char *out;                /* in the space: the blocks of the node's ranks */
    char *in;                 /* in the space: the blocks of all ranks */
    uint64_t *at;             /* [p + 1] where each seat's block begins */
    int64_t *counts, *displs; /* [nodes] of the call on a lane */
};
static const char ours;

/* NULL on all ranks: one has no memory. */
static struct spreading *spreading_of(struct team *team) {
    size_t words = (size_t)team->p + 1 + 2 * (size_t)team->places->nodes;
    struct spreading *s =
        team_keeps_agreed(team, &ours, 0, sizeof *s + words * sizeof *s->at, true);
    if (!s) return NULL;
    s->at = (uint64_t *)(s + 1);
    s->counts = (int64_t *)(s->at + team->p + 1);
    s->displs = s->counts + team->places->nodes;
    return s;
}

/* The first seat of a node's part for a lane. */
static int spread_part(const struct places *places, const struct scheme *scheme, int node,
                       int lane) {
    return places->first[node] + (int)pairs_cut(scheme, (size_t)ranks_on(places, node), 1, lane);
}

static enum outcome run_lane(struct team *team, const struct call *outer,
                             const struct arguments *arguments, const struct scheme *scheme,
                             const struct spreading *s, int l) {
    const struct places *places = team->places;
    struct team *lane = team_lane(team, l);
    size_t longest = 0;
    for (int n = 0; n < places->nodes; n++) {
        s->displs[n] = (int64_t)s->at[spread_part(places, scheme, n, l)];
        s->counts[n] = (int64_t)s->at[spread_part(places, scheme, n, l + 1)] - s->displs[n];
        if ((size_t)s->counts[n] > longest) longest = (size_t)s->counts[n];
    }
    int first = spread_part(places, scheme, lane->me, l),
        count = spread_part(places, scheme, lane->me, l + 1) - first;
    struct block own = block_of(outer->sends, 0);
    bool straight = count == 1 && places->ranks[first] == team->me && own.layout->run &&
                    block_bytes(&own) == (size_t)s->counts[lane->me];
    char *from = straight ? own.at : s->out + s->displs[lane->me];
    struct blocks sends = {
        .base = from, .count = 1, .layout = &layout_bytes, .each = (size_t)s->counts[lane->me]};
    struct blocks recvs = byte_runs(s->in, places->nodes, s->counts, s->displs);
    struct call call = {
        .shape = {.collective = COLL_allgatherv, .bytes = longest, .beside = scheme->lanes},
        .sends = &sends,
        .recvs = &recvs,
        .trouble = outer->trouble};
    return longest ? routine_run(arguments->inner, lane, &call) : DONE;
}

enum outcome lanes_spread(struct team *team, const struct call *given,
                          const struct arguments *arguments, struct scheme scheme) {
    const struct places *places = team->places;
    struct spreading *s = spreading_of(team);
    if (!s) return LEFT;
    struct blocks sends, recvs;
    sides_of(team, given, &sends, &recvs);
    struct call call = *given;
    call.sends = &sends, call.recvs = &recvs;
    if (scheme.lanes > places->most) scheme.lanes = places->most;
    bool absent = call.trouble & LEAVE, failed = false;
    int seat = places->first[places->node_of[team->me]] + places->local_of[team->me];
    bool equal = call.shape.collective == COLL_allgather;
    s->at[0] = 0;
    for (int r = 0; r < team->p; r++) {
        struct block block = equal ? (struct block){0} : block_of(&recvs, places->ranks[r]);
        s->at[r + 1] = s->at[r] + (equal ? call.shape.bytes : block_bytes(&block));
    }
    size_t room;
    s->out = team_space(team->node, &room);
    s->in = s->out + room / 2;
    struct joint joint = {0};
    struct block own = block_of(&sends, 0);
    bool cut;
    cut_block(&own, s->at[seat + 1] - s->at[seat]);
    if (!absent) pack_block(&joint, s->out + s->at[seat], &own);
    joint_end(&joint);
    /* If a rank of the node is absent, the data that leave the node are incomplete. */
    call.trouble = sync_all(team->node, call.trouble & LEAVE) & LEAVE;
    cut = blocks_cut, blocks_cut = false;
    for (int l = team->node->me; l < scheme.lanes; l += team->node->p)
        if (run_lane(team, &call, arguments, &scheme, s, l) != DONE) failed = true;
    enum outcome outcome = lanes_end(team->node, failed || call.trouble, blocks_cut);
    blocks_cut = blocks_cut || cut;
    for (int r = 0; r < team->p && outcome == DONE; r++) {
        struct block block = block_of(&recvs, places->ranks[r]);
        if (places->ranks[r] == team->me && is_same_place(&block, &own)) continue;
        unpack_block(&joint, &block, s->in + s->at[r]);
    }
    joint_end(&joint);
    return outcome;
}
