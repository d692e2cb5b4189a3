/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Scan, MPI_Exscan and their large-count forms. */
#include "mpi/calls.h"

static int native_scan(const struct request *r) {
    if (r->large)
        return host.scan_c(r->send.buffer, (void *)(uintptr_t)r->recv.buffer, r->recv.count, r->recv.type, r->op, r->comm);
    return host.scan(r->send.buffer, (void *)(uintptr_t)r->recv.buffer, (int)r->recv.count, r->recv.type, r->op, r->comm);
}

int MPI_Scan(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_scan,
                                  .native = native_scan,
                                  .comm = comm,
                                  .op = op,
                                  .send = {send, count, type},
                                  .recv = {recv, count, type}});
}

int MPI_Scan_c(const void *send, void *recv, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_scan,
                                  .large = true,
                                  .native = native_scan,
                                  .comm = comm,
                                  .op = op,
                                  .send = {send, count, type},
                                  .recv = {recv, count, type}});
}

static int native_exscan(const struct request *r) {
    if (r->large)
        return host.exscan_c(r->send.buffer, (void *)(uintptr_t)r->recv.buffer, r->recv.count, r->recv.type, r->op, r->comm);
    return host.exscan(r->send.buffer, (void *)(uintptr_t)r->recv.buffer, (int)r->recv.count, r->recv.type, r->op, r->comm);
}

int MPI_Exscan(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_exscan,
                                  .native = native_exscan,
                                  .comm = comm,
                                  .op = op,
                                  .send = {send, count, type},
                                  .recv = {recv, count, type}});
}

int MPI_Exscan_c(const void *send, void *recv, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_exscan,
                                  .large = true,
                                  .native = native_exscan,
                                  .comm = comm,
                                  .op = op,
                                  .send = {send, count, type},
                                  .recv = {recv, count, type}});
}
