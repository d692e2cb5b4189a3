/* SPDX-License-Identifier: BSD-3-Clause */
/* big - more than 2^31 bytes. usage: big total | block
 * total: an alltoall of blocks of 1.2 GiB; block: an allgather of one block of 2 GiB and a bit, as
 * elements of a long type. */
#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Cheap to check anywhere: each 8 bytes are a function of the sender, the block and the place. */
static uint64_t word(int from, int block, size_t at) {
    return at * 0x9e3779b97f4a7c15u + (uint64_t)(from * 1000 + block);
}

static void put(char *memory, size_t bytes, int from, int block) {
    for (size_t at = 0; at < bytes; at += 8) {
        uint64_t value = word(from, block, at);
        memcpy(memory + at, &value, 8);
    }
}

static long wrong(const char *memory, size_t bytes, int from, int block) {
    long count = 0;
    for (size_t at = 0; at < bytes; at += 8) {
        uint64_t value = word(from, block, at);
        count += memcmp(memory + at, &value, 8) != 0;
    }
    return count;
}

int main(int argc, char **argv) {
    MPI_Init(&argc, &argv);
    int p, me, total = argc > 1 && strcmp(argv[1], "total") == 0;
    long errors = 0;
    MPI_Comm_size(MPI_COMM_WORLD, &p);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    size_t n = total ? (size_t)1200 << 20 : ((size_t)2 << 30) + ((size_t)3 << 20);
    size_t sent = total ? n * (size_t)p : n;
    char *send = malloc(sent), *recv = malloc(n * (size_t)p);
    if (!send || !recv) MPI_Abort(MPI_COMM_WORLD, 1);
    memset(recv, 0xee, n * (size_t)p);
    for (int j = 0; j < (total ? p : 1); j++) put(send + (size_t)j * n, n, me, j);
    if (total) {
        MPI_Alltoall(send, (int)n, MPI_BYTE, recv, (int)n, MPI_BYTE, MPI_COMM_WORLD);
    } else {
        MPI_Datatype mebi;
        MPI_Type_contiguous(1 << 17, MPI_DOUBLE, &mebi);
        MPI_Type_commit(&mebi);
        MPI_Allgather(send, (int)(n >> 20), mebi, recv, (int)(n >> 20), mebi, MPI_COMM_WORLD);
        MPI_Type_free(&mebi);
    }
    for (int i = 0; i < p; i++) errors += wrong(recv + (size_t)i * n, n, i, total ? me : 0);
    for (int j = 0; j < (total ? p : 1); j++) errors += wrong(send + (size_t)j * n, n, me, j);
    MPI_Allreduce(MPI_IN_PLACE, &errors, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
    if (me == 0) printf("%d ranks, %ld errors\n", p, errors);
    free(send);
    free(recv);
    MPI_Finalize();
    return errors > 0;
}
