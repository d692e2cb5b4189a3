/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Allgatherv and its large-count form. */
#include "mpi/calls.h"

static int native_allgatherv(const struct request *r) {
    if (r->large)
        return host.allgatherv_c(r->send.buffer, r->send.count, r->send.type, (void *)(uintptr_t)r->recv.buffer, r->recv.counts,
                                 r->recv.displs, r->recv.type, r->comm);
    return host.allgatherv(r->send.buffer, (int)r->send.count, r->send.type, (void *)(uintptr_t)r->recv.buffer, r->recv.counts,
                           r->recv.displs, r->recv.type, r->comm);
}

int MPI_Allgatherv(const void *send, int send_count, MPI_Datatype send_type, void *recv, const int *recv_counts,
                   const int *recv_displs, MPI_Datatype recv_type, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_allgatherv,
                                  .native = native_allgatherv,
                                  .comm = comm,
                                  .send = {send, send_count, send_type},
                                  .recv = {recv, 0, recv_type, recv_counts, recv_displs, NULL}});
}

int MPI_Allgatherv_c(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *recv, const MPI_Count *recv_counts,
                     const MPI_Aint *recv_displs, MPI_Datatype recv_type, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_allgatherv,
                                  .large = true,
                                  .native = native_allgatherv,
                                  .comm = comm,
                                  .send = {send, send_count, send_type},
                                  .recv = {recv, 0, recv_type, recv_counts, recv_displs, NULL}});
}
