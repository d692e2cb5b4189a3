/* SPDX-License-Identifier: BSD-3-Clause */
/* comms.h - a part of reach.h: communicators and their teams. Included if mpi.h was included
 * first. */
#ifndef MORTAR_COMMS_H
#define MORTAR_COMMS_H

#include "reach/host.h"
#include "reach/ledger.h"

/* A communicator that has no team yet: the host MPI runs its calls until they have paid for one;
 * see start.c. Many communicators live for a call or two, so this is short, and a team is not. */
struct young {
    int p, me;
    unsigned weight; /* of the calls so far, the same on all ranks */
    unsigned next;   /* at this weight the ranks look whether a team would pay */
    uint64_t ticks;  /* clock_ticks that these calls have taken on this rank */
    uint64_t most;   /* that one of them has taken */
    uint64_t group;  /* spare_group of the ranks; 0: not known yet */
    struct early early;
    struct doubt doubt; /* why its set-up was given up */
    unsigned calls;     /* that the ticks are of */
    bool left;          /* to the host MPI, for lack of memory */
};
/* Why the host MPI runs its calls. */
extern const char young_why[];

/* What mortar has of a communicator; both NULL: leave the call to the host MPI. */
struct met {
    struct team *team;
    struct young *young; /* NULL if there is a team */
};

/* ---- team.c, birth.c ---- */
/* The team of an intracommunicator or intercommunicator, freed with it; built if there is none.
 * NULL: leave the call to the host MPI. It is NULL on all ranks before teams_start, after
 * teams_finish, and while the communicator is being freed; on one rank if there is no memory for
 * the struct itself. Collective. */
struct team *team_of(MPI_Comm comm);
/* Call with what the MPI library's call returned that puts a communicator into *made, on ranks that
 * are in it; returns the same. Local. */
int comm_made(int error, const MPI_Comm *made);
/* What a communicator has that was met before. Local. */
struct met comm_known(MPI_Comm comm);
/* The same of one that may be new, if comm_known knows nothing: then it is young, unless it never
 * gets shared memory. Collective if it is new. */
struct met comm_met(MPI_Comm comm);
/* Counts a call on a young communicator. Returns the team that has taken its place; NULL: it stays
 * young. weight: how much the call counts, the same on all ranks. Collective. */
struct team *young_counts(struct young *young, MPI_Comm comm, unsigned weight);
/* Does mortar run this sum of floating-point numbers, or whatever else depends on the association?
 * If so and the communicator is young, call team_of. Call it once for each such call; bytes: of its
 * vector. Local; the same on all ranks. */
bool start_sums(struct early *early, size_t bytes);
/* The same of a sum that came before. True: the host MPI still runs it; else it does not count. */
bool start_leaves(struct early *early, size_t bytes);
/* Counts a call as young_counts does, if the ranks need not look before it. Local; the same on all
 * ranks. */
bool start_goes_on(struct young *young, unsigned weight);
/* The host MPI has run a call of a young communicator in so many clock_ticks. Local. */
void start_took(struct young *young, uint64_t ticks);
/* True: from now on each communicator gets its team in its first call. Every rank must say so
 * before its next call. Local. */
void teams_begin_at_once(bool at_once);
/* Numbers that grow when something remembered may be void; and `undriven`. On one cache line, since
 * a short call looks at all of them. */
extern struct changes {
    _Atomic uint32_t comms; /* a communicator has ended, or got a team */
    /* A type or an operation that was used often has ended, or a plan was forced. */
    _Atomic uint32_t calls;
    /* UNDRIVEN: a collective of mortar's has ended since mortar_engine_drive was last called; a
     * DRIVER for each thread that is in it. */
    _Atomic uint32_t undriven;
} __attribute__((aligned(16))) changes;
/* For the door, which asks for the one once. If that is not 0 where a call looks for what the host
 * MPI has, it calls the other, and then looks again, until that is false: it has driven nothing, as
 * more would not help (progress.c). Local. */
_Atomic uint32_t *mortar_engine_undriven(void);
bool mortar_engine_drive(struct driving *driving);
/* Behind a call of mortar's: should the host MPI be driven at once? Then call drive_due. Local. */
SHORT_WAY static inline bool drive_is_due(const struct team *team) {
    if (!(atomic_load_explicit(&changes.undriven, memory_order_relaxed) & UNDRIVEN))
        atomic_fetch_or_explicit(&changes.undriven, UNDRIVEN, memory_order_relaxed);
    return patience_drives(&team->patience, clock_ticks()) && team->progress;
}
/* What a communicator is, as one thread has asked before. */
struct recent {
    MPI_Comm comm;
    uint32_t changes; /* changes.comms at that time */
    struct met met;
};
enum { RECENTS = 8 }; /* not many more: test/lint/symbols.py says why */
/* A communicator that this thread is freeing, in a callback of another one perhaps. */
struct burial {
    MPI_Comm comm;
    const struct burial *outer;
};
extern _Thread_local struct this_thread {
    struct inside *inside; /* the outermost call inside mortar, on its stack; see mpi/take.c */
    const struct burial *burials; /* the innermost; mostly NULL */
    struct recent recents[RECENTS];
} this_thread;
static inline struct this_thread *own_thread(void) {
    struct this_thread *thread = &this_thread;
    /* The address takes a call, and GCC would rather make one for each member. */
    __asm__("" : "+r"(thread));
    return thread;
}
/* A communicator has two places, because programs use some of them in turns, as the rows and the
 * columns of a grid, and what shares one place will hardly share the other. */
static inline struct recent *recent_at(struct this_thread *thread, MPI_Comm comm, int place) {
    uint64_t mix = hashed((uintptr_t)(intptr_t)comm);
    return &thread->recents[(mix >> (61 - 3 * place)) % RECENTS];
}
static inline bool is_current(const struct recent *recent) {
    return recent->changes == atomic_load_explicit(&changes.comms, memory_order_acquire);
}
/* NULL: this thread has not asked, or something may have changed. Local. */
static inline struct recent *recent_find(struct this_thread *thread, MPI_Comm comm) {
    struct recent *recent = recent_at(thread, comm, 0);
    if (recent->comm != comm) recent = recent_at(thread, comm, 1);
    return recent->comm == comm && is_current(recent) ? recent : NULL;
}
/* The team of a communicator if this thread asked for it not long ago, else NULL. Local. */
static inline struct team *team_recent(struct this_thread *thread, MPI_Comm comm) {
    const struct recent *recent = recent_find(thread, comm);
    return recent ? recent->met.team : NULL;
}
/* Call after MPI_Init: from now on communicators get teams. Local. */
void teams_start(void);
/* Call at MPI_Finalize: frees the teams of communicators that were never freed. Collective over
 * each of them. */
void teams_finish(void);
/* MPI ends: what mortar_engine_drive has made goes, too. Local. */
void progress_finish(void);
/* For MPI_Comm_free and MPI_Comm_disconnect: calls end(comm), the host's function, frees the team,
 * and returns what `end` returned. */
int team_buries(MPI_Comm *comm, int (*end)(MPI_Comm *comm));
/* From now on this process may be in a communicator with processes of other jobs. Local. */
void strangers_may_come(void);
/* True: a process of this intracommunicator belongs to another job, so mortar may not run there.
 * Local; the same on all ranks. */
bool has_strangers(MPI_Comm comm);
/* True: a communicator of MPICH's whose ranks are threads (MPIX_Threadcomm_init). Those of one
 * process share its handle, so mortar keeps nothing of it. Local; the same on all ranks. */
bool has_threads(MPI_Comm comm);
/* Calls visit for every communicator that lives. Local. */
void teams_visit(void (*visit)(struct met met));
/* Called with every communicator before what mortar has of it is freed, to collect its counters.
 * Set by mpi/. */
extern void (*team_farewell)(struct met met);
/* Runs the host MPI's own collective for this call on a communicator with the ranks of a team that
 * has a wire. 0 or -errno, on this rank. Set by mpi/. */
extern int (*wire_collective)(MPI_Comm comm, struct team *team, const struct call *call,
                              void *tables);
/* Bytes of `tables` per rank of the team. */
enum { wire_tables = 2 * (sizeof(MPI_Count) + sizeof(MPI_Aint) + 2 * sizeof(int)) };

/* ---- messenger.c ---- */
/* For MPI_Init and MPI_Finalize. Collective over MPI_COMM_WORLD. */
void messenger_open(void);
void messenger_close(void);

/* ---- settings.c ---- */
/* True: some rank of the job has set this option, which must be a WISH. The same on all ranks once
 * a communicator of all ranks was used; before that, only whether this rank has set it. Local. */
bool settings_wanted(enum option option);
/* True: all ranks of the job have found that they have the same settings. It becomes so between the
 * same two calls of each communicator on all ranks. Local. */
bool settings_are_alike(void);
/* Is each node of the job known to be crowded, with many ranks for each processor? The same on all
 * ranks of a communicator, between the same two calls of it. Local. */
bool settings_say_crowded(void);
/* Called when this process has taken over another rank's settings. Set by mpi/. */
extern void (*settings_changed)(void);

/* ---- private.c ---- */
/* The program has begun to make a communicator by a nonblocking call. Local. */
void making_may_pend(void);
/* True: no other communicator can be under construction on this rank while a call of mortar's makes
 * one. Else Open MPI may wait for that one, which the program completes after the call. Local. */
bool makes_alone(void);
/* Makes a private communicator of the same ranks, with MPI_ERRORS_RETURN. Not by MPI_Comm_dup,
 * which would copy the program's attributes and call its functions. Free it with host.comm_free.
 * Collective; 0 or -EIO, on this rank. */
int comm_private(MPI_Comm comm, MPI_Comm *own);

#endif
