/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_overlap - allgather with one leader per node, which runs the inner routine among the
 * nodes. As soon as a node's blocks have arrived, the other ranks copy them out of shared memory
 * while the leader continues. With ring or doubling inside these are "ring with overlap" and
 * "recursive doubling with overlap" (li2018 section 4.1.3, its rivals [31] and [22]). Every rank
 * packs its block to its place, and one barrier follows. No other is needed, since calls use the
 * halves of the space in turn.
 * Cost    a barrier; inner(nodes, q n), then unpacking p n, as the leader is busy before; scratch p
 *         n bytes per node. */
#include "coll/coll.h"
#include "coll/nodes/lanes.h"

extern const struct algorithm_code algorithm_overlap;

/* At the head of the space. The leader clears it before the barrier. */
struct progress {
    _Alignas(64) struct flag come; /* number of nodes whose blocks have arrived */
    _Atomic uint32_t trouble;      /* of the leader; all nodes are then counted as arrived */
    _Alignas(64) int32_t order[];  /* [nodes] in the order of arrival */
};

/* One call on one rank. */
struct overlap {
    struct team *team;
    const struct call *call;
    struct progress *progress;
    char *area;      /* all blocks, node by node */
    size_t *starts;  /* [p + 1] by place */
    int64_t *tables; /* [0 bytes, 1 place][nodes] of each node's blocks */
    struct blocks recvs;
    struct block mine; /* what I send */
};

static enum collective overlap_asks(enum collective collective) {
    (void)collective;
    return COLL_allgatherv;
}

static size_t head_bytes(int nodes) {
    return (sizeof(struct progress) + (size_t)nodes * sizeof(int32_t) + 63) / 64 * 64;
}

static struct shape overlap_inner_shape(const struct figures *f, const struct shape *shape) {
    return (struct shape){.collective = COLL_allgatherv,
                          .bytes = shape->bytes * (size_t)f->p / (size_t)f->nodes,
                          .beside = 1};
}

static bool overlap_can(const struct figures *f, const struct calls *calls,
                        const struct arguments *arguments) {
    struct figures lane = figures_of_lane(f);
    struct calls inner = {.largest = overlap_inner_shape(f, &calls->largest)};
    size_t half = f->node->space_bytes / 2, head = head_bytes(f->nodes);
    return half > head && calls->largest.bytes < (half - head) / (size_t)f->p &&
           inside_counts(arguments, (double)calls->largest.bytes * f->p) &&
           routine_fits(arguments->inner, &lane, &inner);
}

static int overlap_prepare(struct team *team, const struct arguments *arguments) {
    return lanes_prepare(team, arguments, 1);
}

static double overlap_cost(const struct figures *f, const struct shape *shape,
                           const struct arguments *arguments) {
    struct figures lane = figures_of_lane(f);
    struct shape inner = overlap_inner_shape(f, shape);
    double across = routine_cost(arguments->inner, &lane, &inner);
    double unpack = crowding(f->node) * copy_seconds(f->node, f->p, shape->bytes);
    return across < 0 ? -1 : f->node->sync_seconds + across + unpack;
}

/* ---- where the blocks lie ---- */

/* False: a rank has no memory for the tables. */
static bool overlap_describe(struct overlap *o) {
    const struct places *places = o->team->places;
    size_t p = (size_t)o->team->p, nodes = (size_t)places->nodes;
    o->starts = team_keeps_agreed(o->team, &algorithm_overlap, 0,
                                  (p + 1 + 2 * nodes) * sizeof(int64_t), true);
    if (!o->starts) return false;
    o->tables = (int64_t *)(o->starts + p + 1);
    o->starts[0] = 0;
    bool equal = o->call->shape.collective == COLL_allgather;
    for (size_t i = 0; i < p; i++) {
        struct block block = equal ? (struct block){0} : block_of(&o->recvs, places->ranks[i]);
        o->starts[i + 1] = o->starts[i] + (equal ? o->call->shape.bytes : block_bytes(&block));
    }
    for (size_t n = 0; n < nodes; n++) {
        o->tables[n] = (int64_t)(o->starts[places->first[n + 1]] - o->starts[places->first[n]]);
        o->tables[nodes + n] = (int64_t)o->starts[places->first[n]];
    }
    return true;
}

static void pack_mine(struct overlap *o) {
    const struct places *places = o->team->places;
    int place = places->first[places->node_of[o->team->me]] + places->local_of[o->team->me];
    cut_block(&o->mine, o->starts[place + 1] - o->starts[place]);
    if (o->call->trouble & LEAVE) return;
    layout_pack(o->area + o->starts[place], o->mine.at, o->mine.layout, o->mine.elements);
}

static void unpack_node(const struct overlap *o, int node, struct joint *joint) {
    const struct places *places = o->team->places;
    for (int i = places->first[node]; i < places->first[node + 1]; i++) {
        struct block block = block_of(&o->recvs, places->ranks[i]);
        if (places->ranks[i] == o->team->me && is_same_place(&block, &o->mine)) continue;
        unpack_block(joint, &block, o->area + o->starts[i]);
    }
}

/* ---- the leader and the others ---- */

static void overlap_tell(struct progress *progress, int node) {
    uint32_t come = flag_look(&progress->come);
    progress->order[come] = node;
    flag_set(&progress->come, come + 1);
}

static void arrived(const struct call *call, int node) {
    overlap_tell(((const struct overlap *)call->asker)->progress, node);
}

static enum outcome ask_inner(const struct overlap *o, const struct routine *inner,
                              uint32_t trouble) {
    struct team *lane = team_lane(o->team, 0);
    struct blocks recvs = byte_runs(o->area, lane->p, o->tables, o->tables + lane->p);
    struct block mine = block_of(&recvs, lane->me);
    struct blocks sends = {
        .base = mine.at, .count = 1, .layout = &layout_bytes, .each = mine.elements};
    struct call call = {.shape = overlap_inner_shape(&o->team->figures, &o->call->shape),
                        .in_place = true,
                        .sends = &sends,
                        .recvs = &recvs,
                        .trouble = trouble,
                        .arrived = arrived,
                        .asker = (void *)(uintptr_t)o};
    return routine_run(inner, lane, &call);
}

/* trouble: of the node's ranks; some of their blocks are then missing. */
static uint32_t lead(const struct overlap *o, const struct routine *inner, uint32_t trouble) {
    const struct places *places = o->team->places;
    struct progress *progress = o->progress;
    trouble |= ask_inner(o, inner, trouble) == DONE ? 0 : PATH_LOST;
    if (blocks_cut) trouble |= CUT;
    atomic_store(&progress->trouble, trouble);
    /* After an error, or if the inner routine does not call `arrived`; the host MPI's own does
     * not. */
    for (int n = (int)flag_look(&progress->come); n < places->nodes; n++) overlap_tell(progress, n);
    struct joint joint = {0};
    for (int n = 0; n < places->nodes && !trouble; n++) unpack_node(o, n, &joint);
    joint_end(&joint);
    return trouble;
}

static uint32_t follow(const struct overlap *o) {
    struct progress *progress = o->progress;
    uint32_t seen = 0, all = (uint32_t)o->team->places->nodes;
    struct joint joint = {0};
    while (seen != all && !atomic_load(&progress->trouble)) {
        if (flag_look(&progress->come) == seen) {
            joint_end(&joint);
            flag_wait(o->team->node, &progress->come, seen);
        } else unpack_node(o, progress->order[seen++], &joint);
    }
    joint_end(&joint);
    return atomic_load(&progress->trouble);
}

static enum outcome overlap_run(struct team *team, const struct call *call,
                                const struct arguments *arguments) {
    struct overlap o = {.team = team, .call = call};
    struct blocks sends;
    size_t bytes;
    bool leads = team->node->me == 0;
    char *space = team_space(team->node, &bytes);
    sides_of(team, call, &sends, &o.recvs);
    o.mine = block_of(&sends, 0);
    o.progress = (struct progress *)(void *)space;
    o.area = space + head_bytes(team->places->nodes);
    if (leads) {
        atomic_store(&o.progress->come.word, 0);
        atomic_store(&o.progress->come.sleepers, 0);
        atomic_store(&o.progress->trouble, 0);
    }
    if (!overlap_describe(&o)) return LEFT;
    pack_mine(&o);
    uint32_t trouble = sync_all(team->node, call->trouble & LEAVE) & LEAVE;
    if (leads) trouble |= lead(&o, arguments->inner, trouble);
    else if (!trouble) trouble |= follow(&o);
    if (trouble & CUT) blocks_cut = true;
    return trouble ? FAILED : DONE;
}

static const char *const variants[] = {"overlap(ring)", "overlap(doubling)", NULL};

const struct algorithm_code algorithm_overlap = {.where = OVER_NODES,
                                                 .copies_in = true,
                                                 .any_layout = true,
                                                 .asks = overlap_asks,
                                                 .variants = variants,
                                                 .can = overlap_can,
                                                 .prepare = overlap_prepare,
                                                 .cost = overlap_cost,
                                                 .run = overlap_run};
