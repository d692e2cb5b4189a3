/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.h - one collective call as the simulation makes and checks it. */
#ifndef MORTAR_SIM_CALLS_H
#define MORTAR_SIM_CALLS_H

#include <mpi.h>

#include <stdbool.h>
#include <stddef.h>

struct buffers {
    char *send, *recv;
    int *counts, *displs; /* [ranks] of blocks, for the vector collectives */
    MPI_Datatype *types;  /* [ranks] MPI_BYTE, for alltoallw */
};

/* The number of a collective; -1: not one that is simulated. */
int call_find(const char *name);
/* All names with blanks between, for messages. */
const char *call_names(void);
/* NULL, or which blocks the collective takes. */
const char *call_wants(int call, size_t block);
/* Bytes of this rank's buffers. */
size_t call_send_bytes(int call, size_t block, int ranks, int me);
size_t call_recv_bytes(int call, size_t block, int ranks, int me);
/* What is sent, and whether it arrived. */
void call_fill(int call, const struct buffers *buffers, size_t block, int ranks, int me);
bool call_check(int call, const struct buffers *buffers, size_t block, int ranks, int me);
/* The MPI call. Returns what it returns. */
int call_make(int call, const struct buffers *buffers, size_t block, int ranks);

#endif
