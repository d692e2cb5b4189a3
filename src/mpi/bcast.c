/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Bcast and its large-count form: the root's buffer is `send`, the others' `recv`; both halves name the one buffer. */
#include "mpi/calls.h"

static int native_bcast(const struct request *r) {
    if (r->large) return host.bcast_c((void *)(uintptr_t)r->recv.buffer, r->recv.count, r->recv.type, r->root, r->comm);
    return host.bcast((void *)(uintptr_t)r->recv.buffer, (int)r->recv.count, r->recv.type, r->root, r->comm);
}

int MPI_Bcast(void *buffer, int count, MPI_Datatype type, int root, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_bcast,
                                  .native = native_bcast,
                                  .comm = comm,
                                  .root = root,
                                  .send = {buffer, count, type},
                                  .recv = {buffer, count, type}});
}

int MPI_Bcast_c(void *buffer, MPI_Count count, MPI_Datatype type, int root, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_bcast,
                                  .large = true,
                                  .native = native_bcast,
                                  .comm = comm,
                                  .root = root,
                                  .send = {buffer, count, type},
                                  .recv = {buffer, count, type}});
}
