/* SPDX-License-Identifier: BSD-3-Clause */
/* coll.h - the algorithms. They see layouts and bytes, not datatypes: mpi/ has compiled each type
 * to a layout, or packed the data of a type that does not compile. */
#ifndef MORTAR_COLL_H
#define MORTAR_COLL_H

#include "coll/blocks.h"
#include "coll/reduce.h"
#include "coll/single.h"
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
/* A bit for each collective that is named in the list, by commas; `all` names all of them. wrong:
 * the first name that is none, cut; "" if all are right. */
uint32_t collectives_in(const char *list, char wrong[32]);
const char *collective_like(const char *wrong); /* what was probably meant; NULL: unclear */
/* Is the collective in the set? Sets: collectives.h. */
static inline bool among(enum collective collective, unsigned set) { return set >> collective & 1; }
/* Has it blocks of any counts, places and types? Is a block sent to one rank only, not to all? */
static inline bool is_vector(enum collective collective) {
    return among(collective, BIT(alltoallv) | BIT(alltoallw) | BIT(allgatherv) | NEIGHBORS);
}
static inline bool is_personal(enum collective collective) { return among(collective, PERSONAL); }

/* What all ranks know alike about a call. The planner looks at nothing else. */
struct shape {
    enum collective collective;
    /* Bytes of one block, of the vector that is reduced, or of the mean block if all ranks know all
     * counts. */
    size_t bytes;
    /* Only sender and receiver know a block's size: `bytes` is then an estimate, 0 if there is
     * none. */
    bool unsized;
    int beside; /* on a lane: how many lanes each node runs at the same time; 0: no lane */
    /* The operation does not commute, and nodes do not hold consecutive ranks. False if they do. */
    bool ordered;
    /* Results depend on the association, as sums of floating-point numbers do. */
    bool rounds;
};

/* Blocks of 2^(class - 1) .. 2^class - 1 bytes are of one size class. */
static inline int class_of(size_t bytes) { return bytes == 0 ? 0 : 64 - __builtin_clzll(bytes); }

/* All calls of a team that one plan runs. They differ only in the bytes of a block, within one size
 * class. A decision for the whole class must not depend on which call comes first: `can` is asked
 * about the largest, and the cost is that of the least, a power of two as most sizes are. */
struct calls {
    struct shape largest, least;
};
static inline struct calls calls_of(const struct shape *shape) {
    /* No address space holds more, and products with the number of ranks must not overflow. */
    enum { most_class = 48 };
    struct calls calls = {*shape, *shape};
    int class = class_of(shape->bytes);
    if (class > 0) calls.least.bytes = (size_t)1 << (class - 1);
    if (class <= most_class) calls.largest.bytes = ((size_t)1 << class) - 1;
    return calls;
}

/* The neighbourhood of a communicator with a topology. MPI_PROC_NULL neighbours have blocks but no
 * edges. A neighbour that is named twice has two edges. A rank may be its own neighbour. */
struct neighbours {
    int outs; /* blocks of my send buffer */
    int ins;  /* blocks of my receive buffer */
    int to_count, from_count;
    struct edge *to;   /* [to_count] edges that leave me, sorted by `out` */
    struct edge *from; /* [from_count] edges that come to me, sorted by `in` */
    size_t edge_count;
    /* [edge_count] of all ranks, sorted by source and `out`; the same on all ranks. */
    struct edge *edges;
    int lengths; /* of equal blocks, all known to all ranks: 1 or 2; 0: not known (neighbours.c) */
};
/* A team has two, since MPI libraries pair the blocks of a neighbour that is named twice
 * differently in neighbor_alltoall and in its v and w forms. */
static inline int neighbourhood_of(enum collective c) {
    return c == COLL_neighbor_alltoallv || c == COLL_neighbor_alltoallw;
}

/* One call on one rank. alltoall and allgather of contiguous blocks: send and recv hold p blocks,
 * back to back (send of an allgather: one block); in place, send is the part of recv that holds
 * this rank's contribution. Reductions: send is the whole vector, recv what this rank receives; in
 * place, send equals recv. All others: sends and recvs. */
struct call {
    struct shape shape;
    const char *send;
    char *recv;
    bool in_place;
    bool straight; /* if a buffer is out of reach, return OUT_OF_REACH instead of staging it */
    /* Flags of LEAVE: why this rank cannot take part. All ranks must be told. */
    uint32_t trouble;
    /* NULL: send and recv. A side that is not significant on this rank has no blocks. */
    const struct blocks *sends, *recvs;
    size_t longest; /* bytes of the longest block, if all ranks know all of them; else 0 */
    int root; /* of a rooted collective */
    const struct neighbours *neighbours;
    const struct reduction *reduction;
    /* Set for an inner routine, by the algorithm that runs it. Bytes of the block from one rank to
     * another, if every rank knows all of them; NULL: they do not (allgatherv: see recvs). */
    size_t (*bytes_between)(const struct call *call, int source, int dest);
    /* Likewise; the inner routine calls it when the block of a rank has arrived. NULL: no. */
    void (*arrived)(const struct call *call, int source);
    void *asker; /* state of these two callbacks */
};

/* Bytes from the block for rank r to the block for rank r + 1 in a send buffer. */
static inline size_t send_step(const struct shape *shape) {
    return shape->collective == COLL_alltoall ? shape->bytes : 0;
}
static inline size_t send_bytes(const struct shape *shape, int p) {
    return shape->collective == COLL_alltoall ? shape->bytes * (size_t)p : shape->bytes;
}

/* The arguments of a plan. An algorithm takes those that its row in list.h names. */
struct arguments {
    struct walk walk;
    struct copier copier;
    size_t chunk; /* bytes; 0: as many as fit */
    /* Data path to buffers outside the shared heap; 0: they are staged. */
    enum path_id path;
    /* Leaders per node, radix or window, depending on the algorithm; 0: its default. */
    unsigned number;
    /* How tiles of the matrix are assigned to ranks: mnco.c. */
    enum owners { OWNERS_rows, OWNERS_morton } owners;
    /* The routine that runs on the lanes; NULL: the algorithm takes none. */
    const struct routine *inner;
    /* The routine that runs inside the nodes; NULL: the algorithm's own. */
    const struct routine *local;
};
/* An algorithm and its arguments: a plan inside a plan. Never freed. */
struct routine {
    const struct algorithm *algorithm;
    struct arguments arguments;
    char text[64];
};

/* The part of an algorithm that its own file defines. */
struct algorithm_code {
    enum where where;
    /* Ranks may run ahead of each other: a call has no barrier. */
    bool loose;
    /* What runs instead of a loose one where a rank must be able to refuse; NULL: the host MPI. */
    const struct algorithm_code *strict;
    /* Reads a send buffer only before it writes the receive buffer: in place needs no copy. */
    bool copies_in;
    /* Does it combine what MPI_Reduce combines by halves (reduce.h)? NULL: no. */
    bool (*halves)(const struct figures *figures);
    bool any_layout; /* BY_MESSAGES, OVER_NODES: blocks need not be runs of bytes */
    /* ON_NODE: its memory in each team's control block, at team->shared[ALGORITHM_name]. */
    struct shared shared;
    /* OVER_NODES: the collective that its inner routine must do for this collective. NULL: it takes
     * no inner routine. */
    enum collective (*asks)(enum collective collective);
    /* Plan texts that the planner prices, ending with NULL; "%s" stands for each inner routine.
     * NULL: its name alone. */
    const char *const *variants;
    /* Can a team with these figures run all of these calls? An algorithm that can run long blocks
     * must be able to run shorter ones. NULL: always. */
    bool (*can)(const struct figures *figures, const struct calls *calls,
                const struct arguments *arguments);
    /* Prepares a plan once per team, for instance maps peers. Collective; the same answer on all
     * ranks: 0 or -errno. NULL: nothing to prepare. */
    int (*prepare)(struct team *team, const struct arguments *arguments);
    /* Expected seconds, by the alpha-beta formula at the file's head. NULL: never chosen by
     * cost. */
    double (*cost)(const struct figures *figures, const struct shape *shape,
                   const struct arguments *arguments);
    /* Collective over the team. NULL: the host MPI runs it. */
    enum outcome (*run)(struct team *team, const struct call *call,
                        const struct arguments *arguments);
    /* ON_NODE: its calls that take one barrier, of several kinds; see single_for. */
    const struct single *singles[2];
};
/* How a call of this algorithm takes one barrier. NULL: it may take more. Local. */
static inline const struct single *single_for(const struct algorithm_code *code,
                                              const struct team *team, const struct call *call,
                                              const struct arguments *arguments) {
    for (size_t k = 0; k < sizeof code->singles / sizeof code->singles[0]; k++) {
        const struct single *single = code->singles[k];
        if (single && (!single->is || single->is(team, call, arguments))) return single;
    }
    return NULL;
}

/* An algorithm: its row of list.h, and its code. */
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
/* Can this team run calls of this shape and of all others in its size class? The same answer on all
 * ranks. Local. */
bool can_run(const struct algorithm *algorithm, const struct arguments *arguments,
             const struct figures *f, const struct shape *shape);

/* ---- far.c: shared by the algorithms that send messages ---- */
/* far_begin starts a call of messages; with trouble of LEAVE this rank's part is lost (messages.h).
 * ends_here: no rank forwards what it receives. far_end drops the scratch memory and sets
 * blocks_cut if a message was truncated. FAILED: this rank's part is lost. */
void far_begin(struct team *team, const struct call *call, bool ends_here);
enum outcome far_end(struct team *team);
/* Scratch memory for data, until far_end. NULL: there is none, and this rank's part is lost. */
char *far_take(struct team *team, size_t bytes);
/* The same as can_run, for a routine inside a plan. Local. */
bool routine_fits(const struct routine *routine, const struct figures *f,
                  const struct calls *calls);
/* False: the inner routine, `native`, may not be able to count so many bytes of a rank. Local. */
bool inside_counts(const struct arguments *arguments, double bytes);
/* Like the members of struct algorithm_code, for a routine on a team: a lane, or the team of a
 * node. `native` runs on a communicator of the lane, which prepare makes. Cost -1: unknown. */
int routine_prepare(const struct routine *routine, struct team *team);
enum outcome routine_run(const struct routine *routine, struct team *team, const struct call *call);
double routine_cost(const struct routine *routine, const struct figures *f,
                    const struct shape *shape);
/* Makes the first `lanes` lanes and prepares the inner routine on each. Collective; the same answer
 * on all ranks: 0 or -errno. */
int lanes_prepare(struct team *team, const struct arguments *arguments, int lanes);
/* The largest power of two that is at most p. */
static inline int power_in(int p) {
    int power = 1;
    while (power <= p / 2) power *= 2;
    return power;
}
/* Bytes of the block from source to dest: from bytes_between, or else from this rank's own blocks
 * if it is source or dest. SIZE_MAX: unknown on this rank. */
size_t block_between(const struct team *team, const struct call *call, int source, int dest);
/* Seconds until all messages of a burst, of `bytes` each, have arrived; and the same for messages
 * one after the other. As many ranks of each node do so at the same time as `shape` says. */
double burst_seconds(const struct figures *f, const struct shape *shape, double messages,
                     double bytes);
double steps_seconds(const struct figures *f, const struct shape *shape, double steps,
                     double bytes);

/* ---- cost.c ---- */
/* Does an exchange of blocks of this size move more than the node's last-level caches hold? */
bool streams(const struct figures *f, size_t bytes);
/* The same for a call of this shape; it counts the blocks that the collective moves. */
bool call_streams(const struct figures *f, const struct shape *shape);
/* Seconds to copy `blocks` blocks of `bytes` each on a processor that runs one rank only. */
double copy_seconds(const struct figures *f, double blocks, size_t bytes);
/* The second copy of blocks that go through the stage: faster if the stage stays in the caches. */
double staged_seconds(const struct figures *f, double blocks, size_t bytes);
/* How many blocks a rank receives; for neighbourhoods, where ranks differ, a usual number. */
double typical_blocks(const struct figures *f, const struct shape *shape);
/* Ranks per processor, if the node is oversubscribed; at least 1. */
double crowding(const struct figures *f);

/* ---- staged.c: cico's exchange, also used for buffers out of reach ---- */
/* Exchanges through the team's stage in rounds of `chunk` bytes per block (0: as much as fits), one
 * barrier a round. Send buffers that the posts of half `posts` call reachable are read in place;
 * posts < 0: none. DONE, or LEFT when a rank has trouble of LEAVE. */
enum outcome staged_exchange(struct team *team, const struct call *call, size_t chunk, int posts);
extern const struct single staged_single; /* such an exchange, posts < 0, in one round */
/* Finishes a call whose ranks have posted whole buffers (publish, in this half) and met trouble at
 * the barrier. LEFT: some rank cannot take part. OUT_OF_REACH: a buffer is out of reach, and the
 * call is `straight`. STAGED: done through the stage. Blocks that are no runs of bytes go by
 * typed_exchange. Every rank must call it. */
enum outcome turn_away(struct team *team, const struct call *call,
                       const struct arguments *arguments, uint32_t half, uint32_t trouble);

/* ---- blocks.c: the sides of a call, published buffers ---- */
/* The two sides of an exchange as blocks; one without a description is equal runs. Local. */
void sides_of(const struct team *team, const struct call *call, struct blocks *sends,
              struct blocks *recvs);
/* Writes my post for the next barrier and returns the trouble flags to arrive with. others_write:
 * my receive buffer must be reachable. */
uint32_t publish(struct team *team, const struct call *call, bool others_write);
/* After the last barrier, if peers may have written to what was published in this half. Local. */
void take_back(const struct team *team, const struct call *call, uint32_t half);
/* Copies a cell's block between two ranks' buffers. writable: through the writable mapping. */
void copy_cell(const struct team *team, const struct shape *shape, uint32_t half, struct cell cell,
               bool writable, const struct copier *copier);

/* ---- offers.c: blocks of any kind; see also offers.h ---- */
/* More arrived for a block of mine than it has room for; the part that fits was copied. Each rank
 * calls fit_block for its own blocks, also for those that others copy. It changes only what this
 * rank's call returns; the caller clears it before a call. */
extern _Thread_local bool blocks_cut;
static inline void fit_block(const struct block *mine, size_t bytes) {
    if (__builtin_expect(bytes > block_bytes(mine), 0)) blocks_cut = true;
}
/* Shortens a block to `room` bytes. */
static inline void cut_block(struct block *block, size_t room) {
    if (block_bytes(block) <= room) return;
    block->elements = room / block->layout->size;
    blocks_cut = true;
}
/* Copies the data of one block to another; does nothing if both are in the same place. Local. */
void relay_block(const struct block *to, const struct block *from, const struct copier *copier);
/* Copies a block of this rank's to where it receives it from itself, as a message would bring it.
 * Local. */
void relay_own(const struct blocks *to, int into, const struct blocks *from, int block);
/* Bytes of all blocks when packed, and of the longest of them. Local. */
size_t blocks_bytes(const struct blocks *blocks);
size_t longest_of(const struct blocks *blocks);
/* Can peers touch these blocks, and read their counts, displacements and layouts, in my region?
 * Needs team_map first. *shown: the same blocks with addresses in the region. See team_shows.
 * Local. */
bool blocks_shown(const struct team *team, const struct blocks *blocks, enum showing how,
                  struct blocks *shown);
/* Only the counts, displacements and layouts; *shown must be a copy of *blocks. */
bool tables_shown(const struct team *team, const struct blocks *blocks, enum showing how,
                  struct blocks *shown);

/* ---- vector.c: exchanges of blocks of any counts, places and types ---- */
/* Exchanges the blocks of call->sends and call->recvs as an alltoall, an allgather or along the
 * edges of a neighbourhood. A rank stages up to `most` bytes in all. Longer blocks are read in
 * place or, if out of reach, staged in rounds. most SIZE_MAX: everything is staged, and no peer's
 * memory is needed. DONE, or LEFT when a rank has trouble of LEAVE. */
enum outcome vector_exchange(struct team *team, const struct call *call,
                             const struct arguments *arguments, size_t most);
/* The same for an alltoall or allgather with trouble TYPED. A rank with contiguous blocks may leave
 * sends and recvs NULL. */
enum outcome typed_exchange(struct team *team, const struct call *call,
                            const struct arguments *arguments, size_t most);
/* Up to this many bytes, in blocks of `block` bytes, a second copy costs a rank less than the
 * barrier that it saves. */
enum { usual_block = 4096 };
size_t short_bytes(const struct figures *f, size_t block);
size_t short_in(struct team *team); /* the same for usual blocks, worked out once */
extern const struct single vector_single; /* vector_exchange with most = short_in, in one round */

/* ---- outside.c: pull with buffers outside the shared heap ---- */
/* Prepares the path and the order that a walk may need. Collective; the same answer on all ranks: 0
 * or -errno. */
int outside_prepare(struct team *team, const struct arguments *arguments);
/* Adds flags to the trouble of publish: for a buffer that the path must not expose to peers. */
uint32_t outside_trouble(const struct team *team, const struct call *call,
                         const struct arguments *arguments, uint32_t trouble);
/* True: in this walk ranks write to each other's receive buffers. The same on all ranks. */
bool outside_others_write(const struct arguments *arguments, uint32_t trouble);
/* Copies my cells, by load and store if both buffers are mapped, else by the path. False: the path
 * failed. Local. */
bool outside_walk(struct team *team, const struct call *call, uint32_t half,
                  const struct arguments *arguments, uint32_t trouble);

#endif
