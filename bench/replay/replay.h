/* SPDX-License-Identifier: BSD-3-Clause */
/* replay.h - `mortar replay`: runs a call again that option VERIFY has saved (src/mpi/cases.c). */
#ifndef MORTAR_REPLAY_H
#define MORTAR_REPLAY_H

#include <mpi.h>

#include <stddef.h>

/* A block with data: its place from the buffer's address, in bytes, its elements, and which of the
 * side's types they have. */
struct replay_block {
    MPI_Aint place;
    int count, word;
};
/* One side of the call on this rank. */
struct replay_side {
    void *buffer;      /* as the call gets it */
    int count;         /* of all blocks, if there are no counts */
    MPI_Datatype type; /* the same */
    int *counts, *displs;
    MPI_Aint *far_displs;
    MPI_Datatype *types;
    int words;    /* length of these lists */
    char *memory; /* `room` bytes, in which the data lie; NULL: there are none */
    size_t room;
    struct replay_block *blocks;
    int count_of_blocks;
    const char *data; /* contents of the blocks, packed; in the text of the case */
    size_t data_bytes;
};

struct replay_case {
    char collective[24], operation[16], plan[64];
    int ranks, root;
    MPI_Op op;
    MPI_Comm comm;
    struct replay_side send, recv;
};

/* ---- case.c ---- */
/* Reads this rank's part of the text of a case, which ends with '\0', and makes types, buffers and
 * the communicator. NULL, or what is wrong. The same on all ranks. Collective over
 * MPI_COMM_WORLD. */
const char *case_open(struct replay_case *c, char *text, size_t bytes);
/* Puts the operands into the buffers. Local. */
void case_fill(const struct replay_case *c);

/* ---- call.c ---- */
/* Calls the collective. -1: there is none of this name. Returns what MPI returns. Collective. */
int case_call(const struct replay_case *c);

/* ---- replay.c ---- */
/* The whole command, with its MPI_Init and MPI_Finalize; words[0] is "replay". Returns an exit
 * code: 0: the results were the MPI library's; 1: they were not; 2: the case cannot be run. */
int replay(int count, char **words);

#endif
