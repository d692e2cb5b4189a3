/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_universal - any collective over several nodes: all ranks of a node copy their data into
 * its shared memory; one of them, the leader, runs any flat routine among the leaders; and all
 * ranks copy out what they receive (parsons2015 section II). Counts that only some ranks know
 * travel through shared memory only. Of the root's data the leader handles only those that leave
 * the root's node or come to it.
 * Cost    two barriers of a node (three if all ranks combine, or counts are exchanged), two copies,
 *         and the inner routine.
 * Wins    with many ranks per node and expensive messages between nodes. */
#include "coll/nodes/universal.h"

extern const struct algorithm_code algorithm_universal;

/* Most bytes that a node's ranks put into its memory, or its leader for them, if known. */
static double staged_bytes(const struct figures *f, const struct shape *shape) {
    if (shape->collective == COLL_bcast) return (double)shape->bytes;
    if (among(shape->collective, GATHERS | SCATTERS)) return (double)shape->bytes * f->p;
    return ((double)vector_bytes(f, shape) + 64) * f->most;
}

static bool universal_can(const struct figures *f, const struct calls *calls,
                          const struct arguments *arguments) {
    const struct shape *shape = &calls->largest;
    bool prefixes = among(shape->collective, SCANS);
    if ((shape->ordered || prefixes) && !f->in_order) return false;
    if (shape->unsized && !f->node->space_ample) return false;
    if (staged_bytes(f, shape) > (double)(job_room(f) / 2)) return false;
    struct figures lane = figures_of_lane(f);
    struct calls inner = {.largest = job_shape(f, shape)};
    if (among(shape->collective, GATHERS | SCATTERS) &&
        !inside_counts(arguments, (double)shape->bytes * f->p))
        return false;
    return routine_fits(arguments->inner, &lane, &inner);
}

static int universal_prepare(struct team *team, const struct arguments *arguments) {
    return lanes_prepare(team, arguments, 1);
}

static enum outcome barrier(struct job *job) {
    job_meet(job, false);
    return job_end(job, job_among_nodes(job, job->call));
}

static enum outcome universal_run(struct team *team, const struct call *call,
                                  const struct arguments *arguments) {
    const struct places *places = team->places;
    struct job job = {.team = team,
                      .node = team->node,
                      .lane = team_lane(team, 0),
                      .call = call,
                      .inner = arguments->inner,
                      .places = places,
                      .home = places->node_of[team->me],
                      .local = places->local_of[team->me],
                      .absent = call->trouble & LEAVE};
    size_t room;
    job.in = team_space(team->node, &room);
    job.out = job.in + job_room(&team->figures);
    job.here = ranks_on(places, job.home);
    job.leads = job.lane->me >= 0;
    switch (call->shape.collective) {
    case COLL_barrier: return barrier(&job);
    case COLL_bcast: return universal_bcast(&job);
    case COLL_gather:
    case COLL_gatherv: return universal_gather(&job);
    case COLL_scatter:
    case COLL_scatterv: return universal_scatter(&job);
    default: return universal_reduction(&job);
    }
}

static double universal_cost(const struct figures *f, const struct shape *shape,
                             const struct arguments *arguments) {
    struct figures lane = figures_of_lane(f);
    struct shape inner = job_shape(f, shape);
    double among_nodes = routine_cost(arguments->inner, &lane, &inner);
    if (among_nodes < 0) return -1;
    const struct figures *node = f->node;
    if (among(shape->collective, REDUCTIONS))
        return among_nodes + 2 * node->usual_sync_seconds + universal_combine_seconds(f, shape);
    double seconds = among_nodes + 2 * node->sync_seconds;
    if (shape->collective == COLL_barrier) return seconds;
    if (shape->collective == COLL_gatherv) seconds += node->sync_seconds;
    double blocks = among(shape->collective, GATHERS | SCATTERS) ? f->p : 1; /* the root's */
    return seconds + copy_seconds(node, blocks, shape->bytes) +
           crowding(node) * copy_seconds(node, 1, shape->bytes);
}

static const char *const variants[] = {"universal(%s)", NULL};

const struct algorithm_code algorithm_universal = {.where = OVER_NODES,
                                                   .copies_in = true,
                                                   .any_layout = true,
                                                   .asks = job_asks,
                                                   .variants = variants,
                                                   .can = universal_can,
                                                   .prepare = universal_prepare,
                                                   .cost = universal_cost,
                                                   .run = universal_run};
