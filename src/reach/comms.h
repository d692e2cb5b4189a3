/* SPDX-License-Identifier: BSD-3-Clause */
/* comms.h - a part of reach.h, for who included mpi.h first: communicators and their teams. */
#ifndef MORTAR_COMMS_H
#define MORTAR_COMMS_H

#include "reach/host.h"

/* ---- team.c, birth.c ---- */
/* The team of an intracommunicator or intercommunicator, built collectively at its first blocking
 * collective. It dies with the communicator. NULL, on all ranks, before teams_start and after
 * teams_finish, and when the communicator is being freed; NULL when there is no memory for the
 * struct itself. Then leave the call to the host MPI. */
struct team *team_of(MPI_Comm comm);
/* Its team if it has one already, else NULL. Local. */
struct team *team_known(MPI_Comm comm);
/* Grows when what is remembered about a communicator may be void: a team died, or another plan was
 * forced. */
extern _Atomic uint32_t team_changes;
extern _Thread_local struct this_thread {
    struct inside *inside; /* mortar: the outermost call, on its stack; see mpi/take.c */
    /* The last communicator, which is often the next one: asking the MPI library touches memory
     * that is in no cache by now. */
    MPI_Comm comm;
    struct team *team;
    uint32_t changes;
    MPI_Comm dying; /* what this thread is freeing; 0: nothing */
} this_thread;
/* Its team, when that was asked for last; else NULL. Local. */
static inline struct team *team_recent(MPI_Comm comm) {
    bool same = this_thread.comm == comm &&
                this_thread.changes == atomic_load_explicit(&team_changes, memory_order_acquire);
    return same ? this_thread.team : NULL;
}
/* After MPI_Init, which makes the world whose communicators get teams. Local. */
void teams_start(void);
/* At MPI_Finalize: frees the teams of communicators that were never freed. Collective over each of
 * them. */
void teams_finish(void);
/* MPI_Comm_free and MPI_Comm_disconnect: hands the communicator to the host's. Returns what that
 * returns. */
int team_buries(MPI_Comm *comm, int (*end)(MPI_Comm *comm));
/* From now on this process may be in a communicator with processes of other jobs. Local. */
void strangers_may_come(void);
/* Is a process of this intracommunicator of another job? Then mortar may not run there. Local; the
 * same on all ranks. */
bool has_strangers(MPI_Comm comm);
/* Calls visit for every team that lives. Local. */
void teams_visit(void (*visit)(struct team *team));
/* The shared heap of this process, if it is loaded and shared: 0, or -errno. Local; see
 * heap/heap.h. */
struct heap_region;
int heap_of_this_process(struct heap_region *region);
/* Called with every team before it dies, to collect its counters. */
extern void (*team_farewell)(struct team *team);
/* Runs the host MPI's own collective for this call on a communicator with the ranks of a team that
 * has a wire. 0 or -errno, on this rank. Set by mpi/. */
extern int (*wire_collective)(MPI_Comm comm, struct team *team, const struct call *call,
                              void *tables);
/* Bytes there for each rank of the team. */
enum { wire_tables = 2 * (sizeof(MPI_Count) + sizeof(MPI_Aint) + 2 * sizeof(int)) };

/* ---- settings.c ---- */
/* Does a rank of the job want this at its end (an option that is a WISH)? The same on all ranks
 * once a communicator of all of them has got its team; before, whether this rank wants it.
 * Local. */
bool settings_wanted(enum option option);
/* Called when this process has taken over another rank's settings. Set by mpi/. */
extern void (*settings_changed)(void);

/* ---- private.c ---- */
/* A private communicator of the same ranks, whose errors are returned. No MPI_Comm_dup: it would
 * copy the program's attributes and call its functions. Free it with host.comm_free. Collective; 0
 * or -EIO, on this rank. */
int comm_private(MPI_Comm comm, MPI_Comm *own);

#endif
