/* SPDX-License-Identifier: BSD-3-Clause */
/* job.h - private to coll/: one call of `universal` on one rank.
 *
 * `in` is written by all ranks before the first barrier of a call, and read until the last one.
 * `out` is written by the leader between the two and read after the last. Other ranks may then
 * already be in their next call, which uses the other half of the space. */
#ifndef MORTAR_JOB_H
#define MORTAR_JOB_H

#include "coll/coll.h"

struct job {
    struct team *team, *node, *lane;
    const struct call *call;
    const struct routine *inner;
    const struct places *places;
    char *in, *out;
    int home;     /* my node */
    int local;    /* my number on it */
    int here;     /* ranks on it */
    bool leads;   /* I am its leader */
    bool absent;  /* my buffers may not be touched: the other ranks go on without them */
    bool spoiled; /* data that some rank of my node had to put into `in` are missing */
};

/* Bytes of `in`, and bytes of `out`. */
static inline size_t job_room(const struct figures *f) {
    return f->node->space_bytes / 4 / 64 * 64;
}
/* What the leaders run: the collective, and the whole shape. */
enum collective job_asks(enum collective collective);
struct shape job_shape(const struct figures *f, const struct shape *shape);
/* A barrier of a call, except its last one. missing: I have not put my data into `in`. */
void job_meet(struct job *job, bool missing);
/* The leader runs the inner routine. Returns the trouble flags to arrive with. */
uint32_t job_among_nodes(const struct job *job, const struct call *call);
/* The last barrier of a call. DONE, or FAILED if this rank did not get its data. */
enum outcome job_end(const struct job *job, uint32_t trouble);

#endif
