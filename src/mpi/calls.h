/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.h - private to mpi/: one call as MPI gave it, its way through mortar, its datatypes, and the report. */
#ifndef MORTAR_CALLS_H
#define MORTAR_CALLS_H

#include <mpi.h>

#include "plan/plan.h"

/* One side of a call as MPI gave it: a buffer, and what of this the call has. In the _c forms counts are MPI_Count. */
struct half {
    const void *buffer; /* or MPI_IN_PLACE */
    MPI_Count count;    /* of each block, where there are no counts */
    MPI_Datatype type;  /* of all blocks, where there are no types */
    const void *counts, *displs;
    const MPI_Datatype *types;
};

/* One call as MPI gave it. */
struct request {
    enum collective collective;
    bool large; /* the _c form */
    struct half send, recv;
    MPI_Comm comm;
    int (*native)(const struct request *);
    int root;
    MPI_Op op;
};

/* Bytes of an entry of the counts, and of the displacements but those of neighbor_alltoallw. */
static inline uint8_t entry_width(const struct request *request) { return request->large ? 8 : (uint8_t)sizeof(int); }

/* ---- take.c: the life of a call: reentry guard, team, shape, plan, and running it or leaving it. Returns what MPI returns ---- */
int take(const struct request *request);

/* ---- narrow.c ---- */
/* A call with large counts where the MPI library has none: hands `go` the same call with int counts, or as it is where one does not
 * fit, so that mortar can do it and the library never sees it. Local. Returns what MPI returns. */
int narrowed(const struct request *request, int (*go)(const struct request *));

/* ---- The families of collectives, how take.c sees them. A family says how its calls are checked and run ---- */
struct family {
    /* Is the call mortar's business as far as this rank can see? What looks wrong goes to the host MPI, whose errors the user
     * knows; so does what has no bytes to move. Sets shape->bytes, unless it needs the team. Local. */
    bool (*look)(const struct request *request, struct shape *shape);
    /* The rest of the shape, which must be the same on all ranks; false on all ranks: not for mortar. NULL: nothing to add.
     * Collective. */
    bool (*agree)(const struct request *request, struct team *team, struct shape *shape);
    /* Runs it; *plan becomes the plan that served the call in the end. Returns what MPI returns. Collective. */
    int (*run)(const struct request *request, struct team *team, struct plan **plan, const struct shape *shape);
};
extern const struct family family_exchange;  /* exchange.c: alltoall and allgather */
extern const struct family family_parts;     /* parts.c: blocks of any kind, in any buffers */
extern const struct family family_barrier;   /* barrier.c */
extern const struct family family_reduction; /* reduction.c */

/* ---- beside.c ---- */
/* Runs plan->beside for a call that combines, times it where that is wanted, and throws away what it delivers. Collective. */
void run_beside(const struct request *request, struct team *team, const struct family *family, struct plan *plan,
                const struct shape *shape);

/* ---- neighbours.c ---- */
/* How many blocks this rank receives (ins) and sends (outs) in neighbourhood calls. False: no topology, or one that
 * the MPI library itself is confused about. Local. */
bool degrees(MPI_Comm comm, int *ins, int *outs);
/* The neighbourhood of a communicator with a topology, for this collective; NULL on all ranks: it has none. Made once per team,
 * which owns it. Collective at the first call. */
const struct neighbours *neighbours_of(MPI_Comm comm, struct team *team, enum collective collective);

/* ---- compile.c ---- */
/* How the data of one element lie in memory; NULL: the type is packed instead. Lives as long as the type, in memory of malloc. */
const struct layout *layout_of(MPI_Datatype type);

/* ---- types.c ---- */
/* Bytes of one element; false when the type is not valid. */
bool type_bytes(MPI_Datatype type, size_t *bytes);
/* Do count elements lie in memory as one run of bytes, in the order of the type's signature, starting at the buffer's address? */
bool type_is_run(MPI_Datatype type);
/* Blocks of a datatype to (pack) or from contiguous memory. 0, or -errno when the MPI library refuses. */
struct typed {
    MPI_Datatype type;
    MPI_Count count; /* elements of one block */
    bool device;     /* the user's memory can be read by the MPI library only */
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
/* At MPI_Init: before, nothing compiles. */
void layouts_start(void);
/* At MPI_Finalize: from now on nothing compiles. */
void layouts_finish(void);
/* ---- ops.c ---- */
/* How elements lie that can be combined. */
struct elements {
    size_t size;         /* bytes of data of one */
    ptrdiff_t extent;    /* bytes from one to the next */
    ptrdiff_t low, high; /* the data lie in [low, high) from the element's address */
    bool gaps;           /* elements of a vector are no run of bytes */
    bool mingled;        /* data of one lie among the next one's, or before its address */
    bool rounds;         /* results depend on the brackets: floating-point numbers, users' operations */
};
/* False: such a type and operation do not go together, or mortar leaves them to the host MPI. The same on all ranks. */
bool elements_of(MPI_Datatype type, MPI_Op op, struct elements *elements);

/* ---- reduction.c ---- */
/* What combines: a struct reduction's state. */
struct operation {
    MPI_Datatype type;
    MPI_Op op;
    /* Where elements mingle: places for so many of them, unpacked. */
    char *memory, *in, *inout;
    size_t strip;
};

/* ---- nested.c ---- */
/* Lets plans run the host MPI's collectives on their lanes. */
void nested_start(void);

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
