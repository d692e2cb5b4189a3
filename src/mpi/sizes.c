/* SPDX-License-Identifier: BSD-3-Clause */
/* sizes - how long the blocks of a call are that parts.c runs: known from its arguments, added up
 * over the ranks, or expected from earlier calls. */
#include "mpi/calls.h"

HOT static size_t gathered_bytes(const struct request *r, int p) {
    size_t size, all = 0;
    if (!type_bytes(r->recv.type, &size) || !r->recv.counts) return 0;
    for (int i = 0; i < p; i++) all += (size_t)entry_of(r->recv.counts, entry_width(r), i);
    return all * size;
}

/* The longer one of a rank's two sides, see neighbours.c. */
HOT static size_t longer_bytes(const struct request *r, const struct standing *at) {
    size_t sent = at->outs > 0 ? half_bytes(&r->send) : 0,
           received = at->ins > 0 ? half_bytes(&r->recv) : 0;
    return sent > received ? sent : received;
}

/* A root may know the block size from both sides. It takes the side that the other ranks also
 * know. */
HOT void parts_look(const struct request *r, const struct standing *at, struct common *common) {
    enum collective c = r->collective;
    bool root = at->me == r->root;
    if (c == COLL_bcast) common->bytes = half_bytes(&r->recv);
    if (c == COLL_gather)
        common->bytes = half_bytes(root && r->send.buffer == MPI_IN_PLACE ? &r->recv : &r->send);
    if (c == COLL_scatter)
        common->bytes = half_bytes(root && r->recv.buffer == MPI_IN_PLACE ? &r->send : &r->recv);
    if (c == COLL_allgatherv) common->bytes = gathered_bytes(r, at->p);
    if (among(c, BIT(neighbor_alltoall) | BIT(neighbor_allgather)))
        common->bytes = longer_bytes(r, at);
}

/* Adds to the sums for the mean block size since the ranks last added up. */
HOT void parts_tell(const struct request *r, const struct standing *at, struct team *team) {
    if (!among(r->collective, UNSIZED | NEIGHBORS)) return;
    struct last_call *last = &team->last_calls[r->collective];
    struct block_counts extent = extent_of(r, at);
    bool gathers = among(r->collective, GATHERS);
    const struct half *half = gathers ? &r->send : &r->recv;
    int blocks = gathers ? extent.sends : extent.recvs; /* for the root, with its own */
    MPI_Datatype seen = MPI_DATATYPE_NULL;
    size_t size = 0;
    for (int b = 0; b < blocks; b++) {
        MPI_Count count =
            half->counts ? (MPI_Count)entry_of(half->counts, entry_width(r), b) : half->count;
        MPI_Datatype type = half->types ? half->types[b] : half->type;
        if (count <= 0) continue;
        if (type != seen && !type_bytes(type, &size)) size = 0;
        seen = type;
        last->mine[0] += (uint64_t)count * size;
    }
    last->mine[1] += (uint64_t)blocks;
}

/* Adds up the sizes of all ranks. The result is used for `sure` calls: 7 if the size class changed,
 * else twice as many as before, up to sure_calls. Collective. */
static void parts_add_up(struct team *team, struct last_call *last) {
    enum { soon = 7 };
    uint64_t sums[2] = {0};
    messages_sum(team, last->mine, sums, 2);
    uint64_t bytes = sums[1] > 0 ? (sums[0] + sums[1] - 1) / sums[1] : 0;
    uint32_t sure =
        class_of(bytes) == class_of(last->bytes) && last->sure > 0 ? 2 * last->sure + 1 : soon;
    if (sure > sure_calls) sure = sure_calls;
    *last = (struct last_call){.bytes = bytes, .left = sure, .sure = sure};
}

/* The expected bytes of a block, from earlier calls, if ranks do not know each other's counts. In
 * shared memory mortar's own calls report the size as a side effect. The host MPI's calls do not,
 * so after some of these the estimate is dropped. */
HOT static size_t expected_bytes(enum collective collective, struct team *team) {
    struct last_call *last = &team->last_calls[collective];
    if (!team->wire && among(collective, NEIGHBORS)) return 0;
    if (team->wire) {
        if (last->left == 0) parts_add_up(team, last);
        last->left--;
        return (size_t)last->bytes;
    }
    if (last->left > 0) last->left--;
    else last->bytes = 0;
    return (size_t)last->bytes / (size_t)team->p;
}

/* Over nodes the sizes of its blocks keep a rank in step with the others, even if it has no memory
 * for anything else. So the team keeps memory for the tables of both sides. */
static const char tables_whose[3];

static bool tables_ready(enum collective c, struct team *team,
                         const struct neighbours *neighbours) {
    int which = neighbours ? 1 + neighbourhood_of(c) : 0, most = team->p;
    if (!team->wire) return true;
    if (neighbours && neighbours->outs > most) most = neighbours->outs;
    if (neighbours && neighbours->ins > most) most = neighbours->ins;
    return team_keeps_agreed(team, &tables_whose[which], 0,
                             2 * parts_words * (size_t)most * sizeof(int64_t), true);
}

int64_t *parts_tables(enum collective c, struct team *team, const struct neighbours *neighbours) {
    int which = neighbours ? 1 + neighbourhood_of(c) : 0;
    bool fresh;
    return team->wire ? team_keeps(team, &tables_whose[which], 0, 0, &fresh) : NULL;
}

HOT bool parts_agree(const struct common *common, struct team *team, struct shape *shape) {
    enum collective c = common->collective;
    const struct neighbours *neighbours = NULL;
    if (c == COLL_allgatherv)
        shape->bytes = (common->bytes + (size_t)team->p - 1) / (size_t)team->p;
    if (among(c, NEIGHBORS)) {
        neighbours = neighbours_of(common->comm, team, c);
        if (!neighbours) return false;
        shape->unsized = neighbours->lengths == 0 || among(c, UNSIZED);
    }
    if (!tables_ready(c, team, neighbours)) return false;
    if (shape->unsized) shape->bytes = expected_bytes(c, team);
    return true;
}
