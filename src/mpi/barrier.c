/* SPDX-License-Identifier: BSD-3-Clause */
/* barrier - the family of the barrier, which moves no data. */
#include "mpi/calls.h"

static void barrier_look(const struct request *r, const struct standing *at,
                         struct common *common) {
    (void)r, (void)at, (void)common;
}

static struct answer barrier_end(const struct request *r, struct team *team, struct plan **plan,
                                 const struct call *call, enum outcome outcome) {
    (void)r, (void)team, (void)plan, (void)call;
    return outcome == FAILED ? fails(MPI_ERR_OTHER) : returns(MPI_SUCCESS);
}

HOT static struct answer barrier_run(const struct request *r, struct team *team, struct plan **plan,
                                     const struct shape *shape) {
    struct call call = {.shape = *shape};
    enum outcome outcome = (*plan)->algorithm->code->run(team, &call, &(*plan)->arguments);
    return barrier_end(r, team, plan, &call, outcome);
}

/* The shape is all there is. */
static bool barrier_prepare(const struct request *r, struct team *team, struct ready *ready) {
    (void)r, (void)team, (void)ready;
    return true;
}

const struct family family_barrier = {
    .look = barrier_look, .run = barrier_run, .prepare = barrier_prepare, .end = barrier_end};
