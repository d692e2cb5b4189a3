/* SPDX-License-Identifier: BSD-3-Clause */
/* field.h - a random program as users write them, which knows what every byte must be after every
 * call.
 *
 * All ranks play the same schedule (schedule.c), drawn from a seed: collectives, messages,
 * communicators. What a call is like is a pure function of the seed and the call's number, and so
 * is every byte that is sent: a function of call, source, destination and position. So each rank
 * computes by itself what it must have received, and no call needs the ones before it: any part of
 * a run can be played alone. Several threads play a schedule each, in communicators of their own:
 * what is not constant belongs to a thread. Nothing here knows mortar. */
#ifndef FIELD_H
#define FIELD_H
#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { MOST_THREADS = 4 };

/* --- chance.c: dice and contents --- */
struct dice {
    uint64_t state;
};
uint64_t mix(uint64_t a, uint64_t b);        /* a hash of both, never 0 */
uint64_t roll(struct dice *dice);            /* 64 random bits */
int below(struct dice *dice, int limit);     /* 0 .. limit - 1 */
bool chance(struct dice *dice, int percent); /* true so often */
/* 2^power and below its double, or close to a power of two. */
long draw_bytes(struct dice *dice, int power);
void shuffle(struct dice *dice, int *list, int length); /* any order of the list */
void contents(char *to, size_t bytes, uint64_t key);    /* the bytes that belong to a key */
void pause_for(struct dice *dice);                      /* busy or asleep for up to 3 ms */
double now(void);                                       /* seconds */

/* --- layouts.c: datatypes, beside a description of their own of where the bytes lie --- */
struct unit { /* what a message's signature repeats: up to three predefined types */
    int parts, part[3];
    long bytes;
};
struct run {
    long at, bytes;
};
/* Runs in the order of the signature; low .. high holds them all; lb and extent as MPI defines
 * them. */
struct layout {
    MPI_Datatype type;
    bool made; /* is to be freed */
    int runs, room;
    struct run *run;
    long bytes, low, high, lb, extent;
};
struct unit unit_draw(struct dice *dice, bool simple);
/* A type of `units` units, of which `repeats` may follow each other without overlap. plain: without
 * gaps. Freed by layout_free. */
struct layout *layout_draw(struct dice *dice, const struct unit *unit, int units, long repeats,
                           bool plain);
/* Of a type that is made elsewhere. */
struct layout *layout_of(MPI_Datatype type, int runs, const struct run *run, long extent);
void layout_free(struct layout *layout);

/* --- memory.c: one rank's send or receive buffer, with guards around --- */
enum place { HEAP, STACK, STATIC, MAPPED, ALLOCATED, PLACES };
struct block { /* count elements of a layout, `at` bytes from the buffer's address */
    struct layout *layout;
    long count, at;
    /* Whose contents lie there before and after the call; 0: nobody's, or as before. */
    uint64_t before, after;
    bool loose; /* the call may leave anything there */
};
struct side {
    int blocks;
    struct block *block;
    int *counts, *displs; /* as MPI wants them, of the same length */
    MPI_Aint *places;
    MPI_Datatype *types;
    enum place place;
    char *memory, *expected, *base; /* base: the buffer's address */
    long bytes;                     /* of memory, guards included */
    int arena;
    MPI_Datatype bottom; /* not MPI_DATATYPE_NULL: all that lies there, at absolute addresses */
};
/* Of this thread, which is the how-manieth; stack: some of its own. */
void memory_start(int thread, char *stack, size_t bytes);
void side_open(struct side *side, int blocks);
void side_place(struct side *side, enum place place, struct dice *dice);
void side_close(struct side *side);
/* Writes a block's contents to `packed`; `id` is its before or after. */
struct op;
void side_fill(struct side *side, int background, const struct op *op);
long side_wrong(struct side *side); /* the first wrong byte, counted from `memory`; -1: none */

/* --- comms.c: communicators --- */
enum comm_kind { WORLD, DUP, REVERSED, SPLIT, SUBSET, CART, GRAPH, GRAPH_ANYHOW, COMM_KINDS };
struct comm {
    bool alive;      /* the same on all ranks of the world */
    MPI_Comm handle; /* MPI_COMM_NULL: not a member */
    enum comm_kind kind;
    int number, size, me, colour; /* number: 0 is the world, later ones count up */
    /* Neighbours, -1 for MPI_PROC_NULL; `turn`: the how-manieth edge between the same two. */
    int ins, outs;
    int *in, *out, *in_turn, *out_turn;
    /* Which block of an alltoall meets which is not clear: both neighbours of a dimension are the
     * same. */
    bool ambiguous;
};
enum { COMMS = 8 };
extern _Thread_local struct comm comms[COMMS];
extern const char *const comm_names[COMM_KINDS];
void comms_start(MPI_Comm world); /* this thread's communicator of all ranks */
/* Collective over the world, like the next; dice the same everywhere. */
void comm_make(int slot, struct dice dice);
void comm_drop(int slot);
bool has_neighbours(const struct comm *comm);

/* --- kinds and calls.c: the collectives --- */
#define KINDS(K)                                                                                   \
    K(Barrier)                                                                                     \
    K(Bcast)                                                                                       \
    K(Gather)                                                                                      \
    K(Gatherv)                                                                                     \
    K(Scatter) K(Scatterv) K(Allgather) K(Allgatherv) K(Alltoall) K(Alltoallv) K(Alltoallw)        \
        K(Neighbor_allgather) K(Neighbor_allgatherv) K(Neighbor_alltoall) K(Neighbor_alltoallv)    \
            K(Neighbor_alltoallw) K(Reduce) K(Allreduce) K(Reduce_scatter) K(Reduce_scatter_block) \
                K(Scan) K(Exscan)
enum kind {
#define K(name) name,
    KINDS(K)
#undef K
        COLLECTIVES
};
extern const char *const kind_names[COLLECTIVES];
enum how { BLOCKING, NONBLOCKING, PERSISTENT };

struct reduction;
/* One collective and what belongs to it; the same layouts may be used by several calls. */
struct op {
    enum kind kind;
    enum how how;
    struct comm *comm;
    long call; /* the number that contents depend on */
    int root, power;
    long bytes; /* of a typical block */
    bool in_place, junk, bottom;
    struct unit unit;
    /* Units per block are a multiple of step; spread: how they differ in the v-collectives. */
    int step, spread;
    long units;
    struct side send, recv;
    /* Reductions only, elements in all and the counts of reduce_scatter. */
    const struct reduction *reduction;
    int elements, *shares;
    MPI_Request request;
};
void op_call(struct op *op); /* makes the MPI call; NONBLOCKING, PERSISTENT: into request */
bool can_persist(void);

/* --- moves.c, reductions.c: what a call is like --- */
void moves_plan(struct op *op, struct dice shared, struct dice own, enum place place);
void reductions_plan(struct op *op, struct dice shared, struct dice own, enum place place);
void reductions_start(void);
void reductions_end(void);
void reductions_contents(const struct op *op, const struct block *block, bool after, char *packed);
const char *reduction_name(const struct op *op);
MPI_Op reduction_op(const struct op *op);

/* --- op.c: from plan to verdict --- */
void op_plan(struct op *op, enum kind kind, enum how how, struct comm *comm, long call, int power,
             enum place place);
void op_fill(struct op *op, long call); /* new contents for another call with the same arguments */
void op_check(struct op *op);
void op_end(struct op *op);
/* What it is like here; returns the length. */
int op_text(const struct op *op, char *text, size_t room);

/* --- messages.c: point to point, in the same communicators --- */
struct talk {
    struct comm *comm;
    long call, bytes;
    int way, to, from;
    char *sent, *received;
    MPI_Request request[2];
};
/* true: something is under way, to be finished. */
bool talk_start(struct talk *talk, struct comm *comm, long call);
void talk_finish(struct talk *talk);

/* --- quirks.c: what the MPI libraries get wrong by themselves --- */
enum quirk {
    TYPES,         /* derived types */
    LONG_TYPES,    /* these in long messages */
    MIXED,         /* structs of different types in long messages */
    NESTED,        /* structs of types with gaps */
    ABSOLUTE,      /* MPI_BOTTOM */
    SPARSE,        /* elements of a reduction that do not begin at 0 */
    PADDED,        /* pairs with padding */
    NULL_RECEIVE,  /* NULL where the receive buffer does not count */
    ONE_RANK,      /* communicators of one rank */
    DUPLICATES,    /* two edges between the same ranks */
    LONELY,        /* ranks with neighbours on one side only */
    IN_PLACE,      /* MPI_IN_PLACE */
    GRAPHS_ANYHOW, /* MPI_Dist_graph_create */
    PERSISTENCE,   /* the persistent form */
    NOT_BLOCKING,  /* the nonblocking and the persistent form */
    TOGETHER,      /* threads that make communicators at the same time */
    BROKEN         /* all of it */
};
void quirks_start(void);
/* Does this library do that wrong with this collective? */
bool quirk(enum kind kind, enum quirk quirk);

/* --- main.c --- */
struct settings {
    uint64_t seed;
    long calls, first;
    int seconds, patience, largest; /* largest: power of two of the longest blocks */
    int row;                        /* of quirks.c, to leave out, or -1 */
    int threads;
    uint32_t only, hows;            /* sets of kinds and of enum how */
    /* nothing: NULL and nonsense where arguments do not count. */
    bool messages, comms, nothing, trace;
};
extern _Thread_local struct settings settings; /* each thread has a seed of its own */
extern int world_rank, world_size;
struct tally {
    long calls, started, messages, communicators;
    /* Types that the library packs wrong. */
    long refused;
};
extern _Thread_local struct tally tally; /* of this rank's thread */
/* Says so to the watchdog. */
void at_work(long call, const char *name, const struct comm *comm, const char *phase);
/* What it is like, for those who read about a failure; NULL: it ends. */
void at_op(const struct op *op);
void failed(const char *format, ...) __attribute__((format(printf, 1, 2), noreturn));
/* schedule.c; private: a communicator of all ranks that nothing else uses. */
void play(MPI_Comm private);
#endif
