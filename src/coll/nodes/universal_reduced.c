/* SPDX-License-Identifier: BSD-3-Clause */
/* reduced - the collectives that combine, for universal.c. All ranks of a node stage their vectors.
 * Each combines its share of them. Short ones are combined by the leader or, if ranks meet at a
 * tree of gates, by the last at each gate (reduce.c). Then the leaders combine the nodes' results.
 * The association is from the left inside each node or gate, then among the nodes, so results do
 * not depend on arrival. Operands change sides only if nodes do not hold consecutive ranks, when
 * non-commutative operations do not get here, or if ranks do not meet in their order.
 *
 * The staged vectors a(0) .. a(q-1) become their prefixes, a(i) = a(i-1) op a(i); the last is the
 * node's result. A scan combines them with the prefix of the nodes before (an exscan among
 * leaders). A reduce_scatter stages its parts node by node. */
#include "coll/nodes/universal.h"

enum { line = 64 };

/* The layout of `in`. */
struct staged {
    int64_t *counts; /* [nodes] elements of the nodes' parts; written by the leader */
    int64_t *cursor; /* [nodes] this rank's, for stage_parts */
    struct vectors vectors;
};

static bool universal_is_scattered(const struct job *job) {
    return among(job->call->shape.collective, SCATTERED);
}
static bool is_prefix(const struct job *job) { return among(job->call->shape.collective, SCANS); }

static struct staged staged_of(const struct job *job) {
    const struct reduction *reduction = job->call->reduction;
    size_t nodes = (size_t)job->places->nodes,
           tables = universal_is_scattered(job) ? (1 + (size_t)job->here) * nodes : 0;
    struct staged staged = {.counts = (int64_t *)(void *)job->in};
    staged.cursor = staged.counts + (1 + (size_t)job->local) * nodes;
    staged.vectors.first = job->in + (tables * sizeof(int64_t) + line - 1) / line * line;
    staged.vectors.step = (reduction->count * reduction->bytes + line - 1) / line * line;
    return staged;
}
static char *vector_of(const struct staged *staged, int local) {
    return staged->vectors.first + (size_t)local * staged->vectors.step;
}

/* Elements of a rank's part of a reduce_scatter. */
static size_t part_count(const struct job *job, int rank) {
    const struct reduction *reduction = job->call->reduction;
    if (job->call->shape.collective == COLL_reduce_scatter_block)
        return reduction->count / (size_t)job->team->p;
    return (size_t)entry_of(reduction->counts, reduction->count_width, rank);
}

/* ---- in ---- */

static void count_parts(const struct job *job, int64_t *counts) {
    for (int n = 0; n < job->places->nodes; n++) counts[n] = 0;
    for (int r = 0; r < job->team->p; r++)
        counts[job->places->node_of[r]] += (int64_t)part_count(job, r);
}

static void stage_parts(const struct job *job, const struct staged *staged) {
    const struct places *places = job->places;
    size_t bytes = job->call->reduction->bytes;
    const char *from = job->call->send;
    count_parts(job, staged->cursor);
    int64_t at = 0;
    for (int n = 0; n < places->nodes; n++) {
        int64_t count = staged->cursor[n];
        staged->cursor[n] = at;
        at += count;
    }
    for (int r = 0; r < job->team->p; r++) {
        size_t count = part_count(job, r);
        int64_t *cursor = &staged->cursor[places->node_of[r]];
        memcpy(vector_of(staged, job->local) + (size_t)*cursor * bytes, from, count * bytes);
        *cursor += (int64_t)count;
        from += count * bytes;
    }
}

static void stage(const struct job *job, const struct staged *staged) {
    const struct reduction *reduction = job->call->reduction;
    if (job->leads && universal_is_scattered(job)) count_parts(job, staged->counts);
    if (job->absent || reduction->count == 0) return;
    if (universal_is_scattered(job) && !job->places->in_order) stage_parts(job, staged);
    else
        memcpy(vector_of(staged, job->local), job->call->send, reduction->count * reduction->bytes);
}

/* ---- inside the node ---- */

/* Is it faster to combine whole vectors, so many in turn, than shares behind another barrier? */
static bool is_short(const struct figures *node, size_t bytes, int ranks, uint32_t in_turn) {
    return in_turn * combine_seconds(bytes) <
           node->usual_sync_seconds + ranks * combine_seconds(bytes / (size_t)ranks);
}

/* Meets the other ranks of the node. Returns whose vector is then the node's result. Short vectors
 * are combined by the leader or, if ranks meet at a tree of gates, there (reduce.c). */
static int combine_node(struct job *job, const struct staged *staged) {
    const struct reduction *reduction = job->call->reduction;
    struct team *node = job->node;
    bool at_gates = node->rung_count > 1 && combines_at_gates(node, job->call);
    uint32_t in_turn = at_gates ? combined_in_turn(&node->figures) : (uint32_t)job->here;
    /* All ranks need their prefixes, so these must be complete before the leader continues. */
    bool alone = !is_prefix(job) &&
                 is_short(&node->figures, reduction->count * reduction->bytes, job->here, in_turn);
    if (alone && at_gates) {
        uint32_t missing = job->absent ? NO_MEMORY : 0;
        uint32_t trouble = sync_combining(node, reduction, &staged->vectors, reduction->count, true,
                                          missing, NO_MEMORY);
        if (trouble & NO_MEMORY) job->spoiled = true;
        return combined_at(node);
    }
    job_meet(job, job->absent);
    struct part mine = {0, reduction->count};
    if (!alone) mine = part_worked(node, reduction, reduction->count, job->local);
    else if (!job->leads) mine.count = 0;
    if (!job->spoiled) vectors_combine(node, reduction, &staged->vectors, mine);
    if (!alone && job->here > 1) sync_all(node, 0);
    return job->here - 1;
}

/* ---- among the nodes ---- */

static uint32_t combine_nodes(const struct job *job, const struct staged *staged, int result) {
    const struct call *call = job->call;
    struct reduction reduction = *call->reduction;
    if (universal_is_scattered(job)) reduction.counts = staged->counts, reduction.count_width = 8;
    struct call inner = {
        .send = vector_of(staged, result), .recv = job->out, .reduction = &reduction};
    if (call->shape.collective == COLL_reduce) inner.root = job->places->node_of[call->root];
    return job_among_nodes(job, &inner);
}

/* ---- out ---- */

static void universal_take_part(const struct job *job) {
    size_t before = 0, bytes = job->call->reduction->bytes;
    for (int l = 0; l < job->local; l++)
        before += part_count(job, rank_at(job->places, job->home, l));
    memcpy(job->call->recv, job->out + before * bytes, part_count(job, job->team->me) * bytes);
}

/* Before the last barrier: copies my prefix inside the node. */
static void take_prefix(const struct job *job, const struct staged *staged) {
    const struct reduction *reduction = job->call->reduction;
    int local = job->local - (job->call->shape.collective == COLL_exscan);
    if (local >= 0)
        memcpy(job->call->recv, vector_of(staged, local), reduction->count * reduction->bytes);
}

/* After the last barrier: combines it with the prefix of the nodes before mine. */
static void add_nodes(const struct job *job) {
    const struct reduction *reduction = job->call->reduction;
    if (job->home == 0) return;
    bool first = job->local == 0 && job->call->shape.collective == COLL_exscan;
    if (first) memcpy(job->call->recv, job->out, reduction->count * reduction->bytes);
    else reduction->combine(reduction, job->out, job->call->recv, reduction->count);
}

enum outcome universal_reduction(struct job *job) {
    const struct call *call = job->call;
    size_t bytes = call->reduction->count * call->reduction->bytes;
    struct staged staged = staged_of(job);
    /* Elements with long gaps do not fit; asked for the fullest node, so that all ranks leave. */
    if ((double)staged.vectors.step * job->places->most >
        (double)(job_room(&job->team->figures) / 2))
        return LEFT;
    stage(job, &staged);
    int result = combine_node(job, &staged);
    if (is_prefix(job) && !job->spoiled) take_prefix(job, &staged);
    enum outcome outcome = job_end(job, combine_nodes(job, &staged, result));
    if (outcome != DONE || bytes == 0) return outcome;
    if (is_prefix(job)) add_nodes(job);
    else if (universal_is_scattered(job)) universal_take_part(job);
    else if (call->shape.collective == COLL_allreduce || job->team->me == call->root)
        memcpy(call->recv, job->out, bytes);
    return outcome;
}

double universal_combine_seconds(const struct figures *f, const struct shape *shape) {
    const struct figures *node = f->node;
    int ranks = f->most;
    uint32_t in_turn = combined_in_turn(node);
    size_t bytes = vector_bytes(f, shape);
    bool alone = is_short(node, bytes, ranks, in_turn);
    double combine =
        alone ? in_turn * combine_seconds(bytes) : ranks * combine_seconds(bytes / (size_t)ranks);
    if (!alone) combine += node->usual_sync_seconds;
    return combine + crowding(node) * copy_seconds(node, 2, bytes);
}
