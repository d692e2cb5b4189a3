/* SPDX-License-Identifier: BSD-3-Clause */
/* calls - the collectives that are simulated, with world as communicator and rank 0 as root; see
 * calls.h. What is combined are 32-bit integers, so that sums are exact in any order. */
#include "calls.h"

#include <mpi.h>

#include <stdint.h>
#include <string.h>

enum amount { NONE, ONE, ALL };
enum contents { NOTHING, MOVED, SUM, UP_TO, BELOW };

/* Where only the root has a buffer the other side says so. */
static const struct row {
    const char *name;
    enum amount send, recv;
    bool root_sends, root_receives;
    enum contents contents;
} rows[] = {
    {"barrier", NONE, NONE, false, false, NOTHING},
    {"bcast", NONE, ONE, true, false, MOVED},
    {"gather", ONE, ALL, false, true, MOVED},
    {"gatherv", ONE, ALL, false, true, MOVED},
    {"scatter", ALL, ONE, true, false, MOVED},
    {"scatterv", ALL, ONE, true, false, MOVED},
    {"allgather", ONE, ALL, false, false, MOVED},
    {"allgatherv", ONE, ALL, false, false, MOVED},
    {"alltoall", ALL, ALL, false, false, MOVED},
    {"alltoallv", ALL, ALL, false, false, MOVED},
    {"reduce", ONE, ONE, false, true, SUM},
    {"allreduce", ONE, ONE, false, false, SUM},
    {"reduce_scatter_block", ALL, ONE, false, false, SUM},
    {"scan", ONE, ONE, false, false, UP_TO},
    {"exscan", ONE, ONE, false, false, BELOW},
};
enum {
    BARRIER,
    BCAST,
    GATHER,
    GATHERV,
    SCATTER,
    SCATTERV,
    ALLGATHER,
    ALLGATHERV,
    ALLTOALL,
    ALLTOALLV,
    REDUCE,
    ALLREDUCE,
    REDUCE_SCATTER_BLOCK,
    SCAN,
    EXSCAN,
    CALLS
};
_Static_assert(sizeof rows / sizeof *rows == CALLS, "a row for each collective, in the same order");

int call_find(const char *name) {
    for (int c = 0; c < CALLS; c++)
        if (strcmp(rows[c].name, name) == 0) return c;
    return -1;
}

const char *call_names(void) {
    static char names[512];
    size_t length = 0;
    for (int c = 0; c < CALLS && length == 0; c++) names[0] = 0;
    for (int c = 0; c < CALLS; c++) {
        strncat(names, c ? " " : "", sizeof names - strlen(names) - 1);
        strncat(names, rows[c].name, sizeof names - strlen(names) - 1);
    }
    return names;
}

static size_t bytes_of(enum amount amount, size_t block, int ranks) {
    return amount == ALL ? block * (size_t)ranks : amount == ONE ? block : 0;
}
size_t call_send_bytes(int c, size_t block, int ranks, int me) {
    return rows[c].root_sends && me != 0 ? 0 : bytes_of(rows[c].send, block, ranks);
}
size_t call_recv_bytes(int c, size_t block, int ranks, int me) {
    return rows[c].root_receives && me != 0 ? 0 : bytes_of(rows[c].recv, block, ranks);
}

/* Byte k of what rank i sends to rank j; where all get the same, j is 0. */
static char byte_of(int i, int j, size_t k) {
    return (char)(i * 31 + j * 7 + (int)(k % 251) * 13 + (i >> 8) + (j >> 8) * 3);
}
static bool is_personal(int c) {
    return c == SCATTER || c == SCATTERV || c == ALLTOALL || c == ALLTOALLV;
}
/* Number k of the vector that rank i contributes. */
static int32_t number_of(int i, size_t k) { return i * 3 + (int32_t)(k % 1009); }

void call_fill(int c, const struct buffers *buffers, size_t block, int ranks, int me) {
    size_t sent = call_send_bytes(c, block, ranks, me);
    memset(buffers->recv, 0x55, call_recv_bytes(c, block, ranks, me));
    for (int r = 0; r < ranks; r++)
        buffers->counts[r] = (int)block, buffers->displs[r] = (int)(block * (size_t)r);
    if (rows[c].contents != MOVED) {
        int32_t *numbers = (int32_t *)(void *)buffers->send;
        for (size_t k = 0; k < sent / sizeof *numbers; k++) numbers[k] = number_of(me, k);
        return;
    }
    if (c == BCAST && me == 0)
        for (size_t k = 0; k < block; k++) buffers->recv[k] = byte_of(0, 0, k);
    for (size_t k = 0; k < sent; k++)
        buffers->send[k] = byte_of(me, is_personal(c) ? (int)(k / block) : 0, k % block);
}

static bool sums_right(int c, const struct buffers *buffers, size_t received, size_t first,
                       int ranks, int me) {
    const int32_t *numbers = (const int32_t *)(const void *)buffers->recv;
    int64_t end = rows[c].contents == UP_TO ? me + 1 : rows[c].contents == BELOW ? me : ranks;
    for (size_t k = 0; k < received / sizeof *numbers && end > 0; k++)
        if (numbers[k] != (int32_t)(3 * end * (end - 1) / 2 + end * (int64_t)((first + k) % 1009)))
            return false;
    return true;
}

bool call_check(int c, const struct buffers *buffers, size_t block, int ranks, int me) {
    size_t received = call_recv_bytes(c, block, ranks, me);
    if (rows[c].contents != MOVED) {
        size_t first = c == REDUCE_SCATTER_BLOCK ? (size_t)me * (block / sizeof(int32_t)) : 0;
        return sums_right(c, buffers, received, first, ranks, me);
    }
    bool from_root = c == BCAST || c == SCATTER || c == SCATTERV;
    for (size_t k = 0; k < received; k++)
        if (buffers->recv[k] !=
            byte_of(from_root ? 0 : (int)(k / block), is_personal(c) ? me : 0, k % block))
            return false;
    return true;
}

int call_make(int c, const struct buffers *b, size_t block, int ranks) {
    (void)ranks;
    const MPI_Comm world = MPI_COMM_WORLD;
    const MPI_Datatype byte = MPI_BYTE, number = MPI_INT32_T;
    int n = (int)block, numbers = (int)(block / sizeof(int32_t));
    switch (c) {
    case BARRIER: return MPI_Barrier(world);
    case BCAST: return MPI_Bcast(b->recv, n, byte, 0, world);
    case GATHER: return MPI_Gather(b->send, n, byte, b->recv, n, byte, 0, world);
    case GATHERV:
        return MPI_Gatherv(b->send, n, byte, b->recv, b->counts, b->displs, byte, 0, world);
    case SCATTER: return MPI_Scatter(b->send, n, byte, b->recv, n, byte, 0, world);
    case SCATTERV:
        return MPI_Scatterv(b->send, b->counts, b->displs, byte, b->recv, n, byte, 0, world);
    case ALLGATHER: return MPI_Allgather(b->send, n, byte, b->recv, n, byte, world);
    case ALLGATHERV:
        return MPI_Allgatherv(b->send, n, byte, b->recv, b->counts, b->displs, byte, world);
    case ALLTOALL: return MPI_Alltoall(b->send, n, byte, b->recv, n, byte, world);
    case ALLTOALLV:
        return MPI_Alltoallv(b->send, b->counts, b->displs, byte, b->recv, b->counts, b->displs,
                             byte, world);
    case REDUCE: return MPI_Reduce(b->send, b->recv, numbers, number, MPI_SUM, 0, world);
    case ALLREDUCE: return MPI_Allreduce(b->send, b->recv, numbers, number, MPI_SUM, world);
    case REDUCE_SCATTER_BLOCK:
        return MPI_Reduce_scatter_block(b->send, b->recv, numbers, number, MPI_SUM, world);
    case SCAN: return MPI_Scan(b->send, b->recv, numbers, number, MPI_SUM, world);
    case EXSCAN: return MPI_Exscan(b->send, b->recv, numbers, number, MPI_SUM, world);
    default: return MPI_ERR_ARG;
    }
}
