/* SPDX-License-Identifier: BSD-3-Clause */
/* nested - runs the host MPI's own collectives inside mortar's plans, on the lanes of a team over
 * several nodes, as in universal(native). Blocks are passed as bytes; reductions use the program's
 * own type and operation. */
#include "mpi/calls.h"
#include "mpi/verify.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

enum { most_elements = 1 << 30 }; /* in one call with int counts */

static int errno_of(int error) {
    int class = MPI_SUCCESS;
    if (error == MPI_SUCCESS) return 0;
    PMPI_Error_class(error, &class);
    return class == MPI_ERR_TRUNCATE ? -EMSGSIZE : -EIO;
}

/* ---- blocks ---- */

/* Counts and displacements of one side, in bytes, as the v forms take them: for the _c forms and as
 * ints. */
struct count_table {
    MPI_Count *counts;
    MPI_Aint *displs;
    int *short_counts, *short_displs;
    char *base;
    bool fits; /* in ints */
};

/* memory: wire_tables / 2 bytes for each of the p ranks. */
static void table_make(struct count_table *table, const struct blocks *blocks, int p,
                       char *memory) {
    size_t count = (size_t)p;
    memset(memory, 0, count * wire_tables / 2);
    *table = (struct count_table){.counts = (void *)memory, .base = blocks->base, .fits = true};
    table->displs = (MPI_Aint *)(table->counts + count);
    table->short_counts = (int *)(table->displs + count);
    table->short_displs = table->short_counts + count;
    for (int b = 0; b < blocks->count; b++) {
        struct run run = run_of(blocks, b);
        ptrdiff_t at = run.bytes > 0 ? run.at - blocks->base : 0;
        table->counts[b] = (MPI_Count)run.bytes;
        table->displs[b] = at;
        table->short_counts[b] = (int)run.bytes;
        table->short_displs[b] = (int)at;
        table->fits = table->fits && run.bytes <= INT_MAX && at >= INT_MIN && at <= INT_MAX;
    }
}

/* Can the MPI library count all ranks' blocks? If all ranks know the sizes, the plan has asked
 * before (inside_counts). Else a rank may have counts that no int holds, and only it knows.
 * Collective. */
static bool counts_suffice(MPI_Comm comm, const struct call *call, bool mine) {
    return host.large || (call->shape.unsized ? library_agrees(comm, mine) : mine);
}

static int run_tables(MPI_Comm comm, const struct call *call, const struct count_table *s,
                      const struct count_table *r) {
    MPI_Datatype byte = MPI_BYTE;
    enum collective c = call->shape.collective;
    bool fits = s->fits && r->fits;
    int root = call->root;
    if (!counts_suffice(comm, call, fits)) return -EOVERFLOW;
    if (among(c, ALLTOALLS))
        return errno_of(fits ? host.alltoallv(s->base, s->short_counts, s->short_displs, byte,
                                              r->base, r->short_counts, r->short_displs, byte, comm)
                             : host.alltoallv_c(s->base, s->counts, s->displs, byte, r->base,
                                                r->counts, r->displs, byte, comm));
    if (among(c, ALLGATHERS)) {
        const void *own = call->in_place ? MPI_IN_PLACE : s->base + s->displs[0];
        MPI_Count mine = call->in_place ? 0 : s->counts[0];
        return errno_of(
            fits ? host.allgatherv(own, (int)mine, byte, r->base, r->short_counts, r->short_displs,
                                   byte, comm)
                 : host.allgatherv_c(own, mine, byte, r->base, r->counts, r->displs, byte, comm));
    }
    if (among(c, GATHERS)) {
        const void *own = s->base + s->displs[0];
        return errno_of(fits ? host.gatherv(own, s->short_counts[0], byte, r->base, r->short_counts,
                                            r->short_displs, byte, root, comm)
                             : host.gatherv_c(own, s->counts[0], byte, r->base, r->counts,
                                              r->displs, byte, root, comm));
    }
    void *own = r->base + r->displs[0];
    return errno_of(fits ? host.scatterv(s->base, s->short_counts, s->short_displs, byte, own,
                                         r->short_counts[0], byte, root, comm)
                         : host.scatterv_c(s->base, s->counts, s->displs, byte, own, r->counts[0],
                                           byte, root, comm));
}

/* Does this rank's block of an allgather lie in the receive buffer already? MPI requires
 * MPI_IN_PLACE then. */
static bool is_in_place(const struct team *team, const struct call *call,
                        const struct blocks *sends, const struct blocks *recvs) {
    if (!among(call->shape.collective, ALLGATHERS)) return false;
    return run_of(sends, 0).at == run_of(recvs, team->me).at;
}

static int nested_exchange(MPI_Comm comm, struct team *team, const struct call *call,
                           char *tables) {
    struct blocks sends, recvs;
    struct count_table send, recv;
    struct call nested = *call;
    sides_of(team, call, &sends, &recvs);
    nested.in_place = is_in_place(team, call, &sends, &recvs);
    table_make(&send, &sends, team->p, tables);
    table_make(&recv, &recvs, team->p, tables + (size_t)team->p * wire_tables / 2);
    return run_tables(comm, &nested, &send, &recv);
}

static int bcast(MPI_Comm comm, struct team *team, const struct call *call) {
    struct run run = run_of(team->me == call->root ? call->sends : call->recvs, 0);
    int error = MPI_SUCCESS;
    for (size_t done = 0, now; done < run.bytes && error == MPI_SUCCESS; done += now) {
        now = run.bytes - done < message_most ? run.bytes - done : message_most;
        error = host.bcast(run.at + done, (int)now, MPI_BYTE, call->root, comm);
    }
    return errno_of(error);
}

/* ---- reductions ---- */

/* Combines the elements of `part`: by MPI_Reduce to root, scan, exscan, or else allreduce. At most
 * most_elements at a time. */
static int combine_some(MPI_Comm comm, const struct call *call, enum collective collective,
                        int root, struct part part, char *recv) {
    const struct operation *operation = call->reduction->state;
    MPI_Datatype type = operation->type;
    MPI_Op op = operation->op;
    size_t bytes = call->reduction->bytes;
    bool in_place = call->send == call->recv && collective != COLL_reduce;
    int error = MPI_SUCCESS;
    for (size_t done = 0, now; done < part.count && error == MPI_SUCCESS; done += now) {
        now = part.count - done < most_elements ? part.count - done : most_elements;
        const void *from = in_place ? MPI_IN_PLACE : call->send + (part.first + done) * bytes;
        char *to = recv + done * bytes;
        int count = (int)now;
        if (collective == COLL_reduce) error = host.reduce(from, to, count, type, op, root, comm);
        else if (collective == COLL_scan) error = host.scan(from, to, count, type, op, comm);
        else if (collective == COLL_exscan) error = host.exscan(from, to, count, type, op, comm);
        else error = host.allreduce(from, to, count, type, op, comm);
    }
    return errno_of(error);
}

static int reduce_scatter(MPI_Comm comm, struct team *team, const struct call *call, int *counts) {
    const struct operation *operation = call->reduction->state;
    int error = 0;
    bool fits = call->reduction->count <= INT_MAX;
    for (int r = 0; r < team->p && fits; r++) counts[r] = (int)part_received(team, call, r).count;
    if (fits)
        error = errno_of(host.reduce_scatter(call->send, call->recv, counts, operation->type,
                                             operation->op, comm));
    for (int r = 0; r < team->p && !fits && !error; r++)
        error = combine_some(comm, call, COLL_reduce, r, part_received(team, call, r), call->recv);
    return error;
}

static int nested_run(MPI_Comm comm, struct team *team, const struct call *call, void *tables) {
    enum collective c = call->shape.collective;
    if (c == COLL_barrier) return errno_of(host.barrier(comm));
    if (c == COLL_bcast) return bcast(comm, team, call);
    if (!among(c, REDUCTIONS))
        return among(c, EXCHANGES | GATHERS | SCATTERS) ? nested_exchange(comm, team, call, tables)
                                                        : -ENOSYS;
    if (among(c, SCATTERED)) return reduce_scatter(comm, team, call, tables);
    return combine_some(comm, call, c, call->root, (struct part){0, call->reduction->count},
                        call->recv);
}

void nested_start(void) { wire_collective = nested_run; }
