/* SPDX-License-Identifier: BSD-3-Clause */
/* lanes - exchanges among nodes over lanes; see lanes.h. A call:
 *   1. each rank packs its blocks into the node's space, cell after cell, except those that it will
 *   send itself from its buffer; 2. barrier; 3. the ranks of each lane run the inner routine; all
 *   ranks copy the blocks from their own node; 4. barrier; 5. each rank copies its blocks from
 *   other nodes, except those received in its buffer.
 * If only two ranks know the size of a cell, each rank writes the sizes of its blocks, sent and
 * received, to tables in the node's memory, one barrier before step 1; no size crosses the network.
 * In most programs a call is like the one before it: a rank whose sizes are unchanged packs at
 * once, and if the barrier of step 2 says that this holds for all, the extra barrier is spared.
 * Source: kumar2008 section 5; li2018 section 2.5 (all ranks pack and unpack); parsons2015 section
 * II (sizes known locally). */
#include "coll/nodes/lanes.h"

#include <errno.h>

/* One call, on one rank. */
struct passage {
    struct team *team;
    const struct call *call;
    const struct arguments *arguments;
    struct routes *routes;
    struct blocks sends, recvs;
    size_t each;    /* bytes of a cell, if all cells are equal */
    char *out, *in; /* the two halves of the space */
    size_t room;    /* bytes of a half */
    bool absent;    /* this rank cannot touch its buffers; it still does what others wait for */
    bool spoiled;   /* some rank of my node is absent: data that leave the node are incomplete */
    bool failed;
};

/* What lanes_bytes_between needs to know about a lane. */
struct question {
    const struct places *places;
    struct scheme scheme;
    int lane;
    size_t each;
};

static size_t lanes_place_of(const struct passage *p, const struct lane_half *half, size_t cell) {
    return half->at ? half->at[cell] : cell * p->each;
}

/* ---- copying ---- */

void pack_block(struct joint *joint, char *to, const struct block *block) {
    if (block->layout->run) joint_add(joint, to, block->at, block_bytes(block));
    else layout_pack(to, block->at, block->layout, block->elements);
}

void unpack_block(struct joint *joint, const struct block *block, const char *from) {
    size_t bytes = block_bytes(block);
    if (block->layout->run) joint_add(joint, block->at, from, bytes);
    else layout_unpack(block->at, block->layout, block->elements, from, bytes);
}

/* Sets half->straight: true for the blocks of messages that consist of my own blocks only,
 * contiguous in my buffer, so that they need no packing. */
static void find_straight(const struct passage *p, struct lane_half *half,
                          const struct blocks *blocks, bool allowed) {
    const struct routes *routes = p->routes;
    int nodes = p->team->places->nodes, lanes = routes->scheme.lanes,
        home = p->team->places->node_of[p->team->me];
    memset(half->straight, 0, half->count * sizeof *half->straight);
    for (int m = 0; allowed && m < routes->mine; m++)
        for (int n = 0; n < nodes; n++) {
            const size_t *cut = half->cut + n * (lanes + 1) + routes->lane[m];
            int first = half->whole[m * nodes + n], count = (int)(cut[1] - cut[0]), in_a_row = 0;
            if (n == home || first < 0) continue;
            for (char *next = NULL; in_a_row < count; in_a_row++) {
                struct block block = block_of(blocks, half->stops[first + in_a_row].block);
                if (!block.layout->run || (next && block.at != next)) break;
                /* The program's counts are wrong. */
                if (!half->at && block_bytes(&block) != p->each) break;
                next = block.at + block_bytes(&block);
            }
            if (in_a_row == count)
                memset(half->straight + first, true, (size_t)count * sizeof *half->straight);
        }
}

static void lanes_pack(const struct passage *p) {
    const struct lane_half *out = &p->routes->out;
    struct joint joint = {0};
    for (size_t k = 0; k < out->count && !p->absent; k++) {
        if (out->straight[k]) continue;
        struct block block = block_of(&p->sends, out->stops[k].block);
        pack_block(&joint, p->out + lanes_place_of(p, out, out->stops[k].cell), &block);
    }
    joint_end(&joint);
}

/* Copies my blocks from my own node, which lie among those that it sends (near), or from other
 * nodes. */
static void lanes_unpack(const struct passage *p, bool near) {
    const struct lane_half *in = &p->routes->in, *out = &p->routes->out;
    int home = p->team->places->node_of[p->team->me], lanes = p->routes->scheme.lanes;
    size_t begin = in->cut[home * (lanes + 1)], sent = out->cut[home * (lanes + 1)];
    struct joint joint = {0};
    for (size_t k = 0; k < in->count && !p->absent; k++) {
        const struct stop *stop = &in->stops[k];
        if ((stop->node == home) != near || in->straight[k]) continue;
        struct block block = block_of(&p->recvs, stop->block);
        const struct lane_half *where = near ? out : in;
        size_t cell = near ? stop->cell - begin + sent : stop->cell;
        fit_block(&block, where->at ? where->at[cell + 1] - where->at[cell] : p->each);
        const char *from = (near ? p->out : p->in) + lanes_place_of(p, where, cell);
        unpack_block(&joint, &block, from);
    }
    joint_end(&joint);
}

/* ---- sizes that only two ranks know ---- */

/* Are the sizes those of the last call? Writes changed ones to the table, or all of them with
 * `tell`. */
static bool same_sizes(struct lane_half *half, const struct blocks *blocks, uint64_t *table,
                       bool tell) {
    bool same = true;
    for (size_t k = 0; k < half->count; k++) {
        struct block block = block_of(blocks, half->stops[k].block);
        uint64_t bytes = block_bytes(&block);
        if (!tell && bytes == half->bytes[k]) continue;
        same = false;
        half->bytes[k] = bytes;
        table[half->stops[k].cell] = bytes;
    }
    return same;
}

static void lanes_add_up(struct lane_half *half, const uint64_t *table) {
    half->at[0] = 0;
    for (size_t c = 0; c < half->cells; c++) half->at[c + 1] = half->at[c] + table[c];
}

static void pack_sized(struct passage *p) {
    struct team *node = p->team->node;
    struct lane_half *out = &p->routes->out, *in = &p->routes->in;
    uint64_t *sent = (uint64_t *)(void *)node->tables.at, *received = sent + out->cells;
    bool fresh = node->tables.hold != p->routes;
    bool same = same_sizes(out, &p->sends, sent, fresh);
    same = same_sizes(in, &p->recvs, received, fresh) && same;
    if (same) lanes_pack(p);
    node->tables.hold = p->routes;
    uint32_t mine = same ? 0 : CHANGED;
    if (p->absent) mine |= NO_MEMORY;
    uint32_t trouble = sync_all(node, mine);
    p->spoiled = trouble & NO_MEMORY;
    if (!(trouble & CHANGED)) return;
    lanes_add_up(out, sent);
    lanes_add_up(in, received);
    lanes_pack(p);
    sync_all(node, 0);
}

/* ---- the lanes ---- */

static size_t lanes_bytes_between(const struct call *call, int source, int dest) {
    const struct question *q = call->asker;
    if (source == dest) return 0;
    size_t rows = (size_t)ranks_on(q->places, source), columns = (size_t)ranks_on(q->places, dest);
    return (pairs_cut(&q->scheme, rows, columns, q->lane + 1) -
            pairs_cut(&q->scheme, rows, columns, q->lane)) *
           q->each;
}

/* Does a quarter of the space hold what the ranks of a node send, or receive, in any of these
 * calls? Where only two ranks know a block's size, nobody finds out before the call whether its
 * blocks fit. */
static bool lanes_hold(const struct figures *f, const struct shape *largest) {
    double blocks = (double)f->p * (is_personal(largest->collective) ? f->most : 1);
    if (among(largest->collective, NEIGHBORS)) blocks = (double)f->edge_count;
    if (largest->unsized) return f->node->space_ample;
    return blocks * ((double)largest->bytes + 1) <= (double)(f->node->space_bytes / 4);
}

/* One side of the call on my m-th lane. Cells that do not fit even into an ample space get a wrong
 * place, so that no rank waits for them, and the call fails. */
static struct blocks lane_side(struct passage *p, struct lane_half *half, int m,
                               const struct blocks *blocks, char *area) {
    const struct places *places = p->team->places;
    const struct routes *routes = p->routes;
    for (int n = 0; n < places->nodes; n++) {
        const size_t *cut = half->cut + n * (routes->scheme.lanes + 1) + routes->lane[m];
        size_t begin = lanes_place_of(p, half, cut[0]), end = lanes_place_of(p, half, cut[1]);
        int whole = half->whole[m * places->nodes + n];
        char *at = area + begin;
        if (whole >= 0 && half->straight[whole]) at = block_of(blocks, half->stops[whole].block).at;
        else if (end > p->room) at = area, p->failed = true;
        half->counts[n] = n == places->node_of[p->team->me] ? 0 : (int64_t)(end - begin);
        half->displs[n] = at - area;
    }
    return byte_runs(area, places->nodes, half->counts, half->displs);
}

static struct shape lane_shape(const struct figures *f, const struct shape *shape, int lanes) {
    /* share: ranks on a node; to: those of them that a rank sends to. */
    double share = (double)f->p / f->nodes;
    double to = among(shape->collective, NEIGHBORS) ? typical_blocks(f, shape) / f->nodes : share;
    enum collective asked = lanes_ask(shape->collective);
    if (asked == COLL_allgatherv) to = 1;
    return (struct shape){.collective = asked,
                          .bytes = (size_t)(share * to * (double)shape->bytes / lanes),
                          .unsized = asked == COLL_alltoallv && shape->collective != COLL_alltoall,
                          .beside = lanes};
}

static void run_lanes(struct passage *p) {
    for (int m = 0; m < p->routes->mine; m++) {
        struct question question = {p->team->places, p->routes->scheme, p->routes->lane[m],
                                    p->each};
        struct team *lane = team_lane(p->team, question.lane);
        struct blocks sends = lane_side(p, &p->routes->out, m, &p->sends, p->out);
        struct blocks recvs = lane_side(p, &p->routes->in, m, &p->recvs, p->in);
        struct call call = {
            .shape = lane_shape(&p->team->figures, &p->call->shape, p->routes->scheme.lanes),
            .sends = &sends,
            .recvs = &recvs,
            .trouble = p->spoiled || p->failed ? NO_MEMORY : 0,
            .bytes_between =
                p->call->shape.collective == COLL_alltoall ? lanes_bytes_between : NULL,
            .asker = &question};
        if (routine_run(p->arguments->inner, lane, &call) != DONE) p->failed = true;
    }
}

enum outcome lanes_end(struct team *node, bool failed, bool cut) {
    uint32_t mine = failed ? PATH_LOST : 0;
    if (cut) mine |= CUT;
    uint32_t trouble = sync_all(node, mine);
    if (trouble & CUT) blocks_cut = true;
    return trouble & (PATH_LOST | CUT) ? FAILED : DONE;
}

static enum outcome lanes_exchange(struct team *team, const struct call *call,
                                   const struct arguments *arguments, struct scheme scheme) {
    const unsigned same_bytes = BIT(alltoall) | BIT(neighbor_alltoall) | BIT(neighbor_allgather);
    bool equal = among(call->shape.collective, same_bytes) && !call->shape.unsized;
    if (scheme.lanes > team->places->most) scheme.lanes = team->places->most;
    struct passage p = {.team = team,
                        .call = call,
                        .arguments = arguments,
                        .routes = routes_of(team, call, &scheme, equal),
                        .each = call->shape.bytes,
                        .absent = call->trouble & LEAVE};
    if (!p.routes) return LEFT;
    p.out = team_space(team->node, &p.room);
    p.room /= 2;
    p.in = p.out + p.room;
    sides_of(team, call, &p.sends, &p.recvs);
    /* In place, blocks sent from the buffer could be overwritten by blocks from the own node. The
     * host MPI may count in ints, and buffer and space are too far apart for that. */
    bool straight = !p.absent && arguments->inner->algorithm->code->run;
    find_straight(&p, &p.routes->out, &p.sends, straight && !call->in_place);
    find_straight(&p, &p.routes->in, &p.recvs, straight);
    if (equal) {
        lanes_pack(&p);
        p.spoiled = sync_all(team->node, p.absent ? NO_MEMORY : 0) & NO_MEMORY;
    } else {
        pack_sized(&p);
    }
    run_lanes(&p);
    bool cut = blocks_cut;
    lanes_unpack(&p, true);
    enum outcome outcome = lanes_end(team->node, p.failed || p.spoiled, cut);
    if (outcome == DONE) lanes_unpack(&p, false);
    return outcome;
}

/* ---- shared by the algorithms ---- */

enum outcome lanes_run(struct team *team, const struct call *call,
                       const struct arguments *arguments, struct scheme scheme) {
    return (among(call->shape.collective, ALLGATHERS) ? lanes_spread : lanes_exchange)(
        team, call, arguments, scheme);
}

enum collective lanes_ask(enum collective collective) {
    return among(collective, ALLGATHERS) ? COLL_allgatherv : COLL_alltoallv;
}

bool lanes_can(const struct figures *f, const struct calls *calls,
               const struct arguments *arguments, int lanes) {
    const struct shape *shape = &calls->largest;
    struct figures lane = figures_of_lane(f);
    struct calls asked = {.largest = lane_shape(f, shape, lanes)};
    double most = (double)shape->bytes * f->p * (is_personal(shape->collective) ? f->most : 1);
    return arguments->inner && inside_counts(arguments, most) && lanes <= f->most &&
           lanes_hold(f, shape) && routine_fits(arguments->inner, &lane, &asked);
}

double lanes_seconds(const struct figures *f, const struct shape *shape,
                     const struct arguments *arguments, int lanes) {
    struct figures lane = figures_of_lane(f);
    struct shape asked = lane_shape(f, shape, lanes);
    double each = routine_cost(arguments->inner, &lane, &asked);
    return each < 0 ? -1 : 2 * f->node->sync_seconds + (lanes + f->fewest - 1) / f->fewest * each;
}

double lanes_spread_copy(const struct figures *f, const struct shape *shape) {
    double pieces = f->in_order ? 1 : f->p;
    double all = copy_seconds(f->node, pieces, (size_t)(f->p * (double)shape->bytes / pieces));
    return crowding(f->node) * (all + copy_seconds(f->node, 1, shape->bytes));
}

double lanes_copy(const struct figures *f, const struct shape *shape, double pieces) {
    double bytes = typical_blocks(f, shape) * (double)shape->bytes;
    return crowding(f->node) * copy_seconds(f->node, pieces, (size_t)(bytes / pieces));
}
