/* SPDX-License-Identifier: BSD-3-Clause */
/* narrow - calls with large counts if the MPI library is older than MPI 4. Such calls exist: a
 * program that looks for MPI_X_c by a weak reference, as mpi4py's wheels do, finds mortar's and
 * calls it. */
#include "mpi/calls.h"

#include <limits.h>
#include <stdlib.h>

static int refuses(MPI_Comm comm) {
    PMPI_Comm_call_errhandler(comm, MPI_ERR_COUNT);
    return MPI_ERR_COUNT;
}

static int narrow_refuse(const struct request *r) { return refuses(r->comm); }

/* How many entries the counts of each half have on this rank; 0: the half is not significant.
 * Returns what MPI returns. */
static int entries(const struct request *r, int *sends, int *recvs) {
    enum collective c = r->collective;
    bool neighbor = among(c, NEIGHBORS);
    int inter, p, me;
    int error = PMPI_Comm_test_inter(r->comm, &inter);
    if (error == MPI_SUCCESS) error = PMPI_Comm_rank(r->comm, &me);
    bool others = inter && c != COLL_reduce_scatter; /* one entry per rank of the other group */
    if (error == MPI_SUCCESS)
        error = others ? PMPI_Comm_remote_size(r->comm, &p) : PMPI_Comm_size(r->comm, &p);
    if (error != MPI_SUCCESS) return error;
    *sends = *recvs = p;
    bool root = inter ? r->root == MPI_ROOT : r->root == me, leaf = !inter || r->root >= 0;
    if (neighbor && !degrees(r->comm, recvs, sends)) *sends = *recvs = 0;
    if (among(c, GATHERS)) *sends = leaf, *recvs = root ? p : 0;
    if (among(c, SCATTERS)) *sends = root ? p : 0, *recvs = leaf;
    if (r->send.buffer == MPI_IN_PLACE && c != COLL_reduce_scatter) *sends = 0;
    if (r->recv.buffer == MPI_IN_PLACE) *recvs = 0;
    return MPI_SUCCESS;
}

static bool narrow_fits(MPI_Count count) { return count >= INT_MIN && count <= INT_MAX; }

/* Converts the counts and displacements of a half to ints in `to`, which has room for them. False:
 * one does not fit. */
static bool squeeze(struct half *half, int count, bool displs_stay, int *to) {
    if (count == 0) return true;
    const MPI_Count *counts = half->counts;
    const MPI_Aint *displs = displs_stay ? NULL : half->displs;
    for (int i = 0; counts && i < count; i++) {
        if (!narrow_fits(counts[i]) || (displs && !narrow_fits(displs[i]))) return false;
        to[i] = (int)counts[i];
        if (displs) to[count + i] = (int)displs[i];
    }
    if (counts) half->counts = to;
    if (displs) half->displs = to + count;
    return narrow_fits(half->count);
}

int narrowed(const struct request *r, int (*go)(const struct request *)) {
    struct request narrow = *r;
    bool in_place = r->send.buffer == MPI_IN_PLACE &&
                    among(r->collective, BIT(alltoall) | BIT(allgather));
    int sends = !in_place, recvs = 1, *room = NULL;
    if (r->send.counts || r->recv.counts || among(r->collective, GATHERS) ||
        among(r->collective, SCATTERS)) {
        int error = entries(r, &sends, &recvs);
        if (error != MPI_SUCCESS) return error; /* the library has called the error handler */
        room = malloc(2 * ((size_t)sends + (size_t)recvs + 1) * sizeof *room);
        if (!room) {
            PMPI_Comm_call_errhandler(r->comm, MPI_ERR_NO_MEM);
            return MPI_ERR_NO_MEM;
        }
    }
    int *recv_room = room ? room + 2 * sends : NULL;
    bool displs_stay = r->collective == COLL_neighbor_alltoallw; /* addresses in both forms */
    narrow.large = !squeeze(&narrow.send, sends, displs_stay, room) ||
                   !squeeze(&narrow.recv, recvs, displs_stay, recv_room);
    if (narrow.large) {
        narrow = *r;
        narrow.native = narrow_refuse;
    }
    int error = go(&narrow);
    free(room);
    return error;
}

/* ---- no collectives, but the door takes them (door/list.h) ---- */

int MPI_Bsend_c(const void *buffer, MPI_Count count, MPI_Datatype type, int dest, int tag,
                MPI_Comm comm);
int MPI_Ibsend_c(const void *buffer, MPI_Count count, MPI_Datatype type, int dest, int tag,
                 MPI_Comm comm, MPI_Request *request);

int MPI_Bsend_c(const void *buffer, MPI_Count count, MPI_Datatype type, int dest, int tag,
                MPI_Comm comm) {
    if (host.bsend_c) return host.bsend_c(buffer, count, type, dest, tag, comm);
    if (!narrow_fits(count)) return refuses(comm);
    return host.bsend(buffer, (int)count, type, dest, tag, comm);
}

int MPI_Ibsend_c(const void *buffer, MPI_Count count, MPI_Datatype type, int dest, int tag,
                 MPI_Comm comm, MPI_Request *request) {
    if (host.ibsend_c) return host.ibsend_c(buffer, count, type, dest, tag, comm, request);
    if (!narrow_fits(count)) return refuses(comm);
    return host.ibsend(buffer, (int)count, type, dest, tag, comm, request);
}
