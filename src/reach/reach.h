/* SPDX-License-Identifier: BSD-3-Clause */
/* reach.h - teams: one communicator as mortar sees it, and touching a peer's memory. Set-up
 * functions return 0 or -errno.
 *
 * Memory rule of the control block. What a rank writes (a post, staged bytes, trouble) before it
 * arrives at barrier e lies in half e & 1 and may be read by everybody from the release of barrier
 * e until the reader arrives at barrier e + 1. The half is written again only before barrier e + 2,
 * when all have arrived at e + 1: so one barrier per exchange is enough. */
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
struct iovec;
struct kept;
struct team;

/* What a rank tells the others about one call, one cache line per writer: offsets into its
 * reachable region, or addresses of its own where that is not reachable. */
struct post {
    _Alignas(64) uint64_t send;
    uint64_t recv;
    uint32_t send_reachable, recv_reachable;
    int64_t owner;  /* who the rank is to a data path that is being opened: a process, a segment */
    double entered; /* clock_seconds when the rank entered the call; see waits.c */
};

/* Reasons, or-ed over the ranks by every barrier, that a call cannot take the straight path. */
enum trouble {
    /* A send buffer lies outside its rank's region, or is also the receive buffer. */
    SEND_UNREACHABLE = 1,
    RECV_UNREACHABLE = 2,
    NO_MEMORY = 4,                 /* a rank could not get scratch memory */
    ON_DEVICE = 16,                /* a buffer lies in a device's memory */
    LEAVE = NO_MEMORY | ON_DEVICE, /* all leave the call to the host MPI */
    REFUSED = 8,                   /* team_agree */
    /* A buffer that no peer may touch: it is overwritten while it is sent, or not all there. */
    MUST_STAGE = 32,
    PATH_LOST = 64, /* a data path failed under way */
    /* A rank's blocks are read where they lie: nobody returns before all have read. */
    SHOWN = 128,
    MORE = 256, /* a rank's staged blocks go on in another round */
    /* A rank's equal blocks are no runs of bytes: all take the way of any blocks. */
    TYPED = 512,
    CHANGED = 1024, /* a rank's counts are not those of the call before */
    CUT = 2048,     /* more came over the network than a rank has room for */
};

struct control {
    _Alignas(64) _Atomic uint32_t arrived; /* arrivals since the team began; wraps */
    _Alignas(64) struct flag epoch;        /* barriers completed; wraps */
    _Atomic uint32_t trouble[2];
    _Atomic uint32_t sync_nanoseconds;        /* what one barrier costs, as rank 0 measured it */
    _Atomic uint64_t l2_bytes, l3_bytes;      /* of rank 0's processor */
    _Alignas(64) _Atomic uint64_t sums[2][2]; /* see sums_add; each grows for ever */
    /* The plan that rank 0 found in its tuning file, as posts by halves. */
    _Alignas(64) char advice[2][64];
    _Alignas(64) struct latest {
        double entered;
        int32_t rank;
    } latest[2];         /* who entered the call last, as posts by halves; see waits.c */
    struct post posts[]; /* [2][p], then the cards and the stage */
};

/* Bytes that a rank has beside its post, for what does not fit into one: see coll/node/vector.c. */
enum { CARD_BYTES = 384 };

/* Memory that the ranks of a team on one node share for one algorithm: `all` bytes, then `each` for
 * every rank, multiples of 64. It is zero at first; what is never touched takes no memory. */
struct shared {
    size_t all, each;
};
enum { most_shared = 48 };
/* What algorithms ask for, by their numbers; in coll/algorithms.c. */
extern const int shared_count;
struct shared shared_wanted(int which);

/* What this rank waited for in one call; see waits.c. */
struct waits {
    bool on;              /* in a call that is to be reported */
    bool open;            /* and the team's barrier has not been passed yet */
    double entered;       /* clock_seconds when I entered the call */
    double began, length; /* my latest wait: when it began, and its seconds */
    double seconds;       /* of all waits of this call */
    double late_seconds;  /* of them, for ranks that had not entered the call yet */
    int late_count;
    struct late {
        int rank;
        double seconds;
    } *late; /* [p] those ranks; NULL until the first such call */
};

/* The data paths: ways to a peer's memory. */
enum path_id {
#define PATH(name, about) PATH_##name,
#include "reach/list.h"
#undef PATH
    PATHS
};

/* What a path's file defines, for buffers outside the region. One of read and hold: either it
 * copies for us, or it makes a peer's memory addressable. */
struct path_code {
    /* Makes it work between every pair of ranks. Collective; 0 on all ranks, or -errno on all.
     * NULL: not for plans. */
    int (*open)(struct team *team, void **state);
    void (*close)(struct team *team, void *state);
    /* When no MPI call will come any more. NULL: nothing to do. */
    void (*finish)(void);
    /* Copies pieces of equal lengths from a peer's addresses to mine; spoils both lists. 0 or
     * -errno. Local. */
    int (*read)(void *state, int rank, struct iovec *to, struct iovec *from, size_t count);
    /* Where a peer's buffer lies in my address space, until drop: NULL when it cannot be had.
     * receives: its receive buffer, else its send buffer; always the same range until drop.
     * Local. */
    char *(*hold)(void *state, int rank, bool receives, uint64_t address, size_t bytes);
    void (*drop)(void *state);
    /* Expected seconds to read a block of so many bytes, through memory or out of caches. NULL: as
     * loads and stores. */
    double (*block_seconds)(size_t bytes, bool through_memory);
    /* Is this memory of mine all there, so that a peer who touches it comes to no harm? Local. */
    bool (*sound)(const void *memory, size_t bytes);
};
struct path {
    const char *name, *about;
    const struct path_code *code;
};
extern const struct path paths[PATHS];

/* What calls of one collective are expected to be like, the same on all ranks: in shared memory
 * like the last one that told, on the rank that sent most; over several nodes like those before in
 * the mean. It counts for so many more calls that tell nothing: at most a prime number, so that of
 * calls that come in turns all are looked at. */
enum { sure_calls = 251 };
struct last_call {
    uint64_t bytes; /* that it sent; over several nodes: of a block. 0: nothing is known */
    bool uneven;    /* some rank's blocks were not all equal */
    /* Calls to come for which it counts, and for how many it did; sure: over several nodes. */
    uint32_t left, sure;
    uint64_t mine[2]; /* over several nodes: bytes and blocks that this rank has had since */
};

struct reached {
    bool tried;
    int error; /* of open, the same on all ranks; or lost since */
    void *state;
};

enum { BOXES = 32, BOX_INSIDE = 832 }; /* see box.c, below */

struct team {
    int p, me;
    /* Not NULL: the host MPI does everything; none of what follows is set. Static storage. */
    const char *why_native;
    struct figures figures; /* of all ranks alike; its p is p */
    /* May MPI_Reduce take vectors as they come? Option REDUCE, the same on all ranks. */
    bool by_arrival;
    struct figures fullest; /* OVER_NODES: figures.node */
    /* Over several nodes, see messages.h; NULL on one. What else is here is then that of `node`,
     * but plans and figures. */
    struct wire *wire;
    struct places *places;
    struct team *node;
    struct team **lanes;   /* [places->most]; NULL where not asked for yet */
    struct chunk *scratch; /* see keep.c */
    struct kept *kept;
    size_t scratch_wish;
    /* Before the team dies: receives what is still on its way to me. NULL: nothing is. */
    void (*settle)(struct team *team);
    struct control *control; /* on one node */
    size_t control_bytes;
    char *cards;          /* [2][p][CARD_BYTES] bytes */
    char *stage;          /* [2][p][figures.slot] bytes */
    char *space;          /* figures.space_bytes */
    uint32_t space_turns; /* calls of team_space */
    struct tables tables;
    char *boxes;                  /* see box.c */
    uint64_t ops;                 /* calls that went through boxes, the same number on all ranks */
    uint32_t *turns, turns_count; /* see team_turns */
    /* By the algorithm's number: see struct shared; NULL where nothing was asked for. */
    char *shared[most_shared];
    struct ledger *ledgers; /* [p] */
    struct ledger *ledger;  /* mine; of a team with a wire that of its node; NULL: none */
    uint32_t calls;         /* that I have written there; of all ranks alike; wraps */
    struct doubt doubt;     /* why this team was given up */
    uint32_t epoch;         /* barriers that I have passed */
    struct patience patience;
    struct waits waits;
    char *region; /* the part of my memory that peers can reach */
    size_t region_bytes;
    const struct heap_range *adopted; /* static data that are part of it; see heap/heap.h */
    int adopted_count;
    struct segment_name *names; /* [p] the peers' regions; bytes == 0: that rank has none */
    /* [writable][p] where the peers' regions lie in my address space; NULL until team_map. */
    uintptr_t *peers[2];
    int map_error[2]; /* team_map's answer, once given */
    /* My part of each neighbourhood's edges on the compact curve; NULL: not asked for yet. */
    struct edge *segment[2];
    size_t segment_count[2]; /* of these */
    int32_t *world;          /* [p] the ranks' numbers in MPI_COMM_WORLD */
    /* [p] the memory domain of each rank, 0 .. domains-1; NULL: one domain. */
    uint32_t *domain_of;
    uint32_t sums_count; /* of sums_add */
    uint64_t sums_seen[2][2], *sums_wanted;
    /* Drives the host MPI while I wait; NULL: nothing to drive. */
    void (*progress)(struct team *team);
    void *progress_state;
    /* See neighbourhood_of; one block of malloc each; NULL: no topology, or not asked for yet. */
    struct neighbours *neighbours[2];
    void *plans; /* plan/ keeps its cache here */
    void (*plans_free)(struct team *team);
    /* mpi/take.c keeps here what it knows of the last calls; one block of malloc. */
    void *shortcuts;
    /* What follows is long, or rarely looked at: a short call pays for every page. */
    struct box *room_users[BOXES]; /* which of my boxes each of my rooms belongs to */
    struct reached reached[PATHS]; /* the data paths that were asked for */
    /* [order][inner] my part, filled when first asked for; inner 0 where none is taken. */
    struct cell *cells[ORDERS][ORDERS];
    /* By collective, of those where ranks do not know each other's counts. */
    struct last_call last_calls[32];
    double setup_seconds;
};
#ifdef MPI_VERSION
#include "reach/comms.h"
#endif

/* ---- node.c: the memory of a team; MPI-free, so that threads can be peers in tests ---- */
/* Bytes of control block and stage for p ranks with `slot` staging bytes per rank and half, and
 * `space` bytes for all. */
size_t control_size(int p, size_t slot, size_t space);
/* Points team->control, stage, slot and space into zeroed shared memory of control_size bytes;
 * picks the waiting policy. Local. */
void team_attach(struct team *team, void *memory, size_t slot, size_t space);
/* Frees what the team owns except the struct itself. Local. */
void team_release(struct team *team);
/* My part of a walk; NULL without memory. Local; the array belongs to the team. */
const struct cell *team_cells(struct team *team, struct walk walk);
/* Makes the peers' regions addressable, read-only or writable. Collective; all ranks get the same
 * answer: 0 or -errno. */
int team_map(struct team *team, bool writable);
/* Sets figures.shares, once all names are known. Local; the same on all ranks. */
void team_shares(struct team *team);
/* Where does [memory, memory + bytes) lie in my region? False: outside; then *offset still leads
 * from my region to it, which only I can follow. */
bool team_reaches(const struct team *team, const void *memory, size_t bytes, uint64_t *offset);

/* Where a rank stages `bytes` <= slot, the same on all ranks. As dense as cache lines allow: with
 * many ranks on a processor, pages are what a short exchange costs. */
static inline char *stage_of(const struct team *team, uint32_t half, int rank, size_t bytes) {
    return team->stage + (size_t)half * (size_t)team->p * team->figures.slot +
           (size_t)rank * ((bytes + 63) / 64 * 64);
}
static inline void *card_at(const struct team *team, uint32_t half, int rank) {
    return team->cards + ((size_t)half * (size_t)team->p + (size_t)rank) * CARD_BYTES;
}
static inline struct post *post_of(const struct team *team, uint32_t half, int rank) {
    return &team->control->posts[(size_t)half * (size_t)team->p + (size_t)rank];
}

/* ---- box.c: what passes between some of the ranks, without a barrier ----
 *
 * Every rank owns a ring of boxes. Each call of a team that goes through boxes has a number, op;
 * its part k on rank r lies in box (op + k) % BOXES of r. The owner fills it when all readers of
 * what it held before have acknowledged it: that alone holds the ranks together, so a rank may be
 * up to BOXES parts ahead of its readers. What lies in the box may be read from box_ready or
 * box_wait_for until box_ack.
 * Nobody waits in a circle when every rank goes through the calls in the order of their numbers,
 * and in a call through the parts k in their order: fills its own, then reads all others'. */
struct box {
    _Alignas(64) _Atomic uint64_t holds; /* op and part; 0: nothing yet */
    /* At least one for each filling; what readers wait on; wraps. */
    struct flag rings;
    /* How often all its readers have acknowledged; what the owner waits on. */
    struct flag emptied;
    uint32_t readers, filling; /* of what it holds; the number of this filling */
    /* When the owner entered the call, and who acknowledged last; see waits.c. */
    double entered, last_entered;
    int32_t last_reader;                 /* who that was */
    _Alignas(64) _Atomic uint32_t taken; /* by how many of them, where there are several */
    _Alignas(64) char inside[BOX_INSIDE];
};
/* Bytes for the boxes of p ranks; points team->boxes to so many zero bytes. Local. */
size_t boxes_size(int p, size_t slot);
void boxes_attach(struct team *team, char *memory, size_t slot);
/* The number of the next call. Every rank must count every such call. Local. */
static inline uint64_t box_next_op(struct team *team) { return ++team->ops; }
struct box *box_of(const struct team *team, int rank, uint64_t op, uint32_t part);
/* Rooms, BOXES for each rank, are for what is too long for the inside of a box: figures.box_room
 * bytes, on pages of their own. */
char *box_room_of(const struct team *team, int rank, uint32_t room);
/* My room, when nobody reads there any more, for what this box, which must be free, is to hold. */
char *box_wait_room(struct team *team, struct box *box, uint32_t room);
/* My box, when nobody reads it any more: before it is filled, or to wait for the readers of what it
 * holds. */
struct box *box_wait_free(struct team *team, uint64_t op, uint32_t part);
/* Shows what was written into my free box to so many readers, at least one. */
void box_publish(struct box *box, uint64_t op, uint32_t part, uint32_t readers);
/* Is the part there? */
bool box_ready(const struct team *team, int source, uint64_t op, uint32_t part);
void box_wait_for(struct team *team, int source, uint64_t op, uint32_t part);
/* To wait for one of several sources: settle at the box of one of them, look at all once more, and
 * if none is ready wait; rings is what settling returned. Comes back when that box was filled, or
 * somebody who cannot go on without me has rung. */
uint32_t box_settle(struct team *team, int source, uint64_t op, uint32_t part);
void box_wait_settled(struct team *team, int source, uint64_t op, uint32_t part, uint32_t rings);
/* After box_publish: wakes this reader if it has settled at another's box. For senders that will
 * wait for it. */
void box_ring(const struct team *team, int reader);
/* One reader has read; it may not touch the box afterwards. */
void box_ack(const struct team *team, struct box *box);
/* Scratch memory for so many numbers, kept by the team. NULL: no memory. Local. */
uint32_t *team_turns(struct team *team, uint32_t count);

/* ---- domains.c ---- */
/* Where a rank runs: the processors that it may use, and its number in the job, which places it on
 * a machine that is pretended. */
struct seat {
    struct processors processors;
    int32_t rank;
};
/* Finds out which memory domain each rank sits in: sets domains and domain_of. A rank that may run
 * in several: all count as one domain. Collective; same answer on all ranks. Only rank 0's seats
 * [p] are looked at; NULL: not known. */
void team_divide(struct team *team, const struct seat *seats);
/* ---- paths.c ---- */
/* Can this path be used between all ranks? Tries it at the first time. Collective; same answer on
 * all ranks: 0 or -errno. */
int team_path(struct team *team, enum path_id path);
/* The same for a path that was tried. Local; same answer on all ranks. */
bool team_has_path(const struct team *team, enum path_id path);
/* After trouble PATH_LOST: this team never uses it again. Every rank must say so. Local. */
void team_loses_path(struct team *team, enum path_id path);
void team_close_paths(struct team *team);
/* After the host's MPI_Finalize. */
void paths_finish(void);

/* ---- peers.c: mapped regions of other processes, shared by all teams of this process ---- */
/* fd: a descriptor of the region, or -1 to open it by its name. *base is valid until the matching
 * peer_unmap. Thread safe. */
int peer_map(const struct segment_name *name, int fd, bool writable, uintptr_t *base);
void peer_unmap(const struct segment_name *name, bool writable);

/* ---- sync.c ---- */
/* Arrives at the barrier with reasons for trouble (0: none). True: I am the last; everybody waits
 * until I call sync_release. */
bool sync_arrive(struct team *team, uint32_t trouble);
/* What the ranks said on arrival; for the last one before it releases. */
uint32_t sync_trouble(const struct team *team);
/* Both return the trouble of all ranks, the same on every rank. */
uint32_t sync_release(struct team *team);
uint32_t sync_wait(struct team *team);
/* Arrive and release or wait: a full barrier. */
uint32_t sync_all(struct team *team, uint32_t trouble);
/* What the cost model wants to know: measures the barrier, asks rank 0 for its caches; sets both of
 * the barrier's seconds, l2_bytes and l3_bytes of figures. Collective. */
void sync_measure(struct team *team);
/* Sums over the ranks that ride on barriers. Before a call that has a barrier each rank adds its
 * two values; after it each can read the sums of all into sums[2], which must live until then.
 * Every rank adds in the same sequence; who adds again before it has read gets the earlier sums
 * written then. Local. */
void sums_add(struct team *team, const uint64_t values[2], uint64_t sums[2]);
void sums_read(struct team *team, uint64_t sums[2]);
/* True when every rank says true. Collective. */
bool team_agree(struct team *team, bool fine);
/* Rank 0's text to all: at most 63 characters. Collective. */
void team_tell(struct team *team, char text[64]);

/* ---- waits.c: waiting for late ranks told apart from moving data; costs one branch where no
 * report is wanted ---- */
/* Before a call that is to be reported, with the time of now; after it, team->waits holds what it
 * waited until waits_end. Local. */
void waits_begin(struct team *team, double now);
void waits_end(struct team *team);
/* For the barrier, when waits.open: I am about to arrive; I am the last and about to release; I was
 * released. */
void waits_arrive(struct team *team);
void waits_tell(struct team *team);
void waits_hear(struct team *team);
/* For who waits for one peer, when waits.on and after flag_wait: the peer entered the call at that
 * time, which it had to tell with what was waited for. Counts what of my latest wait lies before
 * it. */
void waits_for(struct team *team, int rank, double entered);
/* So many seconds of this call were spent waiting for a rank that had not entered it. Nothing when
 * not positive. */
void waits_late(struct team *team, double seconds, int rank);

/* ---- wait.c: the one wait loop; see also flag.h ---- */
/* Called by a rank that has waited for a second, and each second after that. Need not return. Set
 * by mpi/. */
extern void (*wait_doubt)(void);
/* Returns when done(state), which has to drive what is waited for, says so. */
void wait_until(struct team *team, bool (*done)(void *state), void *state);

#endif
