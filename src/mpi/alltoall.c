/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Alltoall and its large-count form. Fortran arrives here too. */
#include "mpi/calls.h"

static int native_alltoall(const struct request *r) {
    if (r->large)
        return host.alltoall_c(r->send.buffer, r->send.count, r->send.type, (void *)(uintptr_t)r->recv.buffer, r->recv.count,
                               r->recv.type, r->comm);
    return host.alltoall(r->send.buffer, (int)r->send.count, r->send.type, (void *)(uintptr_t)r->recv.buffer, (int)r->recv.count,
                         r->recv.type, r->comm);
}

int MPI_Alltoall(const void *send, int send_count, MPI_Datatype send_type, void *recv, int recv_count, MPI_Datatype recv_type,
                 MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_alltoall,
                                  .native = native_alltoall,
                                  .comm = comm,
                                  .send = {send, send_count, send_type},
                                  .recv = {recv, recv_count, recv_type}});
}

int MPI_Alltoall_c(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *recv, MPI_Count recv_count,
                   MPI_Datatype recv_type, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_alltoall,
                                  .large = true,
                                  .native = native_alltoall,
                                  .comm = comm,
                                  .send = {send, send_count, send_type},
                                  .recv = {recv, recv_count, recv_type}});
}
