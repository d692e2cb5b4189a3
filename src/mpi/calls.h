/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.h - private to mpi/: one call as MPI gave it, its way through mortar, its datatypes, and
 * the report. */
#ifndef MORTAR_CALLS_H
#define MORTAR_CALLS_H

#include <mpi.h>

#include <setjmp.h>

#include "plan/plan.h"

/* One side of a call as MPI gave it: a buffer, and what of this the call has. In the _c forms
 * counts are MPI_Count. */
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
static inline uint8_t entry_width(const struct request *request) {
    return request->large ? 8 : (uint8_t)sizeof(int);
}

/* What a call is to return. raise: the error is mortar's, and the error handler is to hear of it
 * once mortar has been left. */
struct answer {
    int error;
    bool raise;
};
static inline struct answer fails(int class) { return (struct answer){class, true}; }
static inline struct answer returns(int error) { return (struct answer){error, false}; }

/* ---- take.c: the life of a call: reentry guard, arguments, team, shape, plan, and running it or
 * leaving it. Returns what MPI returns ---- */
int take(const struct request *request);
/* Marks that this thread is in mortar, so that what the MPI library calls there goes to the
 * library. Lies on the stack of the outermost call; inside_end may be told more than once.
 * Local. */
struct inside {
    uintptr_t seal;
    /* For a rank that waits in vain, see doubt.c; team NULL: there is no way out. */
    const struct request *request;
    struct team *team;
    jmp_buf way_out;
};
/* The mark of this thread; NULL: it is not in mortar. */
struct inside *inside_now(void);
void inside_begin(struct inside *here);
void inside_end(struct inside *here);

/* ---- doubt.c: ranks that wait look now and then whether they do so in vain ---- */
void doubts_start(void);
/* What a call returns that came back by the way out, and every later call of its team. Collective
 * where the MPI library's is. */
struct answer given_up(const struct request *request, struct doubt *doubt);

/* ---- check.c ---- */
/* This rank in its communicator; neighbours only where the call is about them. */
struct standing {
    int p, me, outs, ins;
};
/* How many blocks the halves have here; 0: not significant, or in place. */
struct extent {
    int sends, recvs;
};
struct extent extent_of(const struct request *request, const struct standing *standing);
/* Does the MPI library refuse these arguments before it sends anything? What it takes is not
 * refused, whatever the standard says. team NULL: there is none yet. Fills *standing, with zeros
 * where the library does everything. Local. */
bool is_refused(const struct request *request, const struct team *team, struct standing *standing);

/* ---- narrow.c ---- */
/* A call with large counts where the MPI library has none: hands `go` the same call with int
 * counts, or as it is where one does not fit, so that mortar can do it and the library never sees
 * it. Local. Returns what MPI returns. */
int narrowed(const struct request *request, int (*go)(const struct request *));

/* ---- The families of collectives, how take.c sees them. A family says how its calls are described
 * and run ---- */

/* What the standard makes the same on all ranks of a call. Whoever turns one way or another before
 * the ranks have told each other anything sees this and the team, and no request: no buffer, no
 * count or type of one rank's. */
struct common {
    enum collective collective;
    MPI_Comm comm;
    int root;
    MPI_Op op;
    /* Of a block, a vector, or all blocks of an allgatherv or a reduce_scatter; 0 where ranks do
     * not all know. */
    size_t bytes;
    bool foreign; /* such elements are not combined by mortar */
    bool rounds;  /* as struct shape says */
};
struct family {
    /* Fills `bytes` and `foreign` from arguments that are not refused. Local. */
    void (*look)(const struct request *request, const struct standing *standing,
                 struct common *common);
    /* What this rank has in a call where ranks do not know each other's counts, for the sums that
     * they tell each other. NULL: nothing. Local. */
    void (*tell)(const struct request *request, const struct standing *standing, struct team *team);
    /* The shape; false: not for mortar. The same on all ranks. NULL: the bytes are the shape.
     * Collective. */
    bool (*agree)(const struct common *common, struct team *team, struct shape *shape);
    /* Runs it; *plan becomes the plan that served the call in the end. What only this rank sees is
     * trouble. Collective. */
    struct answer (*run)(const struct request *request, struct team *team, struct plan **plan,
                         const struct shape *shape);
};
extern const struct family family_exchange;  /* equals.c: alltoall and allgather */
extern const struct family family_parts;     /* parts.c: blocks of any kind, in any buffers */
extern const struct family family_barrier;   /* barrier.c */
extern const struct family family_reduction; /* reduction.c */

/* ---- beside.c ---- */
/* Runs plan->beside for a call that combines, times it where that is wanted, and throws away what
 * it delivers. Collective. */
void run_beside(const struct request *request, struct team *team, const struct family *family,
                struct plan *plan, const struct shape *shape);

/* ---- neighbours.c ---- */
/* How many blocks this rank receives (ins) and sends (outs) in neighbourhood calls. False: no
 * topology, or one that the MPI library itself is confused about. Local. */
bool degrees(MPI_Comm comm, int *ins, int *outs);
/* The neighbourhood of a communicator with a topology, for this collective; NULL on all ranks: it
 * has none. Made once per team, which owns it. Collective at the first call. */
const struct neighbours *neighbours_of(MPI_Comm comm, struct team *team,
                                       enum collective collective);

/* ---- types.c ---- */
/* Bytes of one element; false when the type is not valid. */
bool type_bytes(MPI_Datatype type, size_t *bytes);
/* Is it one of the predefined types that most calls have? */
bool type_is_plain(MPI_Datatype type);
/* Will this handle mean the same for ever? */
bool type_is_predefined(MPI_Datatype type);
/* Do count elements lie in memory as one run of bytes, in the order of the type's signature,
 * starting at the buffer's address? */
bool type_is_run(MPI_Datatype type);
/* Blocks of a datatype to (pack) or from contiguous memory. 0, or -errno when the MPI library
 * refuses. */
struct typed {
    MPI_Datatype type;
    MPI_Count count; /* elements of one block */
    bool device;     /* the user's memory can be read by the MPI library only */
};
int move_blocks(const struct typed *typed, void *user, int blocks, char *packed, bool pack);
/* Can its blocks be moved so? What has no layout the MPI library has to pack: no elements beyond 2
 * GiB. */
bool can_pack(const struct typed *typed);
/* Bytes from one block to the next. */
MPI_Aint typed_step(const struct typed *typed);

/* ---- compile.c ---- */
/* The layout of a valid type, made when it is first asked for; later a lookup of some 20 ns,
 * without a lock. It belongs to the type and ends with it. It lies in malloc's memory: with
 * mortar's heap, peers can read it. NULL: the type does not compile (a distributed array, too
 * scattered, no memory) and has to be packed by the MPI library. Local. */
const struct layout *layout_of(MPI_Datatype type);
/* Has a valid type been committed? Remembered once it was. Local. */
bool type_committed(MPI_Datatype type);
/* This process alone, private, to pack with: what fails there is not the user's error handler's
 * business. May be null. Local. */
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
    /* Results depend on the brackets: floating-point numbers, users' operations. */
    bool rounds;
};
/* False: such a type and operation do not go together, or mortar leaves them to the host MPI. The
 * same on all ranks. */
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
/* Writes what the planners of all teams have measured as a tuning file; what the file holds already
 * about other cells stays. The first rank says what went wrong. Collective. */
void save_tuning(const char *path);

#endif
