/* SPDX-License-Identifier: BSD-3-Clause */
/* reach.h - teams: a team is one communicator as mortar keeps it. Its parts: a peer's memory
 * (shown.h, near.h, paths.h), the barrier and waiting (sync.h), boxes (box.h), communicators
 * (comms.h). Set-up functions return 0 or -errno.
 *
 * Memory rule of the control block. A rank writes its post, staged bytes and trouble for barrier e
 * into half e & 1 before it arrives there. Any rank may read that half from the release of barrier
 * e until it arrives at barrier e + 1 itself. The half is written again only for barrier e + 2,
 * after all ranks have arrived at e + 1. So one barrier per exchange is enough. */
#ifndef MORTAR_REACH_H
#define MORTAR_REACH_H

#include "base/base.h"
#include "order/order.h"
#include "reach/device.h"
#include "reach/figures.h"
#include "reach/flag.h"
#include "reach/handles.h"
#include "reach/ledger.h"
#include "reach/messages.h"
#include "reach/paths.h"
#include "reach/patience.h"
#include "reach/shown.h"

#include <stdatomic.h>

struct chunk;
struct heap_region;
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

enum { BOXES = 32, BOX_INSIDE = 832 }; /* boxes per rank, and bytes in one; see box.h */

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
/* Maps a control block; NULL: the system refuses. Unmaps it. Bytes of all that are mapped in this
 * process. Local. */
void *control_map(int fd, size_t bytes);
void control_unmap(void *memory, size_t bytes);
size_t control_mapped(void);
/* Why a team over several nodes has no space, or calls do not use it. */
extern const char few_addresses_why[];
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

#include "reach/box.h"
#include "reach/near.h"
#include "reach/sync.h"

#endif
