/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Allgather and its large-count form. Fortran arrives here too. */
#include "mpi/calls.h"

static int native_allgather(const struct request *r) {
    if (r->large)
        return host.allgather_c(r->send.buffer, r->send.count, r->send.type, (void *)(uintptr_t)r->recv.buffer, r->recv.count,
                                r->recv.type, r->comm);
    return host.allgather(r->send.buffer, (int)r->send.count, r->send.type, (void *)(uintptr_t)r->recv.buffer, (int)r->recv.count,
                          r->recv.type, r->comm);
}

int MPI_Allgather(const void *send, int send_count, MPI_Datatype send_type, void *recv, int recv_count, MPI_Datatype recv_type,
                  MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_allgather,
                                  .native = native_allgather,
                                  .comm = comm,
                                  .send = {send, send_count, send_type},
                                  .recv = {recv, recv_count, recv_type}});
}

int MPI_Allgather_c(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *recv, MPI_Count recv_count,
                    MPI_Datatype recv_type, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_allgather,
                                  .large = true,
                                  .native = native_allgather,
                                  .comm = comm,
                                  .send = {send, send_count, send_type},
                                  .recv = {recv, recv_count, recv_type}});
}
