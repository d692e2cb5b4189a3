/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Scatter, MPI_Scatterv and their large-count forms. */
#include "mpi/calls.h"

static int native_scatter(const struct request *r) {
    if (r->large)
        return host.scatter_c(r->send.buffer, r->send.count, r->send.type, (void *)(uintptr_t)r->recv.buffer, r->recv.count,
                              r->recv.type, r->root, r->comm);
    return host.scatter(r->send.buffer, (int)r->send.count, r->send.type, (void *)(uintptr_t)r->recv.buffer, (int)r->recv.count,
                        r->recv.type, r->root, r->comm);
}

int MPI_Scatter(const void *send, int send_count, MPI_Datatype send_type, void *recv, int recv_count, MPI_Datatype recv_type,
                int root, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_scatter,
                                  .native = native_scatter,
                                  .root = root,
                                  .comm = comm,
                                  .send = {send, send_count, send_type},
                                  .recv = {recv, recv_count, recv_type}});
}

int MPI_Scatter_c(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *recv, MPI_Count recv_count,
                  MPI_Datatype recv_type, int root, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_scatter,
                                  .large = true,
                                  .native = native_scatter,
                                  .root = root,
                                  .comm = comm,
                                  .send = {send, send_count, send_type},
                                  .recv = {recv, recv_count, recv_type}});
}

static int native_scatterv(const struct request *r) {
    if (r->large)
        return host.scatterv_c(r->send.buffer, r->send.counts, r->send.displs, r->send.type, (void *)(uintptr_t)r->recv.buffer,
                               r->recv.count, r->recv.type, r->root, r->comm);
    return host.scatterv(r->send.buffer, r->send.counts, r->send.displs, r->send.type, (void *)(uintptr_t)r->recv.buffer,
                         (int)r->recv.count, r->recv.type, r->root, r->comm);
}

int MPI_Scatterv(const void *send, const int *send_counts, const int *send_displs, MPI_Datatype send_type, void *recv,
                 int recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_scatterv,
                                  .native = native_scatterv,
                                  .root = root,
                                  .comm = comm,
                                  .send = {send, 0, send_type, send_counts, send_displs, NULL},
                                  .recv = {recv, recv_count, recv_type}});
}

int MPI_Scatterv_c(const void *send, const MPI_Count *send_counts, const MPI_Aint *send_displs, MPI_Datatype send_type, void *recv,
                   MPI_Count recv_count, MPI_Datatype recv_type, int root, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_scatterv,
                                  .large = true,
                                  .native = native_scatterv,
                                  .root = root,
                                  .comm = comm,
                                  .send = {send, 0, send_type, send_counts, send_displs, NULL},
                                  .recv = {recv, recv_count, recv_type}});
}
