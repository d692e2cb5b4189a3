/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Reduce, MPI_Allreduce, MPI_Reduce_scatter, MPI_Reduce_scatter_block and their large-count forms. */
#include "mpi/calls.h"

static int native_reduce(const struct request *r) {
    if (r->large)
        return host.reduce_c(r->send.buffer, (void *)(uintptr_t)r->recv.buffer, r->recv.count, r->recv.type, r->op, r->root,
                             r->comm);
    return host.reduce(r->send.buffer, (void *)(uintptr_t)r->recv.buffer, (int)r->recv.count, r->recv.type, r->op, r->root,
                       r->comm);
}

int MPI_Reduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_reduce,
                                  .native = native_reduce,
                                  .root = root,
                                  .comm = comm,
                                  .op = op,
                                  .send = {send, count, type},
                                  .recv = {recv, count, type}});
}

int MPI_Reduce_c(const void *send, void *recv, MPI_Count count, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_reduce,
                                  .large = true,
                                  .native = native_reduce,
                                  .root = root,
                                  .comm = comm,
                                  .op = op,
                                  .send = {send, count, type},
                                  .recv = {recv, count, type}});
}

static int native_allreduce(const struct request *r) {
    if (r->large)
        return host.allreduce_c(r->send.buffer, (void *)(uintptr_t)r->recv.buffer, r->recv.count, r->recv.type, r->op, r->comm);
    return host.allreduce(r->send.buffer, (void *)(uintptr_t)r->recv.buffer, (int)r->recv.count, r->recv.type, r->op, r->comm);
}

int MPI_Allreduce(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_allreduce,
                                  .native = native_allreduce,
                                  .comm = comm,
                                  .op = op,
                                  .send = {send, count, type},
                                  .recv = {recv, count, type}});
}

int MPI_Allreduce_c(const void *send, void *recv, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_allreduce,
                                  .large = true,
                                  .native = native_allreduce,
                                  .comm = comm,
                                  .op = op,
                                  .send = {send, count, type},
                                  .recv = {recv, count, type}});
}

static int native_reduce_scatter(const struct request *r) {
    if (r->large)
        return host.reduce_scatter_c(r->send.buffer, (void *)(uintptr_t)r->recv.buffer, r->recv.counts, r->recv.type, r->op,
                                     r->comm);
    return host.reduce_scatter(r->send.buffer, (void *)(uintptr_t)r->recv.buffer, r->recv.counts, r->recv.type, r->op, r->comm);
}

int MPI_Reduce_scatter(const void *send, void *recv, const int *counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_reduce_scatter,
                                  .native = native_reduce_scatter,
                                  .comm = comm,
                                  .op = op,
                                  .send = {send, 0, type, counts, NULL, NULL},
                                  .recv = {recv, 0, type, counts, NULL, NULL}});
}

int MPI_Reduce_scatter_c(const void *send, void *recv, const MPI_Count *counts, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_reduce_scatter,
                                  .large = true,
                                  .native = native_reduce_scatter,
                                  .comm = comm,
                                  .op = op,
                                  .send = {send, 0, type, counts, NULL, NULL},
                                  .recv = {recv, 0, type, counts, NULL, NULL}});
}

static int native_reduce_scatter_block(const struct request *r) {
    if (r->large)
        return host.reduce_scatter_block_c(r->send.buffer, (void *)(uintptr_t)r->recv.buffer, r->recv.count, r->recv.type, r->op,
                                           r->comm);
    return host.reduce_scatter_block(r->send.buffer, (void *)(uintptr_t)r->recv.buffer, (int)r->recv.count, r->recv.type, r->op,
                                     r->comm);
}

int MPI_Reduce_scatter_block(const void *send, void *recv, int count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_reduce_scatter_block,
                                  .native = native_reduce_scatter_block,
                                  .comm = comm,
                                  .op = op,
                                  .send = {send, count, type},
                                  .recv = {recv, count, type}});
}

int MPI_Reduce_scatter_block_c(const void *send, void *recv, MPI_Count count, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
    return take(&(struct request){.collective = COLL_reduce_scatter_block,
                                  .large = true,
                                  .native = native_reduce_scatter_block,
                                  .comm = comm,
                                  .op = op,
                                  .send = {send, count, type},
                                  .recv = {recv, count, type}});
}
