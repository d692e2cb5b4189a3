/* SPDX-License-Identifier: BSD-3-Clause */
/* reach.h - teams: a team is one communicator as mortar keeps it. Also access to a peer's memory,
 * the barrier and waiting. Set-up functions return 0 or -errno.
 *
 * Memory rule of the control block. A rank writes its post, staged bytes and trouble for barrier e
 * into half e & 1 before it arrives there. Any rank may read that half from the release of barrier
 * e until it arrives at barrier e + 1 itself. The half is written again only for barrier e + 2,
 * after all ranks have arrived at e + 1. So one barrier per exchange is enough. */
#ifndef MORTAR_REACH_H
#define MORTAR_REACH_H

#include "base/base.h"
#include "order/order.h"
#include "reach/figures.h"
#include "reach/flag.h"
#include "reach/ledger.h"
#include "reach/messages.h"
#include "reach/patience.h"

#include <stdatomic.h>

struct chunk;
struct heap_region;
struct iovec;
struct kept;
struct team;

/* What a rank tells the others about one call; one cache line per rank. */
struct post {
    /* The buffers: offsets into the rank's region where reachable, else addresses of its own. */
    _Alignas(64) uint64_t send;
    uint64_t recv;
    uint32_t send_reachable, recv_reachable;
    int64_t owner;  /* while a data path is opened: the rank's process id, or its XPMEM segment */
    double entered; /* clock_seconds when the rank entered the call; see waits.c */
};

/* Status flags of a rank in a call. Every barrier returns the OR over all ranks. */
enum trouble {
    /* A send buffer lies outside its rank's region, or is also the receive buffer. */
    SEND_UNREACHABLE = 1,
    RECV_UNREACHABLE = 2,
    NO_MEMORY = 4,                 /* a rank could not get scratch memory */
    ON_DEVICE = 16,                /* a buffer lies in a device's memory */
    LEAVE = NO_MEMORY | ON_DEVICE, /* if any is set, all ranks leave the call to the host MPI */
    REFUSED = 8,                   /* a rank says false in team_agree */
    /* No peer may touch a buffer: it is overwritten while it is sent, or not mapped in full. */
    MUST_STAGE = 32,
    PATH_LOST = 64, /* a data path failed during the call */
    /* A rank's blocks are read in place: no rank returns before all have read. */
    IN_PLACE = 128,
    MORE = 256, /* a rank's staged blocks continue in another round */
    /* A rank's equal blocks are not contiguous: all run the call as one with irregular blocks. */
    TYPED = 512,
    CHANGED = 1024,  /* a rank's counts differ from those of the call before */
    CUT = 2048,      /* a message was longer than a rank's room for it */
    FOR_GOOD = 4096, /* a buffer that peers cannot touch will stay so; see SHOWN_NEVER */
};

/* Where some ranks, or gates, of a barrier meet; see sync.c. */
struct gate {
    _Alignas(64) _Atomic uint32_t arrived; /* arrivals since it was new; wraps */
    _Atomic uint32_t told;                 /* trouble of those that have arrived */
    _Alignas(64) struct flag opened;       /* how often; wraps */
    _Atomic uint32_t trouble;              /* of all ranks, when it was opened last */
};
/* How many sums one sums_add adds to. */
enum { sum_words = 4 };
/* A rank's way up to the last gate. */
enum { most_rungs = 16 };
struct rung {
    struct gate *gate;
    uint32_t width;       /* how many arrive there: ranks, or the gates below it */
    uint32_t first, step; /* the first seat below the gate; how many seats each of them has */
};

/* A rank's own line in a barrier of few ranks, in which each watches those of all others; see
 * sync.c. Two lines apart, since processors fetch pairs of them. */
enum { BEACON_INSIDE = 48 };
struct beacon {
    _Alignas(128) struct flag lit;           /* how often; wraps */
    _Atomic uint32_t trouble;                /* the rank's */
    _Alignas(16) char inside[BEACON_INSIDE]; /* what the rank stages, if it is as short */
};

struct control {
    struct gate gate; /* where all ranks meet, unless sync_shape has given them others */
    _Atomic uint32_t sync_nanoseconds;   /* of one barrier, as rank 0 measured it */
    _Atomic uint64_t l2_bytes, l3_bytes; /* of rank 0's processor */
    _Atomic uint64_t birth;              /* of the team, see struct team */
    /* [turn][value], never reset; see sums_add. */
    _Alignas(64) _Atomic uint64_t sums[2][sum_words];
    /* [half] rank 0's text in team_tell, such as the plan from its tuning file. */
    _Alignas(64) char advice[2][64];
    _Alignas(64) struct latest {
        double entered;
        int32_t rank;
    } latest[2];         /* [half] the rank that entered the call last; see waits.c */
    struct post posts[]; /* [half][p]; the cards and the stage follow */
};

/* Bytes of a rank's card, which holds what does not fit into its post: see coll/node/vector.c. */
enum { CARD_BYTES = 384 };

/* Memory that the ranks of a team on one node share for one algorithm: `all` bytes, then `each`
 * bytes for every rank; both are multiples of 64. It starts as zeros. Untouched pages take no
 * memory. */
struct shared {
    size_t all, each;
};
enum { most_shared = 48 };
/* Size of shared memory that algorithm `which` wants; in coll/algorithms.c. */
extern const int shared_count;
struct shared shared_wanted(int which);

/* The first sums of a communicator, which the host MPI runs; the same on all ranks. See
 * start_sums. */
struct early {
    bool over;       /* mortar runs sums, too */
    uint64_t weight; /* of those so far */
};

/* What this rank waited for in one call; see waits.c. */
struct waits {
    bool on;              /* inside a call that is to be reported */
    bool open;            /* on, and the call has not passed the team's barrier yet */
    double entered;       /* clock_seconds when I entered the call */
    double began, length; /* my latest wait: clock_seconds at its begin, and its seconds */
    double seconds;       /* of all waits of this call */
    double late_seconds;  /* the part of them spent on ranks that had not entered the call yet */
    int late_count;
    struct late {
        int rank;
        double seconds;
    } *late; /* [p], late_count used: those ranks; NULL until the first call that is reported */
};

/* The data paths: ways to a peer's memory. */
enum path_id {
#define PATH(name, about) PATH_##name,
#include "reach/list.h"
#undef PATH
    PATHS
};

/* What the file of a data path defines, for buffers outside the region. A path has either `read`,
 * which copies, or `hold`, which makes a peer's memory addressable. */
struct path_code {
    /* Sets the path up between every pair of ranks. Collective; 0 on all ranks, or -errno on all.
     * NULL: nothing to set up; plans do not name the path. */
    int (*open)(struct team *team, void **state);
    void (*close)(struct team *team, void *state);
    /* Called after the last MPI call of the program. NULL: nothing to do. */
    void (*finish)(void);
    /* Copies `count` pieces from a peer's addresses to mine; from[i] and to[i] have equal lengths.
     * Overwrites both lists. 0 or -errno. Local. */
    int (*read)(void *state, int rank, struct iovec *to, struct iovec *from, size_t count);
    /* Address of a peer's buffer in my address space, valid until drop; NULL: not available.
     * receives: its receive buffer, else its send buffer. The range of each must not change until
     * drop. Local. */
    char *(*hold)(void *state, int rank, bool receives, uint64_t address, size_t bytes);
    void (*drop)(void *state);
    /* Expected seconds to read a block of `bytes`, from memory or from caches. NULL: the same as
     * loads and stores. */
    double (*block_seconds)(size_t bytes, bool through_memory);
    /* True: all of this memory of mine is mapped, so that a peer can touch it safely. Local. */
    bool (*sound)(const void *memory, size_t bytes);
};
struct path {
    const char *name, *about;
    const struct path_code *code;
};
extern const struct path paths[PATHS];

/* Estimate for the next calls of one collective, the same on all ranks. On one node it is the last
 * call that brought news, on the rank that sent most; over several nodes the mean of earlier calls.
 * It is kept for up to sure_calls calls that bring no news. That number is prime, so that a program
 * that alternates between a few call sites has all of them sampled. */
enum { sure_calls = 251 };
struct last_call {
    uint64_t bytes;   /* sent by that rank; over several nodes: per block. 0: nothing is known */
    bool uneven;      /* some rank's blocks were not all equal */
    uint32_t left;    /* further calls for which the estimate is kept */
    uint32_t sure;    /* over several nodes: for how many calls it was kept when it was made */
    uint64_t mine[2]; /* over several nodes: bytes and blocks of this rank since then */
};

struct reached {
    bool tried; /* open has been called */
    int error;  /* result of open, the same on all ranks, or -EPERM after team_loses_path */
    void *state;
};

enum { BOXES = 32, BOX_INSIDE = 832 }; /* boxes per rank, and bytes in one; see box.c, below */

struct team {
    /* What short calls touch comes first. Where ranks share processors, a call costs mostly the
     * cache lines and pages that it touches. */
    int p, me;
    int first; /* whose data I take first where all take all: ranks begin far apart (order.h) */
    uint32_t calls; /* number of calls in my ledger; the same on all ranks; wraps */
    /* Not NULL: the reason why the host MPI runs all calls; then nothing below is set. Static. */
    const char *why_native;
    /* Over several nodes, else NULL; see messages.h. Such a team has no shared memory of its own:
     * that is in `node`, the team of the ranks of my node. */
    struct wire *wire;
    struct shortcuts *shortcuts; /* calls that mpi/known.c remembers; one malloc block */
    struct ledger *ledger;  /* mine; with a wire that of `node`; NULL: none */
    struct beacon *beacons; /* [2][p]; NULL: the ranks meet at gates, see sync_watch */
    char *stage;            /* [2][p][figures.slot] bytes */
    size_t stage_half;      /* bytes of each of the two */
    struct patience patience;
    bool failed;         /* a call returned an error on this rank */
    uint32_t epoch;      /* barriers that I have passed; wraps */
    uint32_t opened;     /* barriers at its gates since they were new; wraps */
    uint32_t climbed;    /* rungs where I was the last to arrive in this barrier */
    uint32_t trouble;    /* that I have found there */
    uint32_t rung_count; /* of a barrier with one gate 1 */
    uint32_t lit[2];     /* [half] how often I lit my beacon; wraps */
    struct waits waits;
    struct rung rungs[most_rungs];
    struct early early;
    /* Tells this team from all others that its ranks have; the same on all ranks; 0: unknown. */
    uint64_t birth;
    struct figures figures; /* the same on all ranks; figures.p == p */
    /* May MPI_Reduce combine vectors in the order of arrival? Option REDUCE, as on all ranks. */
    bool by_arrival;
    bool many_threads; /* other threads of this rank may be in calls of other teams */
    struct figures fullest; /* OVER_NODES: what figures.node points to */
    struct places *places;
    struct team *node;
    struct team **lanes;   /* [places->most]; NULL where not asked for yet */
    struct chunk *scratch; /* see keep.c */
    struct kept *kept;
    size_t scratch_wish;
    /* Called before the team is freed: receives messages that are in flight to me. NULL: none. */
    void (*settle)(struct team *team);
    struct control *control; /* shared memory of one node; see team_attach */
    size_t control_bytes;
    char *cards;          /* [2][p][CARD_BYTES] bytes */
    char *space;          /* figures.space_bytes */
    uint32_t space_turns; /* number of calls of team_space */
    struct tables tables;
    struct outbox *outboxes;      /* by rank; see box.c */
    char *rooms, *group_counts;   /* see box.c */
    uint64_t ops;                 /* calls that went through boxes; the same on all ranks */
    uint32_t *turns, turns_count; /* see team_turns */
    /* By the algorithm's number: see struct shared; NULL: the algorithm wants none. */
    char *shared[most_shared];
    struct ledger *ledgers; /* [p] */
    struct doubt doubt;     /* why this team was given up */
    struct gate *gates;     /* [gates_most(p)] for sync_shape, all zero before */
    struct beacon *unlit;   /* [2][p] for sync_watch, all zero before; NULL: too many ranks */
    uint32_t *seats;        /* [seat] the ranks in the order in which they sit at the gates */
    bool seats_differ;      /* from the ranks; the same on all ranks */
    char *region; /* the addresses of my memory that peers can reach, or that can move there */
    size_t region_bytes;
    const struct heap_region *heap; /* what of it has moved; NULL: peers reach all of it */
    struct segment_name *names;     /* [p] the peers' regions; bytes == 0: that rank has none */
    /* [writable][p] addresses of the peers' regions in my address space; NULL until team_map. */
    uintptr_t *peers[2];
    struct near *near; /* NULL: none */
    int map_error[2];  /* result of team_map(writable); 1: not tried */
    /* My part of each neighbourhood's edges in each order; NULL: not asked for yet. */
    struct edge *segment[2][ORDERS];
    size_t segment_count[2][ORDERS]; /* edges in it */
    int32_t *world;                  /* [p] the ranks' numbers in MPI_COMM_WORLD */
    /* [p] the memory domain of each rank, 0 .. domains-1; NULL: one domain. */
    uint32_t *domain_of;
    uint32_t sums_count; /* number of calls of sums_add */
    /* control->sums at the last sums_read of each turn. */
    uint64_t sums_seen[2][sum_words];
    uint64_t *sums_wanted; /* the `sums` of a sums_add that was not read yet; NULL: none */
    /* Drives the host MPI while I wait; NULL: nothing to drive. */
    void (*progress)(struct team *team);
    void *progress_state;
    /* See neighbourhood_of; one malloc block each; NULL: no topology, or not asked for yet. */
    struct neighbours *neighbours[2];
    void *plans; /* the cache of plan/ */
    void (*plans_free)(struct team *team);
    void (*plans_rest)(struct team *team); /* keeps the plans, forgets what they have counted */
    /* Long or rarely used members come last, because a short call pays for every page it
     * touches. */
    struct box *room_users[BOXES]; /* the box of mine that uses each of my rooms */
    struct reached reached[PATHS];
    /* [order][inner] my part of the walk, filled at first use; inner 0: the order takes none. */
    struct cell *cells[ORDERS][ORDERS];
    /* [collective] for those in which ranks do not know each other's counts. */
    struct last_call last_calls[32];
    size_t short_bytes; /* short_in in coll/; 0: not worked out yet */
    double setup_seconds;
};
#ifdef MPI_VERSION
#include "reach/comms.h"
#endif

/* ---- node.c: the memory of a team; MPI-free, so that threads can be peers in tests ---- */
/* Bytes of the control block, stage included, for p ranks with `slot` staging bytes per rank and
 * half, and `space` bytes that all ranks have in common. */
size_t control_size(int p, size_t slot, size_t space);
/* Places the control block, stage and all else that is shared in zeroed memory of control_size
 * bytes. Sets the waiting policy. Local. */
void team_attach(struct team *team, void *memory, size_t slot, size_t space);
/* Frees what the team owns except the struct itself. Local. */
void team_release(struct team *team);
/* Forgets what belongs to its communicator and not to its ranks. Local. */
void team_forget_comm(struct team *team);
/* My part of a walk, [p]; NULL: no memory. Local; the array belongs to the team. */
const struct cell *team_cells(struct team *team, struct walk walk);
/* Maps the peers' regions, read-only or writable. Collective; 0 or -errno, the same on all
 * ranks. */
int team_map(struct team *team, bool writable);
/* Where my own region is for me, with what peers write to it if `writable`. Local. */
uintptr_t team_own_base(const struct team *team, bool writable);
/* Sets figures.shares from `names`. Local; the same on all ranks. */
void team_shares(struct team *team);

/* ---- shown.c: what of my memory peers can touch ---- */
enum shown {
    SHOWN,
    SHOWN_LATER, /* it has not paid yet to bring the memory into reach: a few more calls */
    SHOWN_NEVER, /* it cannot be brought into reach, or not soon */
};
enum showing {
    SHOW_TO_READERS = 0,
    SHOW_TO_WRITERS = 1, /* peers write to it: call team_takes_back after the last barrier */
    /* Not all of it belongs to the call: other threads may write the rest. So it does not move;
     * SHOWN_LATER: it should, if it can be proved that all of it does. */
    SHOW_GAPS = 2,
    SHOW_NOW = 4, /* moves it at once */
    SHOW_ASK = 8, /* the same answer, but peers may not read it yet: show it again */
};
/* Shows [memory, memory + bytes) to the peers until the end of the call, at *offset of my region.
 * The barrier before they touch it must follow. If the memory is not shown *offset is its distance
 * from the region, which only I can use. Local. */
enum shown team_shows(const struct team *team, const void *memory, size_t bytes, enum showing how,
                      uint64_t *offset);
/* After the barrier behind the last store of a peer. Local. */
void team_takes_back(const struct team *team, void *memory, size_t bytes);
/* True: malloc's memory. Local. */
bool team_owns(const struct team *team, const void *address);
/* malloc's blocks of fewer bytes, but for very short ones, are out of reach. */
enum { shown_from = 16 << 10 };
/* Memory that is always shown, if this process has a heap and the team no wire: messages carry any
 * memory. NULL: none. Local. */
void *shown_alloc(const struct team *team, size_t bytes);
void shown_free(void *memory);
/* The same, aligned; NULL if this process has no heap. */
void *shown_born(size_t alignment, size_t bytes);
/* True: memory of this process's heap. */
bool shown_owns(const void *memory);
/* MPI runs: from now on all blocks that the program makes come from the shared heap. Local. */
void shown_start(void);
/* Sets heap, region and region_bytes of the team, and *name. -errno: there is no heap. Local. */
int shown_begin(struct team *team, struct segment_name *name);
/* What has moved so far in this process. */
extern struct shown_moves {
    uint64_t count, bytes;
    double seconds; /* that it took */
    double saves;   /* seconds, expected of one call on each of these buffers */
    bool huge_lost; /* what moves loses its huge pages */
} shown_moves;

/* The line of a rank for the barriers of this half. */
static inline struct beacon *beacon_of(const struct team *team, uint32_t half, int rank) {
    return team->beacons + half * (uint32_t)team->p + (uint32_t)rank;
}
/* Where a rank stages `bytes` <= slot; all ranks must pass the same `bytes`. Ranks follow each
 * other by whole cache lines only: where nodes are oversubscribed, a short exchange costs mostly
 * the pages that it touches. With beacons the shortest data come with the barrier. Each rank's
 * place is as far behind the one before as the second's. */
static inline char *stage_of(const struct team *team, uint32_t half, int rank, size_t bytes) {
    if (team->beacons && bytes <= BEACON_INSIDE) return beacon_of(team, half, rank)->inside;
    return team->stage + half * team->stage_half + (size_t)rank * ((bytes + 63) / 64 * 64);
}
static inline void *card_at(const struct team *team, uint32_t half, int rank) {
    return team->cards + ((size_t)half * (size_t)team->p + (size_t)rank) * CARD_BYTES;
}
static inline struct post *post_of(const struct team *team, uint32_t half, int rank) {
    return &team->control->posts[(size_t)half * (size_t)team->p + (size_t)rank];
}

/* ---- box.c: data from one rank to some others, without a barrier ----
 *
 * Every rank owns a ring of boxes. Each call of a team that goes through boxes has a number, op.
 * Part k of the call on rank r is in box (op + k) % BOXES of r. The owner fills a box once all
 * readers of its last contents have acknowledged. Nothing else synchronises the ranks, so a rank
 * may be up to BOXES parts ahead of its readers. A reader may read a box from box_ready or
 * box_wait_for until its box_ack. There is no deadlock if every rank makes the calls in the order
 * of op, and in a call takes the parts k in order: fills its own box, then reads all others. */
struct box {
    _Alignas(64) _Atomic uint64_t holds; /* op and part; 0: nothing yet */
    /* Readers wait on it: grows at least by one for each filling; wraps. */
    struct flag rings;
    /* The owner waits on it: the latest filling that all its readers have acknowledged. */
    struct flag emptied;
    uint32_t readers;             /* of the contents: ranks, or their groups */
    bool grouped;                 /* they acknowledge in groups; see box.c */
    uint32_t filling;             /* number of the contents; wraps */
    double entered, last_entered; /* when the owner and last_reader entered the call; see waits.c */
    int32_t last_reader;          /* the rank that acknowledged last */
    _Alignas(64) _Atomic uint32_t taken; /* acknowledgements so far, if readers > 1 */
    _Alignas(64) char inside[BOX_INSIDE];
};
struct outbox {
    /* The number, from 1, of the box that the rank waits at; 0: none. The rank may have stopped
     * waiting meanwhile; to ring there is then harmless. */
    _Alignas(64) _Atomic uint32_t desk;
    struct box boxes[BOXES];
};
/* Bytes for the outboxes of p ranks and their rooms. boxes_attach makes a team's of that many zero
 * bytes. Local. */
size_t boxes_size(int p, size_t slot);
void boxes_attach(struct team *team, char *memory, size_t slot);
/* The number of the next call. Every rank must count every such call. Local. */
static inline uint64_t box_next_op(struct team *team) { return ++team->ops; }
struct box *box_of(const struct team *team, int rank, uint64_t op, uint32_t part);
/* Rooms take what is too long for `inside`. Each rank has BOXES rooms of figures.box_room bytes. */
char *box_room_of(const struct team *team, int rank, uint32_t room);
/* Waits until nobody reads in my room any more, and gives it to this free box of mine. */
char *box_wait_room(struct team *team, struct box *box, uint32_t room);
/* Waits until nobody reads my box any more: before it is filled, or until its readers are done. */
struct box *box_wait_free(struct team *team, uint64_t op, uint32_t part);
/* Publishes what was written into my free box to `readers` >= 1 ranks, or to all others. */
enum { ALL_OTHERS = 0x7fffffff };
void box_publish(const struct team *team, struct box *box, uint64_t op, uint32_t part,
                 uint32_t readers);
/* True: the source has published the part. */
bool box_ready(const struct team *team, int source, uint64_t op, uint32_t part);
void box_wait_for(struct team *team, int source, uint64_t op, uint32_t part);
/* I shall look into the box soon, and a short letter in it. */
static inline void box_soon(const struct box *box) {
    __builtin_prefetch(box);
    __builtin_prefetch(box->inside);
}
/* To wait for any of several sources: call box_settle for the box of one of them, then box_ready
 * for all, and if none is ready box_wait_settled with the result of box_settle. It returns when
 * that box is filled, or when another sender calls box_ring. */
uint32_t box_settle(struct team *team, int source, uint64_t op, uint32_t part);
void box_wait_settled(struct team *team, int source, uint64_t op, uint32_t part, uint32_t rings);
/* After box_publish, by a sender that will wait for this reader: wakes the reader if it has settled
 * at another rank's box. */
void box_ring(const struct team *team, int reader);
/* One reader is done; it may not touch the box afterwards. True: it was the last one, and the owner
 * may sleep: box_wake has to follow behind a flags_fence, which may serve many boxes. */
bool box_ack(const struct team *team, struct box *box);
static inline void box_wake(struct box *box) { flag_wake(&box->emptied); }
/* Scratch memory for `count` numbers, kept by the team. NULL: no memory. Local. */
uint32_t *team_turns(struct team *team, uint32_t count);

/* ---- domains.c ---- */
/* Where a rank runs. */
struct seat {
    struct processors processors; /* that it may use */
    int32_t rank; /* in MPI_COMM_WORLD: its processor on a pretended machine (option TOPOLOGY) */
};
/* Sets figures.domains and domain_of: the memory domain of each rank. If a rank may run in several
 * domains, all ranks count as one domain. Collective; the same on all ranks. Only rank 0's seats
 * [p] are used; NULL: not known. */
void team_divide(struct team *team, const struct seat *seats);
/* The ranks of a domain follow each other. Only with domain_of. Local; the same on all ranks. */
static inline bool domains_in_order(const struct team *team) {
    for (int r = 1; r < team->p; r++)
        if (team->domain_of[r] < team->domain_of[r - 1]) return false;
    return true;
}
/* ---- paths.c ---- */
/* Opens a data path between all ranks at first use. Collective; 0 or -errno, the same on all
 * ranks. */
int team_path(struct team *team, enum path_id path);
/* True: the path was opened and works. Local; the same on all ranks. */
bool team_has_path(const struct team *team, enum path_id path);
/* After trouble PATH_LOST: the team never uses the path again. Every rank must call it. Local. */
void team_loses_path(struct team *team, enum path_id path);
void team_close_paths(struct team *team);
/* After the host's MPI_Finalize. */
void paths_finish(void);

/* ---- near.c: parts of the peers' regions, side by side ---- */
enum { near_pieces = 2, near_bytes = 2 << 20 };
static const uint64_t near_empty = (uint64_t)1 << 63; /* no region is so long */
struct near {
    void *area;
    size_t bytes;   /* of it */
    uintptr_t base; /* of the first piece */
    struct near_peer {
        uint64_t first[near_pieces]; /* where each piece begins in the region, or near_empty */
        uint32_t missed, patience;   /* missed so often, the next piece is mapped */
        int next;
    } of[];
};
static inline uintptr_t near_at(const struct near *near, int rank, int piece) {
    return near->base + (size_t)(rank * near_pieces + piece) * near_bytes;
}
/* For a team whose peers are mapped for reading; does nothing where it does not pay. Local. */
void near_begin(struct team *team);
void near_end(struct team *team);
uintptr_t near_missed(const struct team *team, int rank, uint64_t offset, size_t bytes);
/* Where a peer's region begins for me, as far as [offset, offset + bytes) of it goes: to read only,
 * in this call. The team needs `near`. Local. */
static inline uintptr_t near_peer(const struct team *team, int rank, uint64_t offset,
                                  size_t bytes) {
    const struct near_peer *peer = &team->near->of[rank];
    for (int piece = 0; piece < near_pieces; piece++)
        if (offset - peer->first[piece] <= near_bytes - bytes && bytes <= near_bytes)
            return near_at(team->near, rank, piece) - peer->first[piece];
    return near_missed(team, rank, offset, bytes);
}

/* ---- peers.c: mapped regions of other processes, shared by all teams of this process ---- */
/* fd: a descriptor of the region, which stays the caller's, or -1 to open it by its name. *base is
 * valid until the matching peer_unmap. 0 or -errno. Thread safe. Local. */
int peer_map(const struct segment_name *name, int fd, bool writable, uintptr_t *base);
void peer_unmap(const struct segment_name *name, bool writable);
/* After a call in which this rank has touched so many bytes of its peers. Pages of theirs count as
 * this process's resident memory (VmRSS) once it has. If they are more than a quarter of its own,
 * and 64 MiB, it forgets them; the next access maps them again. Local. */
void peers_count(size_t bytes);
/* Memory in which peers' regions are mapped, too. Thread safe. Local. */
void peers_add(void *area, size_t bytes);
void peers_remove(const void *area);
static inline void peers_touched(size_t bytes) {
    enum { least = 64 << 10 }; /* shorter calls do not fill memory */
    if (bytes >= least) peers_count(bytes);
}

/* ---- sync.c ---- */
/* A new team's barrier has one gate. sync_shape gives it a tree of gates, `fan` ranks or gates
 * meeting at each, those of a memory domain first; p: it stays as it is. At most once; all ranks
 * call it alike between the same two barriers. Local. */
void sync_begin(struct team *team);
void sync_shape(struct team *team, uint32_t fan);
/* The fan that suits the figures (option FAN). */
uint32_t sync_fan(const struct figures *figures);
/* From now on, in sync_all and sync_briefly, each rank lights its beacon and watches those of all
 * others; who acts gate by gate still meets the others there. Needs team->unlit. At most once; all
 * ranks call it alike between the same two barriers. Local. */
void sync_watch(struct team *team);
/* Whichever of them suits the figures (option FAN); as these. */
void sync_suit(struct team *team);
/* Gates that a tree of any shape has at most. */
static inline size_t gates_most(int p) { return (size_t)p + most_rungs; }
/* A full barrier. Tells all ranks flags of enum trouble, and returns those of all. */
uint32_t sync_all(struct team *team, uint32_t trouble);
/* The same gate by gate. True: all have met at the rung that sync_climbed now returns, I am the
 * last of them, and what they wrote before is visible; *trouble is theirs. I may write to their
 * memory until I go on: to the next gate or, if there is none (sync_is_top), to sync_release.
 * False: call sync_wait. */
bool sync_meet(struct team *team, uint32_t *trouble);
/* Both return the trouble of all ranks. */
uint32_t sync_release(struct team *team);
uint32_t sync_wait(struct team *team);
/* sync_all and sync_wait in two steps, see flag_wait_briefly. True: the barrier is over, and
 * *trouble that of all ranks. False: call the longer one. */
bool sync_briefly(struct team *team, uint32_t *trouble);
uint32_t sync_longer(struct team *team);
bool sync_wait_briefly(struct team *team, uint32_t *trouble);
uint32_t sync_wait_longer(struct team *team);
static inline const struct rung *sync_climbed(const struct team *team) {
    return &team->rungs[team->climbed - 1];
}
static inline bool sync_is_top(const struct team *team) {
    return team->climbed == team->rung_count;
}
/* The last rank, in the order of the seats, of those that the rung's number i stands for. */
static inline int sync_last_below(const struct team *team, const struct rung *rung, uint32_t i) {
    uint32_t end = rung->first + (i + 1) * rung->step, p = (uint32_t)team->p;
    uint32_t seat = (end < p ? end : p) - 1;
    return team->seats_differ ? (int)team->seats[seat] : (int)seat;
}
/* Measures the barrier and asks rank 0 for its caches: sets sync_seconds, usual_sync_seconds,
 * l2_bytes and l3_bytes of figures. known: seconds of the barrier of an earlier team of as many
 * ranks; 0: there was none. Only rank 0's counts. Collective. */
void sync_measure(struct team *team, double known);
/* Adds sum_words values to sums over all ranks; sums_read returns the sums after the next barrier.
 * `sums` must stay valid until then. Every rank adds in the same sequence. A second sums_add before
 * sums_read first writes the earlier sums to the earlier `sums`. Local; with a wire sums_add is
 * collective and returns the sums at once. */
void sums_add(struct team *team, const uint64_t values[sum_words], uint64_t sums[sum_words]);
void sums_read(struct team *team, uint64_t sums[sum_words]);
/* True if every rank passes true. Collective. */
bool team_agree(struct team *team, bool fine);
/* Copies rank 0's text, at most 63 characters, to all ranks. Collective. */
void team_tell(struct team *team, char text[64]);

/* ---- waits.c: tells waiting for late ranks from moving data; without a report it costs one
 * branch ---- */
/* waits_begin: before a call that is to be reported; now: clock_seconds. After the call team->waits
 * holds its waits, until waits_end. Local. */
void waits_begin(struct team *team, double now);
void waits_end(struct team *team);
/* For the barrier, if waits.open: before arriving; before releasing, on the last rank; after being
 * released. */
void waits_arrive(struct team *team);
void waits_tell(struct team *team);
void waits_hear(struct team *team);
/* After a wait for one peer, if waits.on: counts the part of my latest wait that lies before
 * `entered`. That is when the peer entered the call; the peer publishes it with its data. */
void waits_for(struct team *team, int rank, double entered);
/* Counts seconds of this call spent waiting for a rank that had not entered it. Ignores seconds <=
 * 0. */
void waits_late(struct team *team, double seconds, int rank);

/* ---- wait.c: the one wait loop; see also flag.h ---- */
/* Called after each second of a wait, by the rank that waits, with the team that it waits on, which
 * may still be in its set-up. Need not return. Set by mpi/. */
extern void (*wait_doubt)(const struct team *team);
/* Waits until done(state) returns true. `done` must itself drive what is waited for. */
void wait_until(struct team *team, bool (*done)(void *state), void *state);

#endif
