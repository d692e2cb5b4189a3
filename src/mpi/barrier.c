/* SPDX-License-Identifier: BSD-3-Clause */
/* barrier - the family of the barrier, which moves no data. */
#include "mpi/calls.h"

static void barrier_look(const struct request *r, const struct standing *at,
                         struct common *common) {
    (void)r, (void)at, (void)common;
}

HOT static struct answer barrier_run(const struct request *r, struct team *team, struct plan **plan,
                                     const struct shape *shape) {
    (void)r;
    enum outcome outcome =
        (*plan)->algorithm->code->run(team, &(struct call){.shape = *shape}, &(*plan)->arguments);
    return outcome == FAILED ? fails(MPI_ERR_OTHER) : returns(MPI_SUCCESS);
}

const struct family family_barrier = {.look = barrier_look, .run = barrier_run};
