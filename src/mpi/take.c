/* SPDX-License-Identifier: BSD-3-Clause */
/* take - the life of a call: reentry guard, team, shape, plan; then the family of its collective runs it, or the host MPI. */
#include "mpi/calls.h"

/* Set while this thread is inside mortar: an MPI library may implement one call by another. */
static _Thread_local bool inside;

static const struct family *const families[COLLECTIVES] = {
    [COLL_alltoall] = &family_exchange,
    [COLL_allgather] = &family_exchange,
    [COLL_barrier] = &family_barrier,
    [COLL_alltoallv] = &family_parts,
    [COLL_alltoallw] = &family_parts,
    [COLL_allgatherv] = &family_parts,
    [COLL_bcast] = &family_parts,
    [COLL_gather] = &family_parts,
    [COLL_gatherv] = &family_parts,
    [COLL_scatter] = &family_parts,
    [COLL_scatterv] = &family_parts,
    [COLL_neighbor_alltoall] = &family_parts,
    [COLL_neighbor_alltoallv] = &family_parts,
    [COLL_neighbor_alltoallw] = &family_parts,
    [COLL_neighbor_allgather] = &family_parts,
    [COLL_neighbor_allgatherv] = &family_parts,
    [COLL_reduce] = &family_reduction,
    [COLL_allreduce] = &family_reduction,
    [COLL_reduce_scatter] = &family_reduction,
    [COLL_reduce_scatter_block] = &family_reduction,
    [COLL_scan] = &family_reduction,
    [COLL_exscan] = &family_reduction,
};

HOT static void count(struct team *team, struct plan *plan, size_t bytes, double start) {
    plan->tally.calls++;
    plan->tally.bytes += bytes;
    if (start <= 0) return;
    double took = clock_seconds() - start;
    if (plan->timed) plan->timed_seconds = took;
    if (!report_wanted()) return;
    plan->tally.seconds += took;
    if (plan->algorithm->code->run) tally_waits(&plan->tally, team);
    waits_end(team->node ? team->node : team);
}

static void count_traffic(struct traffic *sum, const struct traffic *before, const struct traffic *after) {
    sum->messages += after->messages - before->messages;
    sum->bytes += after->bytes - before->bytes;
    sum->far_messages += after->far_messages - before->far_messages;
    sum->far_bytes += after->far_bytes - before->far_bytes;
}

HOT static int dispatch(const struct request *r) {
    const struct family *family = families[r->collective];
    struct shape shape = {.collective = r->collective};
    if (!family->look(r, &shape)) return r->native(r);
    struct team *team = team_of(r->comm);
    if (!team) return r->native(r);
    if (!team->why_native && family->agree && !family->agree(r, team, &shape)) return r->native(r);
    struct plan *plan = plan_for(team, &shape);
    struct traffic before = team->wire ? *team->wire->traffic : (struct traffic){0};
    double start = plan->timed || report_wanted() ? clock_seconds() : 0;
    struct team *near = team->node ? team->node : team;
    if (report_wanted()) waits_begin(near, start);
    int error = plan->algorithm->code->run ? family->run(r, team, &plan, &shape) : r->native(r);
    if (team->wire) count_traffic(&plan->tally.traffic, &before, team->wire->traffic);
    count(team, plan, shape.bytes * (size_t)team->p, start);
    return error;
}

HOT static int enter(const struct request *r) {
    if (inside || r->comm == MPI_COMM_NULL) return r->native(r);
    inside = true;
    int error = dispatch(r);
    inside = false;
    return error;
}

HOT int take(const struct request *r) { return r->large && !host.large ? narrowed(r, enter) : enter(r); }
