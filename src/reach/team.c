/* SPDX-License-Identifier: BSD-3-Clause */
/* team - the team of a communicator: kept as an attribute, freed with the communicator or at
 * MPI_Finalize. When it is built: start.c; how: birth.c. */
#include "reach/host.h"

#include "reach/birth.h"
#include "reach/reach.h"
#include "reach/wire.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

void (*team_farewell)(struct team *team);

/* Valid between teams_start and teams_finish. */
static _Atomic int keyval = MPI_KEYVAL_INVALID;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the list of teams */
struct live {
    struct team *team;
    MPI_Comm comm;
    _Atomic int holders; /* the attribute, and each running team_buries */
    bool gone;           /* the team was freed; the struct remains until holders == 0 */
    struct live *next, **link;
};
static struct live *living;

_Thread_local struct this_thread this_thread;
_Atomic uint32_t team_changes = 1;

/* ---- progress: testing a generalized request that never completes drives every MPI library that
 * was tried. It takes 20-40 ns and adds nothing to the match queues. Each team has its own request,
 * because two threads may wait on two teams. ---- */

static int no_query(void *state, MPI_Status *status) {
    (void)state;
    PMPI_Status_set_elements(status, MPI_BYTE, 0);
    PMPI_Status_set_cancelled(status, 0);
    return MPI_SUCCESS;
}
static int no_free(void *state) {
    (void)state;
    return MPI_SUCCESS;
}
static int no_cancel(void *state, int complete) {
    (void)state;
    (void)complete;
    return MPI_SUCCESS;
}

static void drive_mpi(struct team *team) {
    int done;
    PMPI_Test(team->progress_state, &done, MPI_STATUS_IGNORE);
}

int progress_start(struct team *team) {
    MPI_Request *request = malloc(sizeof *request);
    if (!request) return -ENOMEM;
    if (PMPI_Grequest_start(no_query, no_free, no_cancel, NULL, request) != MPI_SUCCESS) {
        free(request);
        return -EIO;
    }
    team->progress_state = request;
    team->progress = drive_mpi;
    return 0;
}

static void progress_stop(struct team *team) {
    MPI_Request *request = team->progress_state;
    if (!request) return;
    PMPI_Grequest_complete(*request);
    PMPI_Wait(request, MPI_STATUS_IGNORE);
    free(request);
    team->progress_state = NULL;
}

/* ---- death ---- */

/* Frees all that a team owns, and the team. */
static void team_end(struct team *team) {
    if (team->plans_free) team->plans_free(team);
    if (team->settle) team->settle(team);
    for (struct team *part = team; part; part = part->node) {
        progress_stop(part);
        wire_close(part);
        team_release(part);
        if (part->control) munmap(part->control, part->control_bytes);
    }
    free(team->node);
    free(team);
}

/* Keeps the team for another communicator of the same ranks, if it may serve one: after an error
 * ranks may disagree about what was the last call. Calls nothing of the MPI library. */
static bool team_spared(struct team *team) {
    if (!team->birth || team->failed || team->doubt.what ||
        atomic_load(&keyval) == MPI_KEYVAL_INVALID)
        return false;
    if (team->plans_rest) team->plans_rest(team);
    team_forget_comm(team);
    team->setup_seconds = 0;
    return spare_keep(team);
}

static void team_free(struct live *live) {
    atomic_fetch_add(&team_changes, 1);
    if (team_farewell) team_farewell(live->team);
    if (live->team->start.young) spare_owes(live->team->start.group, live->team->start.ticks);
    if (!team_spared(live->team)) team_end(live->team);
    pthread_mutex_lock(&lock);
    *live->link = live->next;
    if (live->next) live->next->link = live->link;
    pthread_mutex_unlock(&lock);
    live->gone = true;
}

static void let_go(struct live *live) {
    if (atomic_fetch_sub(&live->holders, 1) > 1) return;
    if (!live->gone) team_free(live);
    free(live);
}

static int on_comm_free(MPI_Comm comm, int key, void *live, void *state) {
    (void)comm, (void)key, (void)state;
    let_go(live);
    return MPI_SUCCESS;
}

void teams_visit(void (*visit)(struct team *team)) {
    pthread_mutex_lock(&lock);
    for (struct live *live = living; live; live = live->next) visit(live->team);
    pthread_mutex_unlock(&lock);
}

void teams_start(void) {
    int key;
    /* MPI_COMM_NULL_COPY_FN: a duplicated communicator gets a team of its own. */
    if (PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_comm_free, &key, NULL) == MPI_SUCCESS)
        atomic_store(&keyval, key);
}

void teams_finish(void) {
    int key = atomic_exchange(&keyval, MPI_KEYVAL_INVALID);
    while (living) team_free(living);
    for (struct team *team; (team = spare_drop(true));) team_end(team);
    if (key != MPI_KEYVAL_INVALID) PMPI_Comm_free_keyval(&key);
}

static struct live *team_hold(MPI_Comm comm) {
    pthread_mutex_lock(&lock);
    struct live *live = living;
    while (live && live->comm != comm) live = live->next;
    if (live) atomic_fetch_add(&live->holders, 1);
    pthread_mutex_unlock(&lock);
    return live;
}

/* While a communicator is being freed, the program's attribute callbacks may still use it. mortar's
 * own attribute may be deleted by then on one rank and not on another, because ranks may set their
 * attributes in different orders. So such calls are native; callbacks run in the thread that frees.
 * The team is freed here and not with its attribute: with messages in flight MPICH deletes the
 * attributes as late as in the MPI_Wait for the last message, at different times on different
 * ranks, and holding locks that freeing a team needs. */
int team_buries(MPI_Comm *comm, int (*end)(MPI_Comm *comm)) {
    struct this_thread *thread = &this_thread;
    MPI_Comm outer = thread->dying;
    bool mortal = comm && *comm != MPI_COMM_WORLD && *comm != MPI_COMM_SELF;
    struct live *live = mortal ? team_hold(*comm) : NULL;
    thread->team = NULL;
    if (mortal) thread->dying = *comm;
    int error = end(comm);
    thread->dying = outer;
    if (live && error == MPI_SUCCESS) team_free(live);
    if (live) let_go(live);
    return error;
}

/* ---- birth ---- */

static struct live *team_new(MPI_Comm comm) {
    struct live *live = calloc(1, sizeof *live);
    /* On this rank alone, before anything is agreed: the one place where malloc must not fail. */
    if (live) live->team = start_meet(comm);
    if (!live || !live->team) {
        free(live);
        return NULL;
    }
    live->comm = comm;
    atomic_init(&live->holders, 1);
    pthread_mutex_lock(&lock);
    live->next = living;
    live->link = &living;
    if (living) living->link = &live->next;
    living = live;
    pthread_mutex_unlock(&lock);
    return live;
}

/* The team that has grown takes the place of the young one. */
static void team_replace(struct live *live, struct team *grown) {
    struct team *young = live->team;
    young->start.grown = true;
    if (team_farewell) team_farewell(young);
    pthread_mutex_lock(&lock);
    live->team = grown;
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&team_changes, 1);
    team_end(young);
    for (struct team *team; (team = spare_drop(false));) team_end(team);
}

HOT static struct live *attached(MPI_Comm comm, int key) {
    struct live *live = NULL;
    int found = 0;
    if (key != MPI_KEYVAL_INVALID) PMPI_Comm_get_attr(comm, key, &live, &found);
    return found ? live : NULL;
}

HOT struct team *team_known(MPI_Comm comm) {
    uint32_t now = atomic_load_explicit(&team_changes, memory_order_acquire);
    struct team *recent = team_recent(comm);
    if (recent) return recent;
    if (comm == this_thread.dying) return NULL;
    struct live *live = attached(comm, atomic_load_explicit(&keyval, memory_order_acquire));
    if (!live || live->gone) return NULL;
    this_thread.comm = comm;
    this_thread.team = live->team;
    this_thread.changes = now;
    return live->team;
}

/* The live team of a communicator, with a young one if it had none. NULL: leave the call to the
 * host MPI. */
static struct live *team_live(MPI_Comm comm, int key) {
    if (key == MPI_KEYVAL_INVALID || comm == this_thread.dying) return NULL;
    struct live *live = attached(comm, key);
    if (live) return live->gone ? NULL : live;
    live = team_new(comm);
    if (live) PMPI_Comm_set_attr(comm, key, live);
    return live;
}

/* The team of a live one after a look, if it is time for one. */
static struct team *team_grown(struct live *live, bool at_once) {
    bool looks = live->team->start.young && (at_once || start_due(live->team));
    struct team *grown = looks ? start_look(live->team, live->comm, at_once) : NULL;
    if (grown) team_replace(live, grown);
    return live->team;
}

HOT struct team *team_met(MPI_Comm comm) {
    struct team *known = team_known(comm);
    if (known) return known;
    struct live *live = team_live(comm, atomic_load_explicit(&keyval, memory_order_acquire));
    return live ? live->team : NULL;
}

struct team *team_of(MPI_Comm comm) {
    struct live *live = team_live(comm, atomic_load_explicit(&keyval, memory_order_acquire));
    return live ? team_grown(live, true) : NULL;
}

HOT struct team *team_counts(struct team *young, MPI_Comm comm, unsigned weight) {
    bool at_once = start_at_once();
    struct team *team = young;
    if (at_once || start_due(young))
        team = team_grown(attached(comm, atomic_load(&keyval)), at_once);
    if (team->start.young) team->start.weight += weight;
    return team;
}
