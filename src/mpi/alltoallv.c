/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Alltoallv, MPI_Alltoallw and their large-count forms. */
#include "mpi/calls.h"

static int native_alltoallv(const struct request *r) {
    if (r->large)
        return host.alltoallv_c(r->send.buffer, r->send.counts, r->send.displs, r->send.type, (void *)(uintptr_t)r->recv.buffer,
                                r->recv.counts, r->recv.displs, r->recv.type, r->comm);
    return host.alltoallv(r->send.buffer, r->send.counts, r->send.displs, r->send.type, (void *)(uintptr_t)r->recv.buffer,
                          r->recv.counts, r->recv.displs, r->recv.type, r->comm);
}

int MPI_Alltoallv(const void *send, const int *send_counts, const int *send_displs, MPI_Datatype send_type, void *recv,
                  const int *recv_counts, const int *recv_displs, MPI_Datatype recv_type, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_alltoallv,
                                  .native = native_alltoallv,
                                  .comm = comm,
                                  .send = {send, 0, send_type, send_counts, send_displs, NULL},
                                  .recv = {recv, 0, recv_type, recv_counts, recv_displs, NULL}});
}

int MPI_Alltoallv_c(const void *send, const MPI_Count *send_counts, const MPI_Aint *send_displs, MPI_Datatype send_type, void *recv,
                    const MPI_Count *recv_counts, const MPI_Aint *recv_displs, MPI_Datatype recv_type, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_alltoallv,
                                  .large = true,
                                  .native = native_alltoallv,
                                  .comm = comm,
                                  .send = {send, 0, send_type, send_counts, send_displs, NULL},
                                  .recv = {recv, 0, recv_type, recv_counts, recv_displs, NULL}});
}

static int native_alltoallw(const struct request *r) {
    if (r->large)
        return host.alltoallw_c(r->send.buffer, r->send.counts, r->send.displs, r->send.types, (void *)(uintptr_t)r->recv.buffer,
                                r->recv.counts, r->recv.displs, r->recv.types, r->comm);
    return host.alltoallw(r->send.buffer, r->send.counts, r->send.displs, r->send.types, (void *)(uintptr_t)r->recv.buffer,
                          r->recv.counts, r->recv.displs, r->recv.types, r->comm);
}

int MPI_Alltoallw(const void *send, const int *send_counts, const int *send_displs, const MPI_Datatype *send_types, void *recv,
                  const int *recv_counts, const int *recv_displs, const MPI_Datatype *recv_types, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_alltoallw,
                                  .native = native_alltoallw,
                                  .comm = comm,
                                  .send = {send, 0, MPI_DATATYPE_NULL, send_counts, send_displs, send_types},
                                  .recv = {recv, 0, MPI_DATATYPE_NULL, recv_counts, recv_displs, recv_types}});
}

int MPI_Alltoallw_c(const void *send, const MPI_Count *send_counts, const MPI_Aint *send_displs, const MPI_Datatype *send_types,
                    void *recv, const MPI_Count *recv_counts, const MPI_Aint *recv_displs, const MPI_Datatype *recv_types,
                    MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_alltoallw,
                                  .large = true,
                                  .native = native_alltoallw,
                                  .comm = comm,
                                  .send = {send, 0, MPI_DATATYPE_NULL, send_counts, send_displs, send_types},
                                  .recv = {recv, 0, MPI_DATATYPE_NULL, recv_counts, recv_displs, recv_types}});
}
