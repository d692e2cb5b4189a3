/* SPDX-License-Identifier: BSD-3-Clause */
/* The neighbourhood collectives and their large-count forms. */
#include "mpi/calls.h"

static int native_neighbor_alltoall(const struct request *r) {
    if (r->large)
        return host.neighbor_alltoall_c(r->send.buffer, r->send.count, r->send.type, (void *)(uintptr_t)r->recv.buffer,
                                        r->recv.count, r->recv.type, r->comm);
    return host.neighbor_alltoall(r->send.buffer, (int)r->send.count, r->send.type, (void *)(uintptr_t)r->recv.buffer,
                                  (int)r->recv.count, r->recv.type, r->comm);
}

int MPI_Neighbor_alltoall(const void *send, int send_count, MPI_Datatype send_type, void *recv, int recv_count,
                          MPI_Datatype recv_type, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_neighbor_alltoall,
                                  .native = native_neighbor_alltoall,
                                  .comm = comm,
                                  .send = {send, send_count, send_type},
                                  .recv = {recv, recv_count, recv_type}});
}

int MPI_Neighbor_alltoall_c(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *recv, MPI_Count recv_count,
                            MPI_Datatype recv_type, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_neighbor_alltoall,
                                  .large = true,
                                  .native = native_neighbor_alltoall,
                                  .comm = comm,
                                  .send = {send, send_count, send_type},
                                  .recv = {recv, recv_count, recv_type}});
}

static int native_neighbor_alltoallv(const struct request *r) {
    if (r->large)
        return host.neighbor_alltoallv_c(r->send.buffer, r->send.counts, r->send.displs, r->send.type,
                                         (void *)(uintptr_t)r->recv.buffer, r->recv.counts, r->recv.displs, r->recv.type, r->comm);
    return host.neighbor_alltoallv(r->send.buffer, r->send.counts, r->send.displs, r->send.type, (void *)(uintptr_t)r->recv.buffer,
                                   r->recv.counts, r->recv.displs, r->recv.type, r->comm);
}

int MPI_Neighbor_alltoallv(const void *send, const int *send_counts, const int *send_displs, MPI_Datatype send_type, void *recv,
                           const int *recv_counts, const int *recv_displs, MPI_Datatype recv_type, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_neighbor_alltoallv,
                                  .native = native_neighbor_alltoallv,
                                  .comm = comm,
                                  .send = {send, 0, send_type, send_counts, send_displs, NULL},
                                  .recv = {recv, 0, recv_type, recv_counts, recv_displs, NULL}});
}

int MPI_Neighbor_alltoallv_c(const void *send, const MPI_Count *send_counts, const MPI_Aint *send_displs, MPI_Datatype send_type,
                             void *recv, const MPI_Count *recv_counts, const MPI_Aint *recv_displs, MPI_Datatype recv_type,
                             MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_neighbor_alltoallv,
                                  .large = true,
                                  .native = native_neighbor_alltoallv,
                                  .comm = comm,
                                  .send = {send, 0, send_type, send_counts, send_displs, NULL},
                                  .recv = {recv, 0, recv_type, recv_counts, recv_displs, NULL}});
}

static int native_neighbor_alltoallw(const struct request *r) {
    if (r->large)
        return host.neighbor_alltoallw_c(r->send.buffer, r->send.counts, r->send.displs, r->send.types,
                                         (void *)(uintptr_t)r->recv.buffer, r->recv.counts, r->recv.displs, r->recv.types, r->comm);
    return host.neighbor_alltoallw(r->send.buffer, r->send.counts, r->send.displs, r->send.types, (void *)(uintptr_t)r->recv.buffer,
                                   r->recv.counts, r->recv.displs, r->recv.types, r->comm);
}

int MPI_Neighbor_alltoallw(const void *send, const int *send_counts, const MPI_Aint *send_displs, const MPI_Datatype *send_types,
                           void *recv, const int *recv_counts, const MPI_Aint *recv_displs, const MPI_Datatype *recv_types,
                           MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_neighbor_alltoallw,
                                  .native = native_neighbor_alltoallw,
                                  .comm = comm,
                                  .send = {send, 0, MPI_DATATYPE_NULL, send_counts, send_displs, send_types},
                                  .recv = {recv, 0, MPI_DATATYPE_NULL, recv_counts, recv_displs, recv_types}});
}

int MPI_Neighbor_alltoallw_c(const void *send, const MPI_Count *send_counts, const MPI_Aint *send_displs,
                             const MPI_Datatype *send_types, void *recv, const MPI_Count *recv_counts, const MPI_Aint *recv_displs,
                             const MPI_Datatype *recv_types, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_neighbor_alltoallw,
                                  .large = true,
                                  .native = native_neighbor_alltoallw,
                                  .comm = comm,
                                  .send = {send, 0, MPI_DATATYPE_NULL, send_counts, send_displs, send_types},
                                  .recv = {recv, 0, MPI_DATATYPE_NULL, recv_counts, recv_displs, recv_types}});
}

static int native_neighbor_allgather(const struct request *r) {
    if (r->large)
        return host.neighbor_allgather_c(r->send.buffer, r->send.count, r->send.type, (void *)(uintptr_t)r->recv.buffer,
                                         r->recv.count, r->recv.type, r->comm);
    return host.neighbor_allgather(r->send.buffer, (int)r->send.count, r->send.type, (void *)(uintptr_t)r->recv.buffer,
                                   (int)r->recv.count, r->recv.type, r->comm);
}

int MPI_Neighbor_allgather(const void *send, int send_count, MPI_Datatype send_type, void *recv, int recv_count,
                           MPI_Datatype recv_type, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_neighbor_allgather,
                                  .native = native_neighbor_allgather,
                                  .comm = comm,
                                  .send = {send, send_count, send_type},
                                  .recv = {recv, recv_count, recv_type}});
}

int MPI_Neighbor_allgather_c(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *recv, MPI_Count recv_count,
                             MPI_Datatype recv_type, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_neighbor_allgather,
                                  .large = true,
                                  .native = native_neighbor_allgather,
                                  .comm = comm,
                                  .send = {send, send_count, send_type},
                                  .recv = {recv, recv_count, recv_type}});
}

static int native_neighbor_allgatherv(const struct request *r) {
    if (r->large)
        return host.neighbor_allgatherv_c(r->send.buffer, r->send.count, r->send.type, (void *)(uintptr_t)r->recv.buffer,
                                          r->recv.counts, r->recv.displs, r->recv.type, r->comm);
    return host.neighbor_allgatherv(r->send.buffer, (int)r->send.count, r->send.type, (void *)(uintptr_t)r->recv.buffer,
                                    r->recv.counts, r->recv.displs, r->recv.type, r->comm);
}

int MPI_Neighbor_allgatherv(const void *send, int send_count, MPI_Datatype send_type, void *recv, const int *recv_counts,
                            const int *recv_displs, MPI_Datatype recv_type, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_neighbor_allgatherv,
                                  .native = native_neighbor_allgatherv,
                                  .comm = comm,
                                  .send = {send, send_count, send_type},
                                  .recv = {recv, 0, recv_type, recv_counts, recv_displs, NULL}});
}

int MPI_Neighbor_allgatherv_c(const void *send, MPI_Count send_count, MPI_Datatype send_type, void *recv,
                              const MPI_Count *recv_counts, const MPI_Aint *recv_displs, MPI_Datatype recv_type, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_neighbor_allgatherv,
                                  .large = true,
                                  .native = native_neighbor_allgatherv,
                                  .comm = comm,
                                  .send = {send, send_count, send_type},
                                  .recv = {recv, 0, recv_type, recv_counts, recv_displs, NULL}});
}
