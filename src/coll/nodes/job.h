/* SPDX-License-Identifier: BSD-3-Clause */
/* job.h - private to coll/: one call of `universal` on one rank.
 *
 * `in` is written before the first barrier of a call, by all ranks, and read until the last one;
 * `out` is written between the two, by the leader, and read after the last, while others may
 * already be in their next call, which has the other half of the space. */
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
    int local;    /* which of its ranks I am */
    int here;     /* ranks on it */
    bool leads;   /* am I its leader? */
    bool absent;  /* my buffers may not be touched: the others go on without them */
    bool spoiled; /* some rank of my node should have put there what others want, and has not */
};

/* Bytes of `in`, and of `out`. */
static inline size_t job_room(const struct figures *f) {
    return f->node->space_bytes / 4 / 64 * 64;
}
/* What the leaders run: the collective, and it with the bytes of a block. */
enum collective job_asks(enum collective collective);
struct shape job_shape(const struct figures *f, const struct shape *shape);
/* The first barrier of a call, or the second. missing: what I should have put into the node's
 * memory. */
void job_meet(struct job *job, bool missing);
/* The leader runs the inner routine. Returns the trouble to arrive with. */
uint32_t job_among_nodes(const struct job *job, const struct call *call);
/* The last barrier of a call: did all go well? */
enum outcome job_end(const struct job *job, uint32_t trouble);

#endif
