/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.c - the MPI calls themselves, each in its blocking, nonblocking and persistent form.
 * Arguments that do not count on this rank are what users leave there: nothing, or nonsense. */
#include "field.h"

#if MPI_VERSION >= 4 || (defined OMPI_MAJOR_VERSION && OMPI_MAJOR_VERSION >= 5)
bool can_persist(void) { return true; }
#define INIT(name, ...) MPI_##name##_init(__VA_ARGS__, MPI_INFO_NULL, &op->request)
#else
bool can_persist(void) { return false; }
#define INIT(name, ...) failed("no persistent collectives here")
#endif

#define CALL(name, lower, ...)                                                                     \
    do {                                                                                           \
        if (op->how == BLOCKING) MPI_##name(__VA_ARGS__);                                          \
        else if (op->how == NONBLOCKING) MPI_I##lower(__VA_ARGS__, &op->request);                  \
        else INIT(name, __VA_ARGS__);                                                              \
    } while (0)

struct face { /* one side as arguments */
    void *buffer;
    int count;
    MPI_Datatype type;
    const int *counts, *displs;
    const MPI_Aint *places;
    const MPI_Datatype *types;
};

static struct face face_of(const struct op *op, const struct side *side, bool sends) {
    bool absolute = op->kind == Neighbor_alltoallw && op->bottom;
    if (side->memory) {
        if (side->bottom != MPI_DATATYPE_NULL)
            return (struct face){MPI_BOTTOM, 1, side->bottom, NULL, NULL, NULL, NULL};
        /* without neighbours a side has no type of its own; a count of 0 there would make Open MPI
         * leave out the other side */
        return (struct face){absolute ? MPI_BOTTOM : side->base,
                             side->blocks ? side->counts[0] : (int)op->units,
                             side->blocks ? side->types[0] : MPI_BYTE,
                             side->counts,
                             side->displs,
                             side->places,
                             side->types};
    }
    void *buffer = op->in_place && (sends || op->kind == Scatter || op->kind == Scatterv)
                       ? MPI_IN_PLACE
                       : NULL;
    if (op->junk) return (struct face){buffer, -7, MPI_DATATYPE_NULL, NULL, NULL, NULL, NULL};
    return (struct face){buffer, 0, MPI_BYTE, NULL, NULL, NULL, NULL};
}

static void call_move(struct op *op) {
    struct face s = face_of(op, &op->send, true), r = face_of(op, &op->recv, false),
                b = op->send.memory ? s : r;
    MPI_Comm comm = op->comm->handle;
    int root = op->root;
    switch (op->kind) {
    case Bcast: CALL(Bcast, bcast, b.buffer, b.count, b.type, root, comm); break;
    case Gather:
        CALL(Gather, gather, s.buffer, s.count, s.type, r.buffer, r.count, r.type, root, comm);
        break;
    case Gatherv:
        CALL(Gatherv, gatherv, s.buffer, s.count, s.type, r.buffer, r.counts, r.displs, r.type,
             root, comm);
        break;
    case Scatter:
        CALL(Scatter, scatter, s.buffer, s.count, s.type, r.buffer, r.count, r.type, root, comm);
        break;
    case Scatterv:
        CALL(Scatterv, scatterv, s.buffer, s.counts, s.displs, s.type, r.buffer, r.count, r.type,
             root, comm);
        break;
    case Allgather:
        CALL(Allgather, allgather, s.buffer, s.count, s.type, r.buffer, r.count, r.type, comm);
        break;
    case Allgatherv:
        CALL(Allgatherv, allgatherv, s.buffer, s.count, s.type, r.buffer, r.counts, r.displs,
             r.type, comm);
        break;
    case Alltoall:
        CALL(Alltoall, alltoall, s.buffer, s.count, s.type, r.buffer, r.count, r.type, comm);
        break;
    case Alltoallv:
        CALL(Alltoallv, alltoallv, s.buffer, s.counts, s.displs, s.type, r.buffer, r.counts,
             r.displs, r.type, comm);
        break;
    case Alltoallw:
        CALL(Alltoallw, alltoallw, s.buffer, s.counts, s.displs, s.types, r.buffer, r.counts,
             r.displs, r.types, comm);
        break;
    case Neighbor_allgather:
        CALL(Neighbor_allgather, neighbor_allgather, s.buffer, s.count, s.type, r.buffer, r.count,
             r.type, comm);
        break;
    case Neighbor_allgatherv:
        CALL(Neighbor_allgatherv, neighbor_allgatherv, s.buffer, s.count, s.type, r.buffer,
             r.counts, r.displs, r.type, comm);
        break;
    case Neighbor_alltoall:
        CALL(Neighbor_alltoall, neighbor_alltoall, s.buffer, s.count, s.type, r.buffer, r.count,
             r.type, comm);
        break;
    case Neighbor_alltoallv:
        CALL(Neighbor_alltoallv, neighbor_alltoallv, s.buffer, s.counts, s.displs, s.type, r.buffer,
             r.counts, r.displs, r.type, comm);
        break;
    default:
        CALL(Neighbor_alltoallw, neighbor_alltoallw, s.buffer, s.counts, s.places, s.types,
             r.buffer, r.counts, r.places, r.types, comm);
    }
}

static void call_reduction(struct op *op) {
    struct face s = face_of(op, &op->send, true), r = face_of(op, &op->recv, false);
    MPI_Comm comm = op->comm->handle;
    MPI_Datatype type = op->send.memory ? s.type : r.type;
    MPI_Op what = reduction_op(op);
    int n = op->elements;
    switch (op->kind) {
    case Reduce: CALL(Reduce, reduce, s.buffer, r.buffer, n, type, what, op->root, comm); break;
    case Allreduce: CALL(Allreduce, allreduce, s.buffer, r.buffer, n, type, what, comm); break;
    case Reduce_scatter:
        CALL(Reduce_scatter, reduce_scatter, s.buffer, r.buffer, op->shares, type, what, comm);
        break;
    case Reduce_scatter_block:
        CALL(Reduce_scatter_block, reduce_scatter_block, s.buffer, r.buffer, op->shares[0], type,
             what, comm);
        break;
    case Scan: CALL(Scan, scan, s.buffer, r.buffer, n, type, what, comm); break;
    default: CALL(Exscan, exscan, s.buffer, r.buffer, n, type, what, comm);
    }
}

void op_call(struct op *op) {
    if (op->kind == Barrier) CALL(Barrier, barrier, op->comm->handle);
    else if (op->kind < Reduce) call_move(op);
    else call_reduction(op);
}
