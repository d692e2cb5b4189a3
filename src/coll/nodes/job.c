/* SPDX-License-Identifier: BSD-3-Clause */
/* job - shared by all collectives of `universal`: the leaders' inner routine, and the barriers
 * around it. */
#include "coll/nodes/job.h"

enum collective job_asks(enum collective collective) {
    switch (collective) {
    case COLL_gather: return COLL_gatherv; /* nodes need not have equally many ranks */
    case COLL_scatter: return COLL_scatterv;
    case COLL_reduce_scatter_block: return COLL_reduce_scatter;
    case COLL_scan: return COLL_exscan;
    default: return collective;
    }
}

struct shape job_shape(const struct figures *f, const struct shape *shape) {
    struct shape inner = {.collective = job_asks(shape->collective),
                          .bytes = shape->bytes,
                          .unsized = shape->unsized,
                          .beside = 1};
    if (among(shape->collective, GATHERS | SCATTERS | SCATTERED))
        inner.bytes *= ((size_t)f->p + (size_t)f->nodes - 1) / (size_t)f->nodes;
    return inner;
}

void job_meet(struct job *job, bool missing) {
    if (sync_all(job->node, missing ? NO_MEMORY : 0) & NO_MEMORY) job->spoiled = true;
}

uint32_t job_among_nodes(const struct job *job, const struct call *call) {
    if (!job->leads) return 0;
    struct call inner = *call;
    inner.shape = job_shape(&job->team->figures, &job->call->shape);
    inner.trouble = job->spoiled ? NO_MEMORY : 0;
    bool before = blocks_cut; /* about a block of my own, so the other ranks are not told */
    blocks_cut = false;
    uint32_t trouble = routine_run(job->inner, job->lane, &inner) == DONE ? 0 : PATH_LOST;
    if (blocks_cut) trouble |= CUT;
    blocks_cut = before;
    return trouble;
}

enum outcome job_end(const struct job *job, uint32_t trouble) {
    trouble = sync_all(job->node, trouble);
    if (trouble & CUT) blocks_cut = true;
    return (trouble & (PATH_LOST | CUT)) || job->absent || job->spoiled ? FAILED : DONE;
}
