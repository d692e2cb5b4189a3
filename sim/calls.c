/* SPDX-License-Identifier: BSD-3-Clause */
/* calls - the collectives that are simulated, with world as communicator and rank 0 as root; see
 * calls.h. What is combined are 32-bit integers, so that sums are exact in any order. */
#include "calls.h"

#include "bench/common/columns.h"

#include <mpi.h>

#include <stdint.h>
#include <string.h>

/* The rows of `mortar bench` say what is sent and received; not all of them are simulated. */
static const struct row {
    const char *name;
    enum blocks_of sends, receives;
    enum contents contents;
} rows[] = {
#define KIND(name, Name, sends, receives, contents, vector) {#name, sends, receives, contents},
#include "bench/common/list.h"
#undef KIND
};
enum {
#define KIND(name, ...) CALL_##name,
#include "bench/common/list.h"
#undef KIND
    CALLS
};

static bool is_simulated(int c) {
    bool near = rows[c].sends == NEIGHBOURS || rows[c].receives == NEIGHBOURS;
    return !near && c != CALL_reduce_scatter && c != CALL_redistribution;
}

int call_find(const char *name) {
    for (int c = 0; c < CALLS; c++)
        if (is_simulated(c) && strcmp(rows[c].name, name) == 0) return c;
    return -1;
}

const char *call_names(void) {
    static char names[512];
    for (int c = 0; c < CALLS && strlen(names) + 32 < sizeof names; c++) {
        if (!is_simulated(c) || strstr(names, rows[c].name)) continue;
        if (*names) strcat(names, " ");
        strcat(names, rows[c].name);
    }
    return names;
}

const char *call_wants(int c, size_t block) {
    if (c == CALL_barrier) return NULL; /* it has none */
    if (block == 0) return "expected bytes of a block, from 1 on";
    bool sums = rows[c].contents != BYTES;
    return sums && block % sizeof(int32_t) ? "sums are of 4-byte integers: expected multiples of 4"
                                           : NULL;
}

static size_t bytes_of(enum blocks_of amount, size_t block, int ranks, int me) {
    switch (amount) {
    case ONE_ROOT: return me == 0 ? block : 0;
    case ALL_ROOT: return me == 0 ? block * (size_t)ranks : 0;
    case ALL: return block * (size_t)ranks;
    case NOBODY: return 0;
    default: return block;
    }
}
size_t call_send_bytes(int c, size_t block, int ranks, int me) {
    if (c == CALL_bcast) return 0; /* the one buffer is that which receives */
    return bytes_of(rows[c].sends, block, ranks, me);
}
size_t call_recv_bytes(int c, size_t block, int ranks, int me) {
    return bytes_of(rows[c].receives, block, ranks, me);
}

/* Byte k of what rank i sends to rank j; where all get the same, j is 0. */
static char byte_of(int i, int j, size_t k) {
    return (char)(i * 31 + j * 7 + (int)(k % 251) * 13 + (i >> 8) + (j >> 8) * 3);
}
static bool is_personal(int c) {
    return c == CALL_scatter || c == CALL_scatterv || c == CALL_alltoall || c == CALL_alltoallv ||
           c == CALL_alltoallw;
}
/* Number k of the vector that rank i contributes. */
static int32_t number_of(int i, size_t k) { return i * 3 + (int32_t)(k % 1009); }

void call_fill(int c, const struct buffers *buffers, size_t block, int ranks, int me) {
    size_t sent = call_send_bytes(c, block, ranks, me);
    memset(buffers->recv, 0x55, call_recv_bytes(c, block, ranks, me));
    for (int r = 0; r < ranks; r++)
        buffers->counts[r] = (int)block, buffers->displs[r] = (int)(block * (size_t)r),
        buffers->types[r] = MPI_BYTE;
    if (rows[c].contents != BYTES) {
        int32_t *numbers = (int32_t *)(void *)buffers->send;
        for (size_t k = 0; k < sent / sizeof *numbers; k++) numbers[k] = number_of(me, k);
        return;
    }
    if (c == CALL_bcast && me == 0)
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
    if (rows[c].contents != BYTES) {
        size_t first = c == CALL_reduce_scatter_block ? (size_t)me * (block / sizeof(int32_t)) : 0;
        return sums_right(c, buffers, received, first, ranks, me);
    }
    bool from_root = c == CALL_bcast || c == CALL_scatter || c == CALL_scatterv;
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
    case CALL_barrier: return MPI_Barrier(world);
    case CALL_bcast: return MPI_Bcast(b->recv, n, byte, 0, world);
    case CALL_gather: return MPI_Gather(b->send, n, byte, b->recv, n, byte, 0, world);
    case CALL_gatherv:
        return MPI_Gatherv(b->send, n, byte, b->recv, b->counts, b->displs, byte, 0, world);
    case CALL_scatter: return MPI_Scatter(b->send, n, byte, b->recv, n, byte, 0, world);
    case CALL_scatterv:
        return MPI_Scatterv(b->send, b->counts, b->displs, byte, b->recv, n, byte, 0, world);
    case CALL_allgather: return MPI_Allgather(b->send, n, byte, b->recv, n, byte, world);
    case CALL_allgatherv:
        return MPI_Allgatherv(b->send, n, byte, b->recv, b->counts, b->displs, byte, world);
    case CALL_alltoall: return MPI_Alltoall(b->send, n, byte, b->recv, n, byte, world);
    case CALL_alltoallv:
        return MPI_Alltoallv(b->send, b->counts, b->displs, byte, b->recv, b->counts, b->displs,
                             byte, world);
    case CALL_alltoallw:
        return MPI_Alltoallw(b->send, b->counts, b->displs, b->types, b->recv, b->counts, b->displs,
                             b->types, world);
    case CALL_reduce: return MPI_Reduce(b->send, b->recv, numbers, number, MPI_SUM, 0, world);
    case CALL_allreduce: return MPI_Allreduce(b->send, b->recv, numbers, number, MPI_SUM, world);
    case CALL_reduce_scatter_block:
        return MPI_Reduce_scatter_block(b->send, b->recv, numbers, number, MPI_SUM, world);
    case CALL_scan: return MPI_Scan(b->send, b->recv, numbers, number, MPI_SUM, world);
    case CALL_exscan: return MPI_Exscan(b->send, b->recv, numbers, number, MPI_SUM, world);
    default: return MPI_ERR_ARG;
    }
}
