/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Barrier. */
#include "mpi/calls.h"

static int native(const struct request *r) { return host.barrier(r->comm); }

int MPI_Barrier(MPI_Comm comm) { return take(&(struct request){.collective = COLL_barrier, .comm = comm, .native = native}); }

static bool look(const struct request *r, struct shape *shape) {
    (void)r;
    shape->unsized = true;
    return true;
}

HOT static int run(const struct request *r, struct team *team, struct plan **plan, const struct shape *shape) {
    (void)r;
    (*plan)->algorithm->code->run(team, &(struct call){.shape = *shape}, &(*plan)->arguments);
    return MPI_SUCCESS;
}

const struct family family_barrier = {.look = look, .run = run};
