/* SPDX-License-Identifier: BSD-3-Clause */
/* calls.h - private to mpi/: a call as the program made it, its way through mortar, its datatypes,
 * and the report. */
#ifndef MORTAR_CALLS_H
#define MORTAR_CALLS_H

#include <mpi.h>

#include "mpi/handle.h"
#include "mpi/inside.h"
#include "plan/plan.h"

/* The send or the receive arguments of a call; those that the call does not have are 0. Counts are
 * int, in the _c forms MPI_Count. */
struct half {
    const void *buffer; /* or MPI_IN_PLACE */
    MPI_Count count;    /* of each block, if counts is NULL */
    MPI_Datatype type;  /* of all blocks, if types is NULL */
    const void *counts, *displs;
    const MPI_Datatype *types;
};

/* One call with the program's arguments. */
struct request {
    enum collective collective;
    bool large; /* the _c form */
    struct half send, recv;
    MPI_Comm comm;
    int (*native)(const struct request *); /* hands the call to the host MPI */
    int root;
    MPI_Op op;
    struct fresh *fresh; /* of a call that fresh.c has packed */
    const void *caller;  /* where the call comes from */
};

/* Bytes of an entry of the counts, and of the displacements: those of neighbor_alltoallw are always
 * MPI_Aint. */
static inline uint8_t entry_width(const struct request *request) {
    return request->large ? 8 : (uint8_t)sizeof(int);
}
static inline uint8_t displ_width(const struct request *request) {
    return request->collective == COLL_neighbor_alltoallw ? 8 : entry_width(request);
}

/* The result of a call. raise: the error is mortar's own, so the error handler must be called,
 * after mortar has been left. */
struct answer {
    int error;
    bool raise;
};
static inline struct answer fails(int class) { return (struct answer){class, true}; }
static inline struct answer returns(int error) { return (struct answer){error, false}; }

/* Bytes of its peers' memory that a rank touches in a call: at most; of reductions, whose work the
 * ranks share, on average. */
static inline size_t touched_in(const struct shape *shape, int p) {
    if (shape->collective == COLL_bcast) return shape->bytes;
    if (among(shape->collective, BIT(reduce) | BIT(allreduce))) return 2 * shape->bytes;
    return shape->bytes * (size_t)p;
}
/* What follows each call that mortar ran. */
HOT static inline void call_over(struct team *team, const struct shape *shape) {
    peers_touched(touched_in(shape, team->p));
    if (drive_is_due(team)) drive_due(team);
}

/* ---- take.c: the life of a call, from arguments to plan. Returns what MPI returns ---- */
int take(const struct request *request);

/* ---- doubt.c: a waiting rank checks now and then whether it waits in vain ---- */
void doubts_start(void);
/* The answer of a call that left through way_out, and of every later call on its team. Collective
 * if the host MPI runs the call. */
struct answer given_up(const struct request *request, struct doubt *doubt);

/* ---- check.c ---- */
/* The size of the communicator, this rank, and its numbers of neighbours, which are set only for
 * neighbourhood collectives. */
struct standing {
    int p, me, outs, ins;
};
/* How many blocks this rank sends and receives; 0: the argument is not significant, or is
 * MPI_IN_PLACE. */
struct block_counts {
    int sends, recvs;
};
struct block_counts extent_of(const struct request *request, const struct standing *standing);
/* Does the MPI library refuse these arguments before it sends anything? What the library accepts is
 * not refused, whatever the standard says. met: what the communicator has, no intercommunicator, or
 * nothing yet. Fills *standing; all zeros for a barrier and for a call that goes to the library
 * anyway. Local. */
bool is_refused(const struct request *request, struct met met, struct standing *standing);
/* Where this rank's own block of a side with one block for each rank lies to MPICH and its
 * relatives. They count in sizes of the type, not in extents. */
ptrdiff_t own_block_at(const struct request *request, const struct half *half, int me);
/* Of calls that look the same: where their buffers decide whether the library refuses one. */
struct fit {
    /* This rank's own block: its distance from the receive buffer, or back from it if it lies in
     * the send buffer. */
    ptrdiff_t own;
    bool sends, receives; /* has it blocks of that side? */
};
/* Local; the call was not refused. */
struct fit fit_of(const struct request *request, const struct block_counts *extent, int me);

/* ---- narrow.c ---- */
/* For a call with large counts where the MPI library has no _c forms: passes the same call with int
 * counts to `go`. If a count does not fit in an int, `go` gets the large counts: mortar may run the
 * call, but leaving it to the library is an error. Local. Returns what MPI returns. */
int narrowed(const struct request *request, int (*go)(const struct request *));

/* ---- reduction.c ---- */
/* The operation of a call: the state of a struct reduction. */
struct operation {
    MPI_Datatype type;
    MPI_Op op;
    /* Where elements mingle: two vectors of `strip` unpacked elements, in `memory`. */
    char *memory, *in, *inout;
    size_t strip;
};
/* Elements of a whole vector of a reduction, and of the part that rank `me` receives. Local. */
size_t elements_sent(const struct request *request, int p);
size_t elements_received(const struct request *request, int me);

/* ---- The families of collectives, as take.c sees them ---- */

/* The arguments that the standard makes the same on all ranks of a call. Decisions made before the
 * ranks have exchanged anything may use only this and the team. They may not use the request, whose
 * buffers, counts and types belong to one rank. */
struct common {
    enum collective collective;
    MPI_Comm comm;
    int root;
    MPI_Op op;
    /* One block or vector; all blocks of an allgatherv or a reduce_scatter; 0 if not all ranks
     * know. */
    size_t bytes;
    bool foreign; /* mortar does not combine such elements: the host MPI does */
    bool rounds;  /* as in struct shape */
};
/* A call as its algorithm gets it, without this call's buffers: serves later calls that differ only
 * in them. Its data are contiguous, and nothing has to be packed or copied first. */
struct ready {
    struct call call;           /* points to the members below */
    struct block_counts extent; /* 0: that buffer is not looked at */
    bool brief;                 /* of family_parts: at most bounce_bytes are received */
    struct blocks sends, recvs;
    struct reduction reduction;
    struct operation operation; /* the reduction's state */
};

struct family {
    /* Fills bytes, foreign and rounds from arguments that are not refused. Local. */
    void (*look)(const struct request *request, const struct standing *standing,
                 struct common *common);
    /* Adds what this rank has in a call where ranks do not know each other's counts; the ranks add
     * these up from time to time. NULL: nothing to add. Local. */
    void (*tell)(const struct request *request, const struct standing *standing, struct team *team);
    /* Completes the shape; false: the host MPI runs the call. The same on all ranks. NULL: the
     * bytes are the whole shape. Collective. */
    bool (*agree)(const struct common *common, struct team *team, struct shape *shape);
    /* Runs the call; *plan becomes the plan that served it in the end. Problems that only this rank
     * sees are passed on as enum trouble. Collective. */
    struct answer (*run)(const struct request *request, struct team *team, struct plan **plan,
                         const struct shape *shape);
    /* Completes *ready, which has its extent, and whose call has shape, root and neighbours, for
     * calls that a plan on a node runs. Counts, displacements and types of single blocks will be
     * the same then; the type of a side with blocks and the operation are steady. False: `run`
     * makes the call anew each time. Local. */
    bool (*prepare)(const struct request *request, struct team *team, struct ready *ready);
    /* The end of a ready call whose outcome is not DONE, or which was cut. As run otherwise. */
    struct answer (*end)(const struct request *request, struct team *team, struct plan **plan,
                         const struct call *call, enum outcome outcome);
};
extern const struct family family_exchange;  /* equals.c: alltoall and allgather */
extern const struct family family_parts;     /* parts.c: blocks of any kind, in any buffers */
extern const struct family family_barrier;   /* barrier.c */
extern const struct family family_reduction; /* reduction.c */

/* ---- sizes.c: members of family_parts, see struct family, and its tables ---- */
void parts_look(const struct request *request, const struct standing *standing,
                struct common *common);
void parts_tell(const struct request *request, const struct standing *standing, struct team *team);
bool parts_agree(const struct common *common, struct team *team, struct shape *shape);
/* Words of the tables for each block: its layout, and its size and place if it is packed. */
enum { parts_words = 3 };
/* The team's memory for the tables of both sides. NULL: it has no wire, and needs none. Local. */
int64_t *parts_tables(enum collective collective, struct team *team,
                      const struct neighbours *neighbours);

/* ---- parts.c ---- */
/* The blocks of this rank, and the neighbourhood; NULL: the collective has none. Collective if the
 * neighbourhood is not known yet. */
struct block_counts parts_extent(const struct request *request, struct team *team,
                                 const struct neighbours **neighbours);
/* The send half of a call in place: the part of the receive buffer that holds this rank's
 * contribution. Local. */
void parts_in_place(const struct request *request, const struct team *team, struct half *half);
/* Of the blocks that this rank receives, the longest, if all ranks receive the same; else 0. */
static inline size_t parts_longest(enum collective collective, const struct blocks *recvs) {
    return collective == COLL_allgatherv ? longest_of(recvs) : 0;
}
/* Longer send buffers out of reach are copied into the heap first; shorter ones are staged by the
 * algorithm. */
enum { bounce_bytes = 16 << 10 };

/* ---- listed.c: counts, displacements and types for each block, in known calls ---- */
/* A copy of those that are significant on this rank: those of the send side, then of the receive
 * side. */
enum { LISTS = 3 };
struct lists {
    uint16_t bytes[2][LISTS], all;
    uint16_t room; /* bytes of `copy` */
    char *copy;
};
/* Does the call have the same ones? Its look has to be the same. Local. */
bool lists_same(const struct lists *lists, const struct request *request);
/* The same; if not, they are copied. False also if they are too long to be kept. Local. */
bool lists_again(struct lists *lists, const struct request *request,
                 const struct block_counts *extent);
/* Member of family_parts, see struct family. */
bool parts_prepare(const struct request *request, struct team *team, struct ready *ready);
/* The arrays of this call, whose contents are the same, take the place of the other call's. */
void lists_enter(struct ready *ready, const struct request *request);

/* ---- known.c: calls that look like earlier ones ---- */
struct known;
/* What to do with a call. *found: the known call that it looks like, unless it is to be examined.
 * With HAND_ON and REPEAT it counts as planned, and must be run. Local. */
enum known_way {
    EXAMINE, /* it is not known */
    HAND_ON, /* known_hand_on: the host MPI runs it */
    REPEAT,  /* known_repeat: mortar runs it, with the same plan */
    SINGLE,  /* known_single: the same; it takes a single barrier */
    ASK,     /* ask the planner with known_shape, tell known_planned what it says */
};
enum known_way known_find(struct team *team, const struct request *request, struct known **found);
/* Returns what MPI returns. Collective, as the next. */
int known_hand_on(const struct known *known, struct team *team, const struct request *request);
struct answer known_repeat(struct known *known, struct team *team, const struct request *request);
/* True: the call is done. False: a rank is late, or has trouble, or the call has failed, or the
 * host MPI is to be driven: call known_single_on. Before that nothing can leave the call.
 * Collective, as the next. */
bool known_single(struct known *known, struct team *team, const struct request *request,
                  struct single_state *state);
struct answer known_single_on(struct known *known, struct team *team, const struct request *request,
                              struct single_state *state);
/* entry: for the ledger, still without a plan. Local. */
const struct shape *known_shape(const struct known *known, struct ledger_entry *entry);
void known_planned(struct known *known, const struct team *team, struct plan *plan,
                   struct ledger_entry entry);
/* Can known_run run it with this plan? Local; the same on all ranks that know the call. */
bool known_suits(const struct known *known, const struct plan *plan);
/* As the run of a family. */
struct answer known_run(struct known *known, struct team *team, const struct request *request,
                        struct plan **plan);
/* Remembers a call that was examined, from its second time on. entry: what the ledger has of it.
 * Local. */
void known_note(const struct request *request, struct team *team, const struct family *family,
                struct plan *plan, const struct shape *shape, struct ledger_entry entry);
/* How many calls of this process were examined since its start, and that it is one more. */
uint64_t known_examined(void);
void known_examines(void);

/* ---- beside.c ---- */
/* Runs plan->beside on the operands of a reduction, notes its time and discards its result.
 * Collective. */
void run_beside(const struct request *request, struct team *team, const struct family *family,
                struct plan *plan, const struct shape *shape);

/* ---- neighbours.c ---- */
/* How many blocks this rank receives (ins) and sends (outs) in neighbourhood calls. False: no
 * topology, or one about which the MPI library contradicts itself. Local. */
bool degrees(MPI_Comm comm, int *ins, int *outs);
/* The neighbourhood of a communicator with a topology, for this collective; NULL on all ranks: it
 * has none. Made once, owned by the team. Collective at the first call. */
const struct neighbours *neighbours_of(MPI_Comm comm, struct team *team,
                                       enum collective collective);

/* ---- types.c ---- */
/* Bytes of one element; false: the type is not valid. */
bool type_bytes(MPI_Datatype type, size_t *bytes);
/* Bytes of a block, if all are equal; 0: the type is not valid. */
static inline size_t half_bytes(const struct half *half) {
    size_t bytes;
    return type_bytes(half->type, &bytes) ? bytes * (size_t)half->count : 0;
}
/* Is it one of the predefined types that most calls use? */
bool type_is_plain(MPI_Datatype type);
/* Does this handle always mean the same type? True of MPI_DATATYPE_NULL. */
bool type_is_predefined(MPI_Datatype type);
/* Will it, as long as changes.calls stays the same? True also of those of the program's own types
 * with a layout that were asked for often. */
bool type_is_steady(MPI_Datatype type);
/* Do count elements lie in memory as one run of bytes, in the order of the type's signature,
 * starting at the buffer's address? */
bool type_is_run(MPI_Datatype type);
/* Elements of a datatype, as move_blocks packs them. */
struct typed {
    MPI_Datatype type;
    MPI_Count count; /* elements of one block */
    bool by_host;    /* the MPI library packs: their type is fresh, or they lie on a device */
};
/* Copies blocks of a datatype to contiguous memory (pack) or from it. 0, or -errno if the MPI
 * library refuses. */
int move_blocks(const struct typed *typed, void *user, int blocks, char *packed, bool pack);
/* Bytes from one block to the next. */
MPI_Aint typed_step(const struct typed *typed);

/* ---- compile.c ---- */
/* The layout of a valid type, made at the first request; later a lookup of some 20 ns, without a
 * lock. The type owns it. Peers can read it if mortar's heap is loaded. NULL: the type does not
 * compile (a distributed array, too scattered, no memory), and the MPI library must pack it.
 * Local. */
const struct layout *layout_of(MPI_Datatype type);
/* Has a valid type been committed? A yes is remembered if the type has a layout. Local. */
bool type_committed(MPI_Datatype type);
/* Did the program make this valid type? Local. */
bool type_is_made(MPI_Datatype type);
/* fresh.c: did it, and has hardly used it? A guess, by the handle; counts this use. Local. */
bool type_is_fresh(MPI_Datatype type);
/* A private communicator of this process alone, for PMPI_Pack: errors there do not reach the user's
 * error handler. May be MPI_COMM_NULL. Local. */
MPI_Comm packer_comm(void);
/* At MPI_Init. Before it, no type compiles. */
void layouts_start(void);
/* At MPI_Finalize. After it, no type compiles. */
void layouts_finish(void);
/* ---- ops.c ---- */
/* How the elements of a reduction lie in memory. */
struct elements {
    size_t size;         /* bytes of data in one element */
    ptrdiff_t extent;    /* bytes from one element to the next */
    ptrdiff_t low, high; /* the data lie in [low, high) from the element's address */
    bool gaps;           /* a vector is not one contiguous run of bytes */
    bool mingled;        /* elements interleave, or have data before their address */
    /* Results depend on the association: floating-point numbers, users' operations. */
    bool rounds;
    bool swaps; /* two operands may change places; with these two no digit depends on it */
};
/* False: the operation is not defined for the type, or mortar leaves both to the host MPI. The same
 * on all ranks. */
bool elements_of(MPI_Datatype type, MPI_Op op, struct elements *elements);
/* Is it a program's own operation? Its handle may come to mean another one. */
bool op_is_users(MPI_Op op);
/* MPI_Op_free of an operation that no call uses. */
int op_ends(MPI_Op *op);
/* Will the handle mean the same operation as long as changes.calls stays the same? True also of
 * those of the program's own that were asked for often while none was freed. */
bool op_is_steady(MPI_Op op);
/* How results of such elements compare that were combined in different associations. The same on
 * all ranks. */
enum comparison {
    BY_BYTES, /* they are the same */
    BY_VALUE, /* floating-point numbers: within rounding */
    NEVER,    /* mortar does not know the type */
};
enum comparison comparison_of(MPI_Datatype type);
bool type_is_complex(MPI_Datatype type);

/* ---- verify.c: option VERIFY; see verify.h ---- */
struct verification;
bool verify_wanted(void);
/* Call when this process has taken over another rank's settings. */
void verify_settings_changed(void);
/* Calls that this process has verified, and those whose results differed. Local. */
void verify_count(uint64_t *calls, uint64_t *differences);

/* ---- nested.c ---- */
/* Lets plans run the host MPI's collectives on lanes. */
void nested_start(void);

/* ---- report.c, report_write.c ---- */
/* Is MORTAR_REPORT set? */
bool report_wanted(void);
/* Writes the report on rank 0 of the world; "-": to standard error, as a table. 0 or -errno.
 * Collective. */
int report_write(const char *path);
/* Before the first team: from now on the records of freed teams are kept. */
void report_start(void);
/* young.c: the host MPI has run a call of a young communicator of p ranks in so many seconds, for
 * this reason, which is static. Local. */
void young_called(const struct shape *shape, int p, const char *why, double seconds);

/* ---- lateness.c ---- */
/* In MPI_Init, before the first team: makes room, if a report is wanted. */
void lateness_start(void);
/* After a call that is reported: whom this rank has waited for, on the team of its node. */
void lateness_add(const struct team *near);

/* ---- save.c ---- */
/* Writes what the planners of all teams have measured as a tuning file, and keeps what the file
 * already says about other cells. Warns if that fails. Collective. */
void save_tuning(const char *path);

#endif
