/* SPDX-License-Identifier: BSD-3-Clause */
/* coll.h - the algorithms. They see layouts and bytes, not datatypes: mpi/ has compiled those, or
 * packed what does not compile. */
#ifndef MORTAR_COLL_H
#define MORTAR_COLL_H

#include "coll/reduce.h"
#include "copy/copy.h"
#include "order/order.h"
#include "reach/reach.h"

enum collective {
#define COLLECTIVE(name, ...) COLL_##name,
#include "coll/collectives.h"
#undef COLLECTIVE
    COLLECTIVES
};
extern const char *const collective_names[COLLECTIVES];
/* Is it one of a set of collectives.h? */
static inline bool among(enum collective collective, unsigned set) { return set >> collective & 1; }

/* What is the same on every rank. */
struct shape {
    enum collective collective;
    /* Of one block, of the vector that is reduced, or of the mean block where all know all
     * counts. */
    size_t bytes;
    bool unsized; /* the ranks do not all know: bytes is what they expect; 0: nothing is known */
    int beside;   /* for a lane: how many lanes each node runs at the same time; 0: of all ranks */
    /* The operation does not commute, and the ranks of a node do not follow each other (not said
     * where they do). */
    bool ordered;
    /* Results depend on how the operation is bracketed, as sums of floating-point numbers do. */
    bool rounds;
};

/* Blocks of 2^(class - 1) .. 2^class - 1 bytes are of one size class. */
static inline int class_of(size_t bytes) { return bytes == 0 ? 0 : 64 - __builtin_clzll(bytes); }

/* All calls of a team that one plan runs: alike but for the bytes of a block, which are of one size
 * class. What is decided once for all of them never sees the one that happens to come first:
 * whether a plan can run them is asked of the largest; what is priced is the least, a power of two
 * as most sizes are. */
struct calls {
    struct shape largest, least;
};
static inline struct calls calls_of(const struct shape *shape) {
    /* No address space holds more; and products with numbers of ranks must not overflow. */
    enum { most_class = 48 };
    struct calls calls = {*shape, *shape};
    int class = class_of(shape->bytes);
    if (class > 0) calls.least.bytes = (size_t)1 << (class - 1);
    if (class <= most_class) calls.largest.bytes = ((size_t)1 << class) - 1;
    return calls;
}

/* How the blocks of one side of a call lie, on the rank whose call it is; block_of(b) takes one
 * out. */
struct blocks {
    char *base;
    int count;                           /* of blocks */
    const struct layout *layout;         /* of all elements, unless there are layouts */
    const struct layout *const *layouts; /* [count]: one for each block; NULL: all alike */
    const void *counts;                  /* [count] elements of each block; NULL: `each` */
    /* [count] where each begins, in units from base; NULL: equal blocks, one behind the other. */
    const void *displs;
    size_t each;
    ptrdiff_t unit;                   /* bytes */
    uint8_t count_width, displ_width; /* bytes of an entry: sizeof(int), or 8 */
};
/* One of them. */
struct block {
    char *at;
    size_t elements;
    const struct layout *layout;
};
static inline int64_t entry_of(const void *entries, int width, int b) {
    return width == 8 ? ((const int64_t *)entries)[b] : ((const int32_t *)entries)[b];
}
static inline struct block block_of(const struct blocks *blocks, int b) {
    struct block block = {.layout = blocks->layouts ? blocks->layouts[b] : blocks->layout};
    block.elements =
        blocks->counts ? (size_t)entry_of(blocks->counts, blocks->count_width, b) : blocks->each;
    ptrdiff_t at = blocks->displs
                       ? (ptrdiff_t)entry_of(blocks->displs, blocks->displ_width, b) * blocks->unit
                       : b * (ptrdiff_t)blocks->each * block.layout->extent;
    block.at = blocks->base + at;
    return block;
}
static inline size_t block_bytes(const struct block *block) {
    return block->elements * block->layout->size;
}
/* Do the data of both lie in the same place? Buffers of a call share no byte unless it is in place,
 * so the first byte tells. The address alone does not: elements may begin before or behind their
 * data. */
static inline bool is_same_place(const struct block *a, const struct block *b) {
    return a->at + a->layout->low == b->at + b->layout->low;
}

/* The neighbourhood of a communicator with a topology. Neighbours that are nobody (MPI_PROC_NULL)
 * have blocks but no edges; a neighbour that is named twice has two edges; a rank may be its own
 * neighbour. */
struct neighbours {
    int outs, ins;            /* blocks of my send and receive buffers */
    int to_count, from_count; /* edges that leave me, by `out`; that come to me, by `in` */
    struct edge *to, *from;
    size_t edge_count; /* of all ranks, by source and `out`; the same on all ranks */
    struct edge *edges;
    /* The graph is one piece, so all ranks know the size of equal blocks. The same on all ranks. */
    bool connected;
};
/* A team has two: where a neighbour is named twice, MPI libraries pair blocks in one way for
 * neighbor_alltoall and in another for its ..v and ..w. */
static inline int neighbourhood_of(enum collective c) {
    return c == COLL_neighbor_alltoallv || c == COLL_neighbor_alltoallw;
}

/* One call on one rank. alltoall and allgather whose blocks are runs of bytes: the buffers hold p
 * blocks, back to back (send of an allgather: one block); in place, send is the part of recv that
 * holds this rank's contribution. Those that combine: send is the whole vector, recv what this rank
 * receives; in place, send is recv. All others: sends, recvs. */
struct call {
    struct shape shape;
    const char *send;
    char *recv;
    bool in_place;
    bool straight; /* rather not at all than staged */
    /* Of LEAVE: why this rank cannot take part; all ranks have to be told. */
    uint32_t trouble;
    /* NULL: runs in send and recv. A side that is not significant here has no blocks. */
    const struct blocks *sends, *recvs;
    int root; /* of a rooted collective */
    const struct neighbours *neighbours;
    const struct reduction *reduction;
    /* Given to what runs on a lane by what asked for it: the bytes of the block from one rank to
     * another, where all ranks know all of them without asking (NULL: they do not; allgatherv:
     * recvs tells); and what is told when the block of a rank has come. */
    size_t (*bytes_between)(const struct call *call, int source, int dest);
    void (*arrived)(const struct call *call, int source);
    void *asker; /* whose these two are */
};

/* How far apart the blocks for two neighbouring ranks lie in a send buffer. */
static inline size_t send_step(const struct shape *shape) {
    return shape->collective == COLL_alltoall ? shape->bytes : 0;
}
static inline size_t send_bytes(const struct shape *shape, int p) {
    return shape->collective == COLL_alltoall ? shape->bytes * (size_t)p : shape->bytes;
}

/* The arguments of a plan; each algorithm takes some of them, named in its row. */
struct arguments {
    struct walk walk;
    struct copier copier;
    size_t chunk; /* bytes; 0: what fits */
    /* To buffers outside the shared heap; 0: they are staged. */
    enum path_id path;
    /* Leaders of a node, radix, window: the algorithm says; 0: what is usual. */
    unsigned number;
    /* Whose part of the matrix of nodes a rank transposes: mnco.c. */
    enum owners { OWNERS_rows, OWNERS_morton } owners;
    /* What runs on the lanes; NULL where not taken. */
    const struct routine *inner;
    /* What runs inside the nodes; NULL: the algorithm's own way. */
    const struct routine *local;
};
/* An algorithm and its arguments: a plan in a plan. Lives for ever. */
struct routine {
    const struct algorithm *algorithm;
    struct arguments arguments;
    char text[64];
};

/* What run returns, the same on all ranks: done; done, but some buffer was out of reach and had to
 * be staged; or, before any byte moved, left to the host MPI because of a rank's trouble, or
 * because staging was not wanted. On this rank only: failed. */
enum outcome { DONE, STAGED, LEFT, OUT_OF_REACH, FAILED };

/* What an algorithm's file defines. */
struct algorithm_code {
    enum where where;
    /* A call does not hold all ranks together (others have a barrier in each call). */
    bool loose;
    /* Reads a send buffer only before it writes the receive buffer: in place needs no copy
     * first. */
    bool copies_in;
    bool any_layout; /* BY_MESSAGES, OVER_NODES: blocks need not be runs of bytes */
    /* ON_NODE: memory that it has in each team, at team->shared[ALGORITHM_name]. */
    struct shared shared;
    /* OVER_NODES: the collective that runs on the lanes for each of these; NULL: it takes no inner
     * routine. */
    enum collective (*asks)(enum collective collective);
    /* Texts of its plans that the planner weighs; "%s" stands for each inner routine. NULL: its
     * name alone. Ends with NULL. */
    const char *const *variants;
    /* Can a team with these figures run all of these calls? What can run long blocks can run
     * shorter ones. NULL: always. */
    bool (*can)(const struct figures *figures, const struct calls *calls,
                const struct arguments *arguments);
    /* What a plan needs once: mappings, parts of orders. Collective; same answer on all ranks: 0 or
     * -errno. NULL: nothing. */
    int (*prepare)(struct team *team, const struct arguments *arguments);
    /* Expected seconds: the alpha-beta formula of the file's head. NULL: not to be chosen by
     * cost. */
    double (*cost)(const struct figures *figures, const struct shape *shape,
                   const struct arguments *arguments);
    /* Collective over the team. NULL: the host MPI runs it. */
    enum outcome (*run)(struct team *team, const struct call *call,
                        const struct arguments *arguments);
};

/* What its row in list.h adds. */
struct algorithm {
    const char *name, *takes, *about;
    unsigned collectives; /* bit set of enum collective */
    const struct algorithm_code *code;
};

enum algorithm_id {
#define ALGORITHM(name, collectives, takes, about) ALGORITHM_##name,
#include "coll/list.h"
#undef ALGORITHM
    ALGORITHMS
};
extern const struct algorithm algorithms[ALGORITHMS];

/* ---- algorithms.c ---- */
/* Can this team run calls of this shape, and all others that have the same plan? Looks only at what
 * is the same on all ranks. Local. */
bool can_run(const struct algorithm *algorithm, const struct arguments *arguments,
             const struct figures *f, const struct shape *shape);

/* ---- far.c: what algorithms that send messages have in common ---- */
/* A call of messages begins, lost where this rank has trouble of LEAVE (messages.h); ends_here: no
 * rank hands on what came to it. It ends, drops the scratch memory, and has failed where the part
 * is lost; blocks_cut, too, is set. */
void far_begin(struct team *team, const struct call *call, bool ends_here);
enum outcome far_end(struct team *team);
/* Scratch memory for data; without, the part is lost. */
char *far_take(struct team *team, size_t bytes);
/* can_run, for a routine inside a plan. Local. */
bool routine_fits(const struct routine *routine, const struct figures *f,
                  const struct calls *calls);
/* The two sides of an exchange as blocks; what is not described by blocks yet is equal runs of
 * bytes. Local. */
void sides_of(const struct team *team, const struct call *call, struct blocks *sends,
              struct blocks *recvs);
/* A routine on a team: a lane, or for local ones the team of a node. The host MPI's own runs on a
 * communicator of the lane, which prepare makes. As the members of struct algorithm_code are; cost
 * -1: it cannot be told. */
int routine_prepare(const struct routine *routine, struct team *team);
enum outcome routine_run(const struct routine *routine, struct team *team, const struct call *call);
double routine_cost(const struct routine *routine, const struct figures *f,
                    const struct shape *shape);
/* Makes the first so many lanes, and what the inner routine needs on each. Collective; same answer
 * on all ranks: 0 or -errno. */
int lanes_prepare(struct team *team, const struct arguments *arguments, int lanes);
/* Blocks that are runs of so many bytes at so many bytes from base. */
static inline struct blocks byte_runs(char *base, int count, const int64_t *counts,
                                      const int64_t *displs) {
    return (struct blocks){base, count, &layout_bytes, NULL, counts, displs, 0, 1, 8, 8};
}
/* A block that is a run of bytes. */
struct run {
    char *at;
    size_t bytes;
};
static inline struct run run_of(const struct blocks *blocks, int b) {
    struct block block = block_of(blocks, b);
    return (struct run){block.at, block_bytes(&block)};
}
/* The bytes of the block from source to dest, by bytes_between, or, where it is not asked, as this
 * rank knows them: source or dest is me. SIZE_MAX: not known here. */
size_t block_between(const struct team *team, const struct call *call, int source, int dest);
/* Seconds until so many messages of so many bytes each, sent at once, have come, when so many ranks
 * of each node do alike; and one message after the other. The ranks of `shape`. */
double burst_seconds(const struct figures *f, const struct shape *shape, double messages,
                     double bytes);
double steps_seconds(const struct figures *f, const struct shape *shape, double steps,
                     double bytes);

/* ---- cost.c ---- */
/* Is what an exchange of blocks of so many bytes moves too much for the node's last caches? */
bool streams(const struct figures *f, size_t bytes);
/* The same of what a call of this shape moves. */
bool call_streams(const struct figures *f, const struct shape *shape);
/* Seconds to copy so many blocks of so many bytes on one processor that nobody else wants. */
double copy_seconds(const struct figures *f, double blocks, size_t bytes);
/* How many blocks a rank receives; among neighbours nobody knows, so a number that is usual. */
double typical_blocks(const struct figures *f, const struct shape *shape);
/* How many ranks share a processor while all copy; at least 1. */
double crowding(const struct figures *f);

/* ---- staged.c: what cico does, and what the others do with buffers that peers cannot reach
 * ---- */
/* Exchanges through the team's stage in rounds of `chunk` bytes per block (0: as much as fits), one
 * barrier a round. Ranks whose post in half `posts` says so are read straight from their buffers;
 * posts < 0: nobody. DONE, or LEFT when a rank has trouble of LEAVE. */
enum outcome staged_exchange(struct team *team, const struct call *call, size_t chunk, int posts);
/* For a rank that has posted whole buffers (publish, in this half) and met trouble at the barrier:
 * all that is left to do. LEFT: some rank cannot take part. OUT_OF_REACH: a buffer is, and the call
 * is rather not done at all than staged. STAGED: done through the stage, as are blocks of any type
 * (typed_exchange). Every rank must ask. */
enum outcome turn_away(struct team *team, const struct call *call,
                       const struct arguments *arguments, uint32_t half, uint32_t trouble);

/* ---- blocks.c: published buffers ---- */
/* Writes my post for the next barrier and returns the trouble to arrive with. others_write: my
 * receive buffer must be reachable. */
uint32_t publish(struct team *team, const struct call *call, bool others_write);
/* Copies the block of one cell between two ranks' buffers. writable: use the mapping that may be
 * written. */
void copy_cell(const struct team *team, const struct shape *shape, uint32_t half, struct cell cell,
               bool writable, const struct copier *copier);

/* ---- offers.c: blocks of any kind; the rest in offers.h ---- */
/* Since this thread cleared it: more came for a block of mine than it has room for. What fits has
 * been copied. Whoever copies to my block, or another's to mine, says so by fit_block; it decides
 * nothing, but what this rank's call returns. */
extern _Thread_local bool blocks_cut;
static inline void fit_block(const struct block *mine, size_t bytes) {
    if (__builtin_expect(bytes > block_bytes(mine), 0)) blocks_cut = true;
}
/* A block that goes where so many bytes have room: the rest is cut off. */
static inline void cut_block(struct block *block, size_t room) {
    if (block_bytes(block) <= room) return;
    block->elements = room / block->layout->size;
    blocks_cut = true;
}
/* Copies the data of one block to another's places; nothing where they are the same. Local. */
void relay_block(const struct block *to, const struct block *from, const struct copier *copier);
/* All bytes of the blocks, packed. Local. */
size_t blocks_bytes(const struct blocks *blocks);
/* Can peers read everything that belongs to these blocks in my region? Not before they have mapped
 * it (team_map). *shown: with addresses there. Local. */
bool blocks_shown(const struct team *team, const struct blocks *blocks, struct blocks *shown);

/* ---- vector.c: exchanges of blocks of any counts, places and types ---- */
/* Exchanges what call->sends and call->recvs describe, alltoall-like, allgather-like or along the
 * edges of a neighbourhood. A rank stages up to `most` bytes; what is longer peers read where it
 * lies, or, out of reach, through the stage in rounds. most SIZE_MAX: everything is staged, and no
 * peer's memory is needed. DONE, or LEFT when a rank has trouble of LEAVE. */
enum outcome vector_exchange(struct team *team, const struct call *call,
                             const struct arguments *arguments, size_t most);
/* The same for an alltoall or allgather with trouble TYPED; a rank whose blocks are runs of bytes
 * need not describe them. */
enum outcome typed_exchange(struct team *team, const struct call *call,
                            const struct arguments *arguments, size_t most);
/* Up to how many bytes, in blocks of so many, a second copy costs a rank less than the barrier that
 * it saves. */
enum { usual_block = 4096 };
size_t short_bytes(const struct figures *f, size_t block);
/* Does the collective have blocks of any kind? Is a block sent to one rank only (else to all)? */
bool is_vector(enum collective collective);
bool is_personal(enum collective collective);

/* ---- outside.c: pull with buffers outside the shared heap ---- */
/* What it needs once: the path, and parts of orders. Collective; same answer on all ranks: 0 or
 * -errno. */
int outside_prepare(struct team *team, const struct arguments *arguments);
/* More trouble for publish's: a buffer that the path must not show to peers. */
uint32_t outside_trouble(const struct team *team, const struct call *call,
                         const struct arguments *arguments, uint32_t trouble);
/* Copies my cells, by load and store where it can be and by the path elsewhere. False: the path
 * failed. Local. */
bool outside_walk(struct team *team, const struct call *call, uint32_t half,
                  const struct arguments *arguments, uint32_t trouble);

#endif
