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
    enum outcome outcome = (*plan)->algorithm->code->run(team, &(struct call){.shape = *shape}, &(*plan)->arguments);
    if (outcome != FAILED) return MPI_SUCCESS;
    PMPI_Comm_call_errhandler(r->comm, MPI_ERR_OTHER);
    return MPI_ERR_OTHER;
}

const struct family family_barrier = {.look = look, .run = run};
