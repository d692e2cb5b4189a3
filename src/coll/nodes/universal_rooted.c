/* SPDX-License-Identifier: BSD-3-Clause */
/* rooted - broadcast, gather and scatter for universal.c. The root takes part through its node's
 * shared memory. Its blocks for and from ranks of its own node do not pass the leader; its own
 * block does not pass shared memory. */
#include "coll/nodes/universal.h"

/* At the beginning of `in`: bytes of the blocks of my node's ranks, and of each node. */
struct rooted_table {
    /* [places->most] bytes of each rank's block, written by that rank; used if unsized. */
    uint64_t *sizes;
    /* [places->most] scatter: bytes of each rank's block, written by the root on its node. */
    uint64_t *given;
    /* [nodes] on the root's node, written by the root: bytes of each node's blocks, and where they
     * begin. */
    int64_t *totals, *starts;
    char *data;
};

static struct rooted_table table_of(const struct job *job) {
    size_t most = (size_t)job->places->most, nodes = (size_t)job->places->nodes;
    struct rooted_table table = {.sizes = (uint64_t *)(void *)job->in};
    table.given = table.sizes + most;
    table.totals = (int64_t *)(table.given + most);
    table.starts = table.totals + nodes;
    table.data = job->in + ((2 * most + 2 * nodes) * sizeof(uint64_t) + 63) / 64 * 64;
    return table;
}

static int rank_here(const struct job *job, int local) {
    return rank_at(job->places, job->home, local);
}

/* Bytes of the blocks of my node's ranks before rank `local`, without the root's own. */
static size_t bytes_before(const struct job *job, const struct rooted_table *table, int local) {
    bool equal = !job->call->shape.unsized;
    size_t bytes = 0;
    for (int l = 0; l < local; l++) {
        if (equal) bytes += rank_here(job, l) == job->call->root ? 0 : job->call->shape.bytes;
        else bytes += table->sizes[l];
    }
    return bytes;
}

static size_t my_bytes(const struct job *job, const struct blocks *blocks) {
    if (job->team->me == job->call->root || blocks->count == 0 ||
        !(blocks->layout || blocks->layouts))
        return 0;
    struct block block = block_of(blocks, 0);
    return block_bytes(&block);
}

static void universal_pack(const struct job *job, const struct blocks *blocks, int b, char *to) {
    if (job->absent || b >= blocks->count) return;
    struct block block = block_of(blocks, b);
    layout_pack(to, block.at, block.layout, block.elements);
}

/* bytes: how many are at `from`; SIZE_MAX: as many as the block has. */
static void universal_unpack(const struct job *job, const struct blocks *blocks, int b,
                             const char *from, size_t bytes) {
    if (job->absent || job->spoiled || b >= blocks->count) return;
    struct block block = block_of(blocks, b);
    if (bytes < SIZE_MAX) fit_block(&block, bytes);
    layout_unpack(block.at, block.layout, block.elements, from,
                  bytes < block_bytes(&block) ? bytes : block_bytes(&block));
}

/* Copies the root's block for itself. */
static void relay_roots(const struct job *job) {
    const struct blocks *sends = job->call->sends, *recvs = job->call->recvs;
    bool gathers = among(job->call->shape.collective, GATHERS);
    if (job->absent || sends->count == 0 || recvs->count == 0) return; /* in place */
    int me = job->team->me;
    relay_own(recvs, gathers ? me : 0, sends, gathers ? 0 : me);
}

/* Contiguous blocks from `base` on: one block, or as the table says. */
static struct blocks run_at(char *base, size_t bytes) {
    return (struct blocks){.base = base, .count = 1, .layout = &layout_bytes, .each = bytes};
}
static struct blocks runs_at(char *base, int count, const struct rooted_table *table) {
    return byte_runs(base, count, table->totals, table->starts);
}

/* A length precedes the block, written by the root or by the leader of another node. */
enum { length_line = 64 };

enum outcome universal_bcast(struct job *job) {
    const struct call *call = job->call;
    int source = job->places->node_of[call->root];
    bool root = job->team->me == call->root, near = job->home == source;
    char *there = near ? job->in : job->out;
    uint64_t *length = (uint64_t *)(void *)there;
    there += length_line;
    if (root) {
        struct block block = block_of(call->sends, 0);
        *length = block_bytes(&block);
        universal_pack(job, call->sends, 0, there);
    }
    job_meet(job, root && job->absent);
    if (!near && job->leads) *length = call->shape.bytes;
    struct blocks run = run_at(there, near ? (size_t)*length : call->shape.bytes),
                  none = {.layout = &layout_bytes};
    struct call inner = {.sends = &none, .recvs = &run, .root = source};
    if (near) inner.sends = &run, inner.recvs = &none;
    uint32_t trouble = job_among_nodes(job, &inner);
    if (near && !root) universal_unpack(job, call->recvs, 0, there, (size_t)*length);
    enum outcome outcome = job_end(job, trouble);
    if (!near && outcome == DONE) universal_unpack(job, call->recvs, 0, there, (size_t)*length);
    return outcome;
}

/* bytes_between: bytes of the nodes' messages, if all ranks know them. */
static size_t node_bytes(const struct call *inner, int source, int dest) {
    const struct job *job = inner->asker;
    int root = job->places->node_of[job->call->root], node = source == root ? dest : source;
    return node == root ? 0 : (size_t)ranks_on(job->places, node) * job->call->shape.bytes;
}

static uint32_t move_among_nodes(const struct job *job, const struct blocks *sends,
                                 const struct blocks *recvs) {
    struct call inner = {.sends = sends,
                         .recvs = recvs,
                         .root = job->places->node_of[job->call->root],
                         .asker = (void *)(uintptr_t)job};
    if (!job->call->shape.unsized) inner.bytes_between = node_bytes;
    return job_among_nodes(job, &inner);
}

static size_t universal_longer(size_t a, size_t b) { return a > b ? a : b; }

/* Bytes of a rank's block at the root's node. All ranks know what the ranks of a gather send,
 * whatever room the root has, and what those of a scatter receive, however little the root
 * sends. */
static size_t universal_bytes(const struct job *job, const struct blocks *blocks, int rank) {
    const struct shape *shape = &job->call->shape;
    if (shape->collective == COLL_gather) return shape->bytes;
    struct block block = block_of(blocks, rank);
    return universal_longer(block_bytes(&block), shape->unsized ? 0 : shape->bytes);
}

/* The root writes the bytes of its blocks for, or from, the other nodes' ranks, and where they
 * begin, node by node. */
static void fill_table(const struct job *job, const struct rooted_table *table,
                       const struct blocks *blocks) {
    const struct places *places = job->places;
    int64_t at = 0;
    for (int n = 0; n < places->nodes; n++) {
        table->starts[n] = at;
        for (int i = places->first[n]; i < places->first[n + 1]; i++) {
            if (places->ranks[i] == job->team->me || !(blocks->layout || blocks->layouts)) continue;
            size_t bytes = universal_bytes(job, blocks, places->ranks[i]);
            if (n == job->home) table->given[i - places->first[n]] = bytes;
            at += (int64_t)bytes;
        }
        table->totals[n] = n == job->home ? 0 : at - table->starts[n];
    }
}

/* The root copies the blocks of a node's ranks to `at` (in), or from there, back to back. Returns
 * where they end. said: the sizes that the ranks of its own node have written; NULL: all ranks know
 * them. */
static char *move_node(const struct job *job, const struct blocks *blocks, int n, char *at,
                       const struct rooted_table *said, bool in) {
    const struct places *places = job->places;
    for (int i = places->first[n]; i < places->first[n + 1] && !job->absent; i++) {
        int r = places->ranks[i];
        if (r == job->team->me) continue;
        size_t bytes =
            said ? (size_t)said->sizes[i - places->first[n]] : universal_bytes(job, blocks, r);
        if (in) universal_pack(job, blocks, r, at);
        else universal_unpack(job, blocks, r, at, bytes);
        at += bytes;
    }
    return at;
}

enum outcome universal_gather(struct job *job) {
    const struct call *call = job->call;
    struct rooted_table table = table_of(job);
    bool root = job->team->me == call->root, near = job->home == job->places->node_of[call->root];
    if (root) fill_table(job, &table, call->recvs);
    if (call->shape.unsized) {
        table.sizes[job->local] = my_bytes(job, call->sends);
        sync_all(job->node, 0);
    }
    if (!root)
        universal_pack(job, call->sends, 0, table.data + bytes_before(job, &table, job->local));
    job_meet(job, !root && job->absent);
    if (root) {
        move_node(job, call->recvs, job->home, table.data, call->shape.unsized ? &table : NULL,
                  false);
        relay_roots(job);
    }
    struct blocks none = {.layout = &layout_bytes},
                  sent = run_at(table.data, near ? 0 : bytes_before(job, &table, job->here));
    struct blocks come = near ? runs_at(job->out, job->places->nodes, &table) : none;
    uint32_t trouble = move_among_nodes(job, &sent, &come);
    enum outcome outcome = job_end(job, trouble);
    /* The root has less room than was sent. */
    if (blocks_cut && !root) {
        blocks_cut = false;
        return job->absent ? FAILED : DONE;
    }
    for (int n = 0; n < job->places->nodes && root && outcome == DONE; n++)
        if (n != job->home) move_node(job, call->recvs, n, job->out + table.starts[n], NULL, false);
    return outcome;
}

enum outcome universal_scatter(struct job *job) {
    const struct call *call = job->call;
    struct rooted_table table = table_of(job);
    bool root = job->team->me == call->root, near = job->home == job->places->node_of[call->root];
    if (call->shape.unsized) table.sizes[job->local] = my_bytes(job, call->recvs);
    if (root) {
        table.given[job->local] = 0;
        fill_table(job, &table, call->sends);
        char *at = table.data;
        for (int n = 0; n < job->places->nodes; n++)
            at = move_node(job, call->sends, n, at, NULL, true);
    }
    job_meet(job, root && job->absent);
    size_t mine = 0;
    for (int l = 0; near && l < job->local; l++) mine += (size_t)table.given[l];
    if (!near) mine = bytes_before(job, &table, job->local);
    struct blocks none = {.layout = &layout_bytes},
                  come = run_at(job->out, near ? 0 : bytes_before(job, &table, job->here));
    struct blocks sent = near ? runs_at(table.data, job->places->nodes, &table) : none;
    if (root) relay_roots(job);
    else if (near)
        universal_unpack(job, call->recvs, 0, table.data + table.starts[job->home] + mine,
                         (size_t)table.given[job->local]);
    enum outcome outcome = job_end(job, move_among_nodes(job, &sent, &come));
    if (!near && outcome == DONE) universal_unpack(job, call->recvs, 0, job->out + mine, SIZE_MAX);
    return outcome;
}
