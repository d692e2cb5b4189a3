/* SPDX-License-Identifier: BSD-3-Clause */
/* driver.h - the generic test of the collectives: random trials, each the same on all ranks, run
 * through mortar and once more by the host MPI. driver.c counts, draw.c draws, blocks.c and
 * reductions.c lay out a call's buffers and say what must come out, calls.c makes the call, trial.c
 * runs it, beside.c does something else meanwhile; the others hold the tables. */
#ifndef MORTAR_TEST_DRIVER_H
#define MORTAR_TEST_DRIVER_H

#include <mpi.h>

#include "reach/host.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum collective {
#define COLLECTIVE(name, ...) COLL_##name,
#include "coll/collectives.h"
#undef COLLECTIVE
    COLLECTIVES
};

/* ---- random.c: the same numbers on every rank for the same seed ---- */
struct random {
    uint64_t state;
};
uint64_t draw(struct random *random);
int below(struct random *random, int limit); /* 0 .. limit - 1 */
void fill(char *memory, size_t bytes, uint64_t seed);
/* A random number that belongs to these. */
uint64_t mix(uint64_t seed, uint64_t a, uint64_t b, uint64_t c);

/* ---- layouts.c: datatypes. Those of one family have the same basic types, so that they match when
 * the counts do. ---- */
struct layout {
    const char *name;
    int family;
    int elements;   /* basic elements (of the record family: records) in one; divides `common` */
    bool send_only; /* its elements overlap */
    MPI_Datatype type;
};
extern struct layout layouts[];
enum { families = 5, common = 12 };
extern const int family_bytes[families];
extern MPI_Datatype empty_type; /* no bytes at all */
void layouts_make(void);
void layouts_free(void);
const struct layout *layout_basic(int family);
const struct layout *layout_any(struct random *random, int family, bool to_send);

/* ---- places.c: communicators ---- */
/* Block `out` of source's send buffer goes to block `in` of dest's receive buffer. */
struct edge {
    int source, dest, out, in;
};
struct place {
    const char *name;
    MPI_Comm comm;
    int p, me;
    int most;   /* ranks on one node, which mortar may pretend */
    bool apart; /* they sit on several */
    bool topology;
    /* With a topology: */
    int ins, outs; /* blocks */
    /* Of all ranks, as the host MPI pairs blocks in neighbor_alltoall, and in ..v and ..w: MPICH
     * 4.0 does not in both alike where neighbours are named twice. */
    struct edge *edges[2];
    int edge_count;
    bool all_know; /* the lengths of equal blocks */
};
enum { most_places = 24, plain_places = 7 };
extern struct place places[most_places]; /* the first plain_places have no topology */
extern int place_count;
void places_open(void);
void places_close(void);
const struct edge *edges_for(const struct place *place, enum collective collective);

/* ---- calls.c: the collectives by name ---- */
/* Which blocks go where: of send and receive side, on whom. */
enum pattern { TO_ALL, SPREAD, TO_ROOT, FROM_ROOT, ROOTS, EDGES, EDGES_SPREAD, REDUCTION, NOTHING };
enum {
    SEND_COUNTS = 1,
    RECV_COUNTS = 2,
    TYPES = 4,
    IN_PLACE = 8,
    WIDE = 16 /* displacements are always MPI_Aint */
};
struct traits {
    const char *name;
    enum pattern pattern;
    unsigned has;
};
extern const struct traits traits[COLLECTIVES];
extern struct host mortar; /* as the program calls them; `host` is what mortar does not see */
void hosts_find(void);

/* ---- memory.c: buffers of every kind, with guard bytes around them ---- */
enum kind { KIND_heap, KIND_static, KIND_stack, KIND_mmap, KINDS };
struct buffer {
    enum kind kind;
    char *memory; /* with guards and gaps; what is compared */
    size_t bytes;
    char *base; /* what MPI gets */
};
void arenas(char *stack, size_t bytes);
void arenas_reset(void); /* nobody uses static or stack buffers any more */
/* Room for [low, high) around the base; `offset` bytes off the alignment. false: no memory. */
bool buffer_make(struct buffer *buffer, enum kind kind, ptrdiff_t low, ptrdiff_t high, int offset);
void buffer_free(struct buffer *buffer);

/* ---- beside.c: what else goes on while a collective runs ---- */
enum beside_kind {
    ALONE,
    LATE,
    LEAVE_LATE,
    MESSAGES,
    HOST_BARRIER,
    HOST_COLLECTIVES, /* up to here they may overlap those of the next call */
    IN_RECV,
    IN_PROBE,
    IN_FENCE,
    IN_FILE,
    BESIDES
};
extern const char *const beside_names[BESIDES];
enum { most_requests = 3 };
struct beside {
    MPI_Request requests[most_requests];
    int count;
    char *out, *in;
    int from;      /* whose bytes must have come; -1: none */
    int mine, sum; /* 0, or of an allreduce */
};
struct trial;
void beside_open(const char *path); /* path: of a file that is made; NULL: no file and no window */
void beside_close(void);
void beside_begin(struct beside *beside, const struct trial *trial);
bool beside_end(struct beside *beside, const struct trial *trial);

/* ---- draw.c ---- */
struct trial {
    uint64_t seed;
    int number;
    enum collective collective;
    const char *plan; /* NULL: automatic */
    const struct place *place;
    int root;
    bool in_place, large; /* large: the _c form */
    bool native;          /* mortar leaves it to the host MPI */
    bool by_host;         /* judged by the host MPI's own collective; else by messages */
    bool no_bytes;        /* and all ranks know it */
    int buffers;          /* 0: heap, 1: everything but heap, 2: mixed among ranks and sides */
    enum beside_kind beside;
    int class; /* -1, or the power of two that the sizes of its group have in common */
    /* Of blocks: */
    /* Predefined; one derived type; any of the family for each rank, or block where it may be. */
    enum { PLAIN, ALIKE, MIXED } typing;
    int family;                  /* basic types; where there are types, of each block its own */
    const struct layout *layout; /* unless MIXED */
    int unit;                    /* basic elements that all blocks have a multiple of */
    int units;                   /* of equal blocks; of others about so many: */
    enum { EQUAL, UNIFORM, SPARSE, ONE_HUGE, SHAPES } shape;
    /* Of reductions: */
    int combination; /* row of the table in reductions.c */
    int count;       /* elements of the vector, or of a part */
    char text[512];
};
struct settings {
    uint64_t seed;
    size_t volume; /* bytes that all ranks receive in one trial, at most */
    int cases, only;
    bool automatic, nodes; /* nodes: the plans are those for several nodes */
    bool plain;            /* any call may be the host's own: nothing that hosts do wrong */
    bool alike;            /* the host runs calls too: blocks of one type, or predefined ones */
    const char *file;      /* for trials with MPI_File and MPI_Win; NULL: none */
    const char **plans[COLLECTIVES];
    int plan_count[COLLECTIVES];
};
enum { group = 6 }; /* trials that may run back to back, without anything in between */
/* Draws the trials of group `number`; their count: 1, or more, all on the same place. */
int draw_group(const struct settings *settings, int number, struct trial *trials);

/* ---- one call, laid out on this rank ---- */
struct spot { /* a block */
    const struct layout *layout;
    MPI_Datatype type;
    int count;
    MPI_Aint displ; /* in the call's unit */
    ptrdiff_t at;   /* bytes from the base */
};
struct side {
    bool used; /* significant on this rank */
    int blocks;
    struct spot *spots;
    struct buffer buffer;
    /* What MPI gets: */
    void *memory;
    MPI_Datatype type;
    int count;
    void *counts, *displs;
    MPI_Datatype *types;
};
/* Block of mine to or from a peer. */
struct match {
    int block, peer, tag;
};
struct ready {
    const struct trial *trial;
    struct side send, recv;
    struct match *to, *from;
    int to_count, from_count;
    struct buffer tables; /* counts, displacements, types */
    MPI_Comm comm;
    int root;
    MPI_Op op;
};
/* Makes the call, by `mortar` or `host`. */
void call(const struct host *who, const struct ready *ready);

/* ---- blocks.c ---- */
bool blocks_ready(struct ready *ready, struct random *local);
size_t block_elements(const struct trial *trial, int source, int dest, int in);

/* ---- oracle.c: what must be in memory like that of the receive buffer ---- */
void blocks_by_messages(const struct ready *ready, const char *send, char *recv);

/* ---- reductions.c ---- */
void combinations_make(void);
void combinations_free(void);
int combination_draw(struct random *random, bool plain); /* a row; plain: without gaps */
const char *combination_name(int combination);
bool combination_gaps(int combination);
bool combination_ordered(int combination); /* does not commute */
bool combination_below(int combination);   /* data begin before the element's address */
size_t combination_bytes(int combination); /* extent of an element */
/* Elements that a rank of a reduce_scatter gets; of others all. */
int part_of(const struct trial *trial, int rank);
bool reduction_ready(struct ready *ready, struct random *local);
/* Operands in all elements of a vector; those of a rank have this seed. */
void reduction_fill(const struct ready *ready, char *vector, int count, uint64_t seed);
uint64_t reduction_seed(const struct trial *trial, int rank);
int reduction_result(const struct ready *ready); /* elements that this rank gets */
void reduction_by_folding(const struct ready *ready, char *recv);
/* Values that may be written in several ways get one of them. */
void reduction_canonical(const struct ready *ready, char *vector, int count);

/* ---- trial.c ---- */
extern char trial_text[512]; /* the trial that runs now; the watchdog prints it */
/* Runs trials back to back; `force` is told the plan of each. The number of those that failed here,
 * or -1: the plan is refused. */
int trials_run(const struct trial *trials, int count, int (*force)(const char *));

#endif
