/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Gather, MPI_Gatherv and their large-count forms. */
#include "mpi/calls.h"

static int native_gather(const struct request *r) {
    if (r->large)
        return host.gather_c(r->send.buffer, r->send.count, r->send.type, (void *)(uintptr_t)r->recv.buffer, r->recv.count,
                             r->recv.type, r->root, r->comm);
    return host.gather(r->send.buffer, (int)r->send.count, r->send.type, (void *)(uintptr_t)r->recv.buffer, (int)r->recv.count,
                       r->recv.type, r->root, r->comm);
}

int MPI_Gather(const void *send, int send_count, MPI_Datatype send_type, void *recv, int recv_count, MPI_Datatype recv_type,
               int root, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_gather,
                                  .native = native_gather,
                                  .root = root,
                                  .comm = comm,
                                  .send = {send, send_count, send_type},
                                  .recv = {recv, recv_count, recv_type}});
}

int MPI_Gather_c(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *recv, MPI_Count recv_count,
                 MPI_Datatype recv_type, int root, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_gather,
                                  .large = true,
                                  .native = native_gather,
                                  .root = root,
                                  .comm = comm,
                                  .send = {send, send_count, send_type},
                                  .recv = {recv, recv_count, recv_type}});
}

static int native_gatherv(const struct request *r) {
    if (r->large)
        return host.gatherv_c(r->send.buffer, r->send.count, r->send.type, (void *)(uintptr_t)r->recv.buffer, r->recv.counts,
                              r->recv.displs, r->recv.type, r->root, r->comm);
    return host.gatherv(r->send.buffer, (int)r->send.count, r->send.type, (void *)(uintptr_t)r->recv.buffer, r->recv.counts,
                        r->recv.displs, r->recv.type, r->root, r->comm);
}

int MPI_Gatherv(const void *send, int send_count, MPI_Datatype send_type, void *recv, const int *recv_counts,
                const int *recv_displs, MPI_Datatype recv_type, int root, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_gatherv,
                                  .native = native_gatherv,
                                  .root = root,
                                  .comm = comm,
                                  .send = {send, send_count, send_type},
                                  .recv = {recv, 0, recv_type, recv_counts, recv_displs, NULL}});
}

int MPI_Gatherv_c(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *recv, const MPI_Count *recv_counts,
                  const MPI_Aint *recv_displs, MPI_Datatype recv_type, int root, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_gatherv,
                                  .large = true,
                                  .native = native_gatherv,
                                  .root = root,
                                  .comm = comm,
                                  .send = {send, send_count, send_type},
                                  .recv = {recv, 0, recv_type, recv_counts, recv_displs, NULL}});
}
