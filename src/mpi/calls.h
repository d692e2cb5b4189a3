/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.h - private to mpi/: one call as MPI gave it, its datatypes, and the report. */
#ifndef MORTAR_CALLS_H
#define MORTAR_CALLS_H

#include <mpi.h>

#include "plan/plan.h"

/* One call as MPI gave it. */
struct exchange {
    enum collective collective;
    const void *send;
    MPI_Count send_count;
    MPI_Datatype send_type;
    void *recv;
    MPI_Count recv_count;
    MPI_Datatype recv_type;
    MPI_Comm comm;
    int (*native)(const struct exchange *);
};

/* ---- exchange.c: runs one call by its plan, or natively. Returns what MPI returns. ---- */
int exchange(const struct exchange *exchange);

/* ---- types.c ---- */
/* Bytes of one element; false when the type is not valid. */
bool type_bytes(MPI_Datatype type, size_t *bytes);
/* Do count elements lie in memory as one run of bytes, in the order of the type's signature, starting at the buffer's address? */
bool type_is_run(MPI_Datatype type);
/* Blocks of a datatype to (pack) or from contiguous memory. 0, or -errno when the MPI library refuses. */
struct typed {
    MPI_Datatype type;
    MPI_Count count; /* elements of one block */
};
int move_blocks(const struct typed *typed, void *user, int blocks, char *packed, bool pack);
/* Can its blocks be moved so? What has no layout the MPI library has to pack: not from MPI_BOTTOM (MPICH takes it for a mistake),
 * nor elements beyond 2 GiB. */
bool can_pack(const struct typed *typed, const void *user);
/* Bytes from one block to the next. */
MPI_Aint typed_step(const struct typed *typed);

/* ---- compile.c ---- */
/* The layout of a valid type, made when it is first asked for; later a lookup of some 20 ns, without a lock. It belongs to the type
 * and ends with it. It lies in malloc's memory: with mortar's heap, peers can read it. NULL: the type does not compile (a
 * distributed array, too scattered, no memory, not committed) and has to be packed by the MPI library. Local. */
const struct layout *layout_of(MPI_Datatype type);
/* This process alone, private, to pack with: what fails there is not the user's error handler's business. May be null. Local. */
MPI_Comm packer_comm(void);
/* At MPI_Finalize: from now on nothing compiles. */
void layouts_finish(void);

/* ---- device.c ---- */
/* Does one of these addresses belong to a GPU's memory? False where no CUDA driver is loaded. */
bool on_device(const struct team *team, const void *send, const void *recv);

/* ---- report.c ---- */
bool report_wanted(void);
int report_write(const char *path);
void report_start(void);

/* ---- save.c ---- */
/* Writes what the planners of all teams have measured as a tuning file; what the file holds already about other cells stays. The
 * first rank says what went wrong. Collective. */
void save_tuning(const char *path);

#endif
