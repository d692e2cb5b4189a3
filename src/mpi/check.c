/* SPDX-License-Identifier: BSD-3-Clause */
/* check - does the MPI library refuse a call for its arguments, before it has sent anything? If so,
 * for the other ranks there was no call. The rank that made it gets the error from the library
 * itself, and mortar has sent nothing either.
 *
 * Nothing else sends one rank alone to the library, so nothing that the library accepts may be
 * refused here. Libraries check different things, as written below for Open MPI and for MPICH and
 * its relatives; test/preload/arguments.c compares, row by row. */
#include "mpi/calls.h"

enum { SENDS, RECVS };

/* ---- what the libraries check ---- */

/* Is an address of 0 refused, unless the data are at addresses? */
static bool looks_for_null(void) { return !host.open_mpi; }
/* Is a list of counts or displacements at address 0 refused, even if no block needs it? The others
 * read it where they need it. */
static bool looks_for_lists(void) { return host.open_mpi; }
/* Is the type of an empty block checked? */
static bool looks_at_empty(enum collective c) {
    const uint32_t unchecked = BIT(bcast) | BIT(alltoallw) | BIT(neighbor_alltoall) |
                               BIT(neighbor_alltoallw) | BIT(neighbor_allgather);
    return host.open_mpi || !among(c, unchecked);
}
static bool looks_at_type(enum collective c, int side) {
    return !host.open_mpi || c != COLL_scatter || side == RECVS;
}
/* Is it checked that the type was committed? */
static bool looks_at_commit(enum collective c, int side) {
    return !host.open_mpi || among(c, PERSONAL | REDUCTIONS | BIT(bcast)) ||
           (side == SENDS && c != COLL_scatter);
}
/* Is it checked that both sides begin at different addresses? And that the side with one block
 * begins elsewhere than this rank's block of the other side? */
static bool looks_at_alias(const struct request *r) {
    if (!host.open_mpi) return among(r->collective, ALLTOALLS | REDUCTIONS);
    /* It lets pass sums of a single element, as many programs make them. */
    return r->collective == COLL_reduce || (r->collective == COLL_allreduce && r->recv.count > 1);
}
static bool looks_at_own(enum collective c) {
    return !host.open_mpi && among(c, ALLGATHERS | GATHERS | SCATTERS);
}

/* ---- where this rank stands ---- */

HOT struct block_counts extent_of(const struct request *r, const struct standing *at) {
    enum collective c = r->collective;
    bool root = at->me == r->root, sends_in_place = r->send.buffer == MPI_IN_PLACE;
    if (among(c, ALLTOALLS)) return (struct block_counts){sends_in_place ? 0 : at->p, at->p};
    if (among(c, ALLGATHERS)) return (struct block_counts){!sends_in_place, at->p};
    if (c == COLL_bcast) return (struct block_counts){root, !root};
    if (among(c, GATHERS))
        return (struct block_counts){!(root && sends_in_place), root ? at->p : 0};
    if (among(c, SCATTERS))
        return (struct block_counts){root ? at->p : 0, !(root && r->recv.buffer == MPI_IN_PLACE)};
    if (c == COLL_reduce) return (struct block_counts){!(root && sends_in_place), root};
    if (among(c, REDUCTIONS)) return (struct block_counts){!sends_in_place, 1};
    if (among(c, BIT(neighbor_allgather) | BIT(neighbor_allgatherv)))
        return (struct block_counts){1, at->ins};
    return (struct block_counts){at->outs, at->ins};
}

/* Fills *at. False: a neighbourhood collective on a communicator without a topology. */
HOT static bool stand(const struct request *r, struct met met, struct standing *at) {
    const struct team *team = met.team;
    if (team) at->p = team->p, at->me = team->me;
    else if (met.young) at->p = met.young->p, at->me = met.young->me;
    else if (PMPI_Comm_size(r->comm, &at->p) != MPI_SUCCESS ||
             PMPI_Comm_rank(r->comm, &at->me) != MPI_SUCCESS)
        return false;
    if (!among(r->collective, NEIGHBORS)) return true;
    const struct neighbours *known =
        team ? team->neighbours[neighbourhood_of(r->collective)] : NULL;
    if (!known) return degrees(r->comm, &at->ins, &at->outs);
    at->ins = known->ins, at->outs = known->outs;
    return true;
}

/* ---- one side ---- */

/* All counts or-ed: 0 if all are 0, negative if one is. */
HOT static int64_t counts_of(const struct request *r, const struct half *half, int blocks) {
    int64_t all = 0;
    if (!half->counts) return half->count;
    if (r->large)
        for (int b = 0; b < blocks; b++) all |= ((const int64_t *)half->counts)[b];
    else
        for (int b = 0; b < blocks; b++) all |= ((const int32_t *)half->counts)[b];
    return all;
}

/* Of a side that has blocks. */
HOT static bool lists_missing(enum collective c, const struct half *half, int side) {
    const uint32_t both =
        BIT(alltoallv) | BIT(alltoallw) | BIT(neighbor_alltoallv) | BIT(neighbor_alltoallw);
    const uint32_t one =
        side == SENDS ? BIT(scatterv) : BIT(allgatherv) | BIT(gatherv) | BIT(neighbor_allgatherv);
    if (!looks_for_lists()) return false;
    if (c == COLL_reduce_scatter) return !half->counts;
    return among(c, both | one) && !(half->counts && half->displs);
}

HOT static bool type_refused(enum collective c, int side, MPI_Datatype type, bool empty) {
    if (type_is_plain(type) || (empty && !looks_at_empty(c))) return false;
    if (!is_type(type)) return looks_at_type(c, side);
    return looks_at_commit(c, side) && !type_committed(type);
}

/* Is a buffer at address 0 missing, rather than MPI_BOTTOM, or of elements without data? */
HOT static bool is_missing(const void *buffer, MPI_Datatype type, bool empty) {
    size_t bytes;
    return looks_for_null() && !buffer && !empty && type_is_run(type) && type_bytes(type, &bytes) &&
           bytes > 0;
}

HOT static bool types_refused(const struct request *r, const struct half *half, int side,
                              int blocks) {
    /* From MPI_BOTTOM, displacements in bytes are addresses. */
    const MPI_Aint *addresses =
        r->collective == COLL_neighbor_alltoallw && !half->buffer ? half->displs : NULL;
    for (int b = 0; b < blocks; b++) {
        bool empty = entry_of(half->counts, entry_width(r), b) == 0;
        if (type_refused(r->collective, side, half->types[b], empty)) return true;
        if (!(addresses && addresses[b]) && is_missing(half->buffer, half->types[b], empty))
            return true;
    }
    return false;
}

/* needed: there is somebody at the other end of the blocks. */
HOT static bool half_refused(const struct request *r, const struct half *half, int side, int blocks,
                             bool needed) {
    if (blocks == 0) return false;
    if (lists_missing(r->collective, half, side)) return true;
    int64_t counts = counts_of(r, half, blocks);
    if (half->buffer == MPI_IN_PLACE || counts < 0) return true;
    if (half->types) return types_refused(r, half, side, blocks);
    return type_refused(r->collective, side, half->type, counts == 0) ||
           (needed && is_missing(half->buffer, half->type, counts == 0));
}

/* ---- both ---- */

ptrdiff_t own_block_at(const struct request *r, const struct half *half, int me) {
    MPI_Count size = 0;
    PMPI_Type_size_x(half->type, &size);
    int64_t at =
        half->displs ? entry_of(half->displs, displ_width(r), me) : me * (int64_t)half->count;
    return (ptrdiff_t)(at * size);
}

struct fit fit_of(const struct request *r, const struct block_counts *extent, int me) {
    struct fit fit = {.sends = extent->sends > 0, .receives = extent->recvs > 0};
    const bool scatters = among(r->collective, SCATTERS), root = me == r->root;
    const struct half *half = scatters ? &r->send : &r->recv;
    if (!scatters && !among(r->collective, GATHERS | ALLGATHERS)) return fit;
    if ((!root && among(r->collective, ROOTED)) || !is_type(half->type)) return fit;
    ptrdiff_t at = own_block_at(r, half, me);
    fit.own = scatters ? -at : at;
    return fit;
}

/* Are the blocks of both sides the same to MPICH? It does not read lists: they are the same if they
 * lie at one place, even if all counts are 0. */
static bool same_blocks(const struct half *one, const struct half *other) {
    if (one->types != other->types || one->counts != other->counts) return false;
    return one->counts || (one->count == other->count && one->count != 0);
}

HOT static bool is_aliased(const struct request *r, const struct block_counts *here, int me) {
    enum collective c = r->collective;
    if (here->sends == 0 || here->recvs == 0 || r->send.type != r->recv.type) return false;
    if (looks_at_alias(r))
        return r->send.buffer == r->recv.buffer &&
               (among(c, REDUCTIONS) || same_blocks(&r->send, &r->recv));
    if (!looks_at_own(c)) return false;
    bool scatters = among(c, SCATTERS);
    const struct half *all = scatters ? &r->send : &r->recv;
    const struct half *one = scatters ? &r->recv : &r->send;
    if (one->count == 0 || !one->buffer) return false;
    if (all->counts ? !entry_of(all->counts, entry_width(r), me) : one->count != all->count)
        return false;
    return one->buffer == (const char *)all->buffer + own_block_at(r, all, me);
}

/* All counts are checked: a reduce_scatter has one for each rank. A rank that receives nothing
 * needs no receive buffer. */
HOT static bool reduction_refused(const struct request *r, const struct block_counts *here,
                                  const struct standing *at) {
    if (lists_missing(r->collective, &r->recv, RECVS)) return true;
    int64_t counts = counts_of(r, &r->recv, at->p);
    if (counts < 0 || type_refused(r->collective, SENDS, r->recv.type, counts == 0)) return true;
    bool empty = counts == 0, gets = !empty && elements_received(r, at->me) > 0;
    if (here->sends &&
        (r->send.buffer == MPI_IN_PLACE || is_missing(r->send.buffer, r->send.type, empty)))
        return true;
    if (here->recvs &&
        (r->recv.buffer == MPI_IN_PLACE || is_missing(r->recv.buffer, r->recv.type, !gets)))
        return true;
    return counts != 0 && is_aliased(r, here, at->me);
}

HOT bool is_refused(const struct request *r, struct met met, struct standing *at) {
    enum collective c = r->collective;
    *at = (struct standing){0};
    if (c == COLL_barrier || (met.team && met.team->why_native)) return false;
    if (!stand(r, met, at)) return true;
    if (among(c, ROOTED | BIT(reduce)) && (r->root < 0 || r->root >= at->p)) return true;
    struct block_counts here = extent_of(r, at);
    if (among(c, REDUCTIONS)) return reduction_refused(r, &here, at);
    /* MPICH wants a buffer of a rank that nobody hears, too. Its error is that rank's alone, and no
     * other rank waits for it; but in mortar's call all would. */
    bool heard = !among(c, BIT(neighbor_allgather) | BIT(neighbor_allgatherv)) || at->outs > 0;
    if (half_refused(r, &r->send, SENDS, here.sends, heard) ||
        half_refused(r, &r->recv, RECVS, here.recvs, true))
        return true;
    return is_aliased(r, &here, at->me);
}
