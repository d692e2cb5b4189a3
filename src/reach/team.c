/* SPDX-License-Identifier: BSD-3-Clause */
/* team - what mortar has of a communicator, at first a struct young, later a team: found by its
 * handle, freed with the communicator or at MPI_Finalize. When a team is built: start.c; how:
 * birth.c.
 *
 * Handles are used again, so the table of handles must know of every communicator's end. mortar's
 * attribute tells of it. But that is half of what is done for a communicator of a call or two. So
 * one that was seen when it was made, by a call of abi/makers.h, has none while it is young: the
 * calls that free it are seen, too. docs/design.md says what else may happen. */
#include "reach/host.h"

#include "reach/birth.h"
#include "reach/handles.h"
#include "reach/reach.h"
#include "reach/wire.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>

void (*team_farewell)(struct met met);

/* Valid between teams_start and teams_finish. */
static _Atomic int keyval = MPI_KEYVAL_INVALID;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* the table and the list */
static struct handles living;
static struct live *newest; /* of the list */
struct live {
    struct handle handle; /* first, the communicator's; in `living`, unless it is being freed */
    /* Teams end in the order of this list, which is the same on all ranks of two communicators. */
    struct live *next, **link;
    struct young young; /* p == 0: no collective was called yet */
    struct team *team;  /* NULL: it is young */
    MPI_Comm comm;
    _Atomic int holders; /* the communicator, and each running team_buries */
    bool told;           /* the communicator's end is told by mortar's attribute */
    bool gone;           /* it was freed; the struct remains until holders == 0 */
    bool in_use;         /* its communicator was freed in a call on it; team_buries holds it */
};

static uintptr_t key_of(MPI_Comm comm) { return (uintptr_t)(intptr_t)comm; }

static inline bool is_met(const struct live *live) { return live->young.p != 0; }

static inline struct met met_of(struct live *live) {
    if (live->team) return (struct met){.team = live->team};
    return (struct met){.young = !is_met(live) || live->young.left ? NULL : &live->young};
}

_Thread_local struct this_thread this_thread;
struct changes changes = {.comms = 1, .calls = 1};

static void forget_recent(MPI_Comm comm) {
    for (int place = 0; place < 2; place++) {
        struct recent *recent = recent_at(&this_thread, comm, place);
        if (recent->comm == comm) *recent = (struct recent){0};
    }
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
        if (part->ledgers) ledger_leave(part);
        if (part->control) control_unmap(part->control, part->control_bytes);
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

HOT static struct live *live_find(MPI_Comm comm) {
    pthread_mutex_lock(&lock);
    struct live *live = (struct live *)handles_find(&living, key_of(comm));
    pthread_mutex_unlock(&lock);
    return live;
}

static void live_show(struct live *live) {
    pthread_mutex_lock(&lock);
    handles_add(&living, &live->handle);
    pthread_mutex_unlock(&lock);
}

/* From now on the handle may be another communicator's. */
static void live_hide(struct live *live) {
    pthread_mutex_lock(&lock);
    handles_remove(&living, &live->handle);
    pthread_mutex_unlock(&lock);
    if (is_met(live)) atomic_fetch_add(&changes.comms, 1);
}

/* What was hidden ends. */
static void live_end(struct live *live) {
    if (team_farewell) team_farewell(met_of(live));
    if (!live->team) spare_owes(live->young.group, live->young.ticks);
    else if (!team_spared(live->team)) team_end(live->team);
    pthread_mutex_lock(&lock);
    *live->link = live->next;
    if (live->next) live->next->link = live->link;
    pthread_mutex_unlock(&lock);
    live->gone = true;
}

static void let_go(struct live *live) {
    if (atomic_fetch_sub(&live->holders, 1) > 1) return;
    if (!live->gone) {
        live_hide(live);
        live_end(live);
    }
    free(live);
}

/* The communicator of what was hidden is no more. */
static void live_over(struct live *live) {
    bool held = live->in_use;
    live_end(live);
    if (!live->told) let_go(live);
    if (held) let_go(live);
}

static int on_comm_free(MPI_Comm comm, int key, void *live, void *state) {
    (void)comm, (void)key, (void)state;
    let_go(live);
    return MPI_SUCCESS;
}

void teams_visit(void (*visit)(struct met met)) {
    pthread_mutex_lock(&lock);
    for (struct live *live = newest; live; live = live->next) {
        struct met met = met_of(live);
        if (met.team || met.young) visit(met);
    }
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
    for (struct live *live; (live = newest);) {
        live_hide(live);
        live_over(live);
    }
    for (struct team *team; (team = spare_drop(true));) team_end(team);
    if (key != MPI_KEYVAL_INVALID) PMPI_Comm_free_keyval(&key);
}

/* While a communicator is being freed, the program's attribute callbacks may still use it. mortar's
 * own attribute may be deleted by then on one rank and not on another, because ranks may set their
 * attributes in different orders. So such calls are native; callbacks run in the thread that frees.
 * The team is freed here and not with its attribute: with messages in flight MPICH deletes the
 * attributes as late as in the MPI_Wait for the last message, at different times on different
 * ranks, and holding locks that freeing a team needs.
 *
 * An error handler may free the communicator of the call that has failed. If the MPI library has
 * called it that call is still to come back through mortar, so what it uses stays until
 * MPI_Finalize. */
static int live_buries(struct live *live, MPI_Comm *comm, int (*end)(MPI_Comm *comm)) {
    struct this_thread *thread = &this_thread;
    const struct burial *outer = thread->burials, here = {*comm, outer};
    if (live) atomic_fetch_add(&live->holders, 1);
    if (live) live_hide(live);
    thread->burials = &here;
    int error = end(comm);
    thread->burials = outer;
    if (!live) return error;
    live->in_use = error == MPI_SUCCESS && thread->inside;
    if (live->in_use) return error;
    if (error == MPI_SUCCESS) live_over(live);
    else live_show(live);
    let_go(live);
    return error;
}

/* A communicator in whose callbacks this thread is now. */
static bool is_dying(const struct this_thread *thread, MPI_Comm comm) {
    const struct burial *burial = thread->burials;
    while (burial && burial->comm != comm) burial = burial->outer;
    return burial != NULL;
}

/* An error handler of the program's may not come back (longjmp, an exception). So it is called when
 * all is as before. */
int team_buries(MPI_Comm *comm, int (*end)(MPI_Comm *comm)) {
    if (comm) forget_recent(*comm);
    if (!comm || *comm == MPI_COMM_WORLD || *comm == MPI_COMM_SELF) return end(comm);
    struct live *live = live_find(*comm);
    MPI_Errhandler users = host.errors_return;
    if (live) PMPI_Comm_get_errhandler(*comm, &users);
    if (users == host.errors_return) return live_buries(live, comm, end);
    PMPI_Comm_set_errhandler(*comm, host.errors_return);
    int error = live_buries(live, comm, end);
    if (error != MPI_SUCCESS) PMPI_Comm_set_errhandler(*comm, users);
    PMPI_Errhandler_free(&users);
    if (error != MPI_SUCCESS) PMPI_Comm_call_errhandler(*comm, error);
    return error;
}

/* ---- birth ---- */

static struct live *live_new(MPI_Comm comm) {
    struct live *live = calloc(1, sizeof *live);
    /* On this rank alone, before anything is agreed: the one place where malloc must not fail. */
    if (!live) return NULL;
    live->comm = comm;
    live->handle.key = key_of(comm);
    atomic_init(&live->holders, 1);
    pthread_mutex_lock(&lock);
    handles_add(&living, &live->handle);
    live->next = newest;
    live->link = &newest;
    if (newest) newest->link = &live->next;
    newest = live;
    pthread_mutex_unlock(&lock);
    return live;
}

/* The communicator's end will be told by an attribute. */
static void live_watch(struct live *live, int key) {
    if (!live->told) live->told = PMPI_Comm_set_attr(live->comm, key, live) == MPI_SUCCESS;
}

int comm_made(int error, const MPI_Comm *made) {
    if (error != MPI_SUCCESS || *made == MPI_COMM_NULL) return error;
    if (atomic_load(&keyval) == MPI_KEYVAL_INVALID) return error;
    struct live *former = live_find(*made); /* its end was not seen */
    if (former) {
        live_hide(former);
        live_over(former);
    }
    if (!has_threads(*made)) live_new(*made);
    return error;
}

/* The first collective. */
static void live_meet(struct live *live) {
    struct young young;
    const char *why = start_meet(live->comm, &young);
    struct team *native = why ? start_native(&young, why) : NULL;
    young.left = why && !native;
    pthread_mutex_lock(&lock);
    live->young = young;
    live->team = native;
    pthread_mutex_unlock(&lock);
}

/* A young communicator gets its team. */
static void live_grow(struct live *live, struct team *team) {
    live_watch(live, atomic_load(&keyval));
    pthread_mutex_lock(&lock);
    live->team = team;
    pthread_mutex_unlock(&lock);
    atomic_fetch_add(&changes.comms, 1);
    for (struct team *spare; (spare = spare_drop(false));) team_end(spare);
}

HOT struct met comm_known(MPI_Comm comm) {
    struct this_thread *thread = own_thread();
    struct recent *recent = recent_find(thread, comm);
    if (recent && (recent->met.team || recent->met.young)) return recent->met;
    if (is_dying(thread, comm)) return (struct met){0};
    uint32_t now = atomic_load_explicit(&changes.comms, memory_order_acquire);
    struct live *live = live_find(comm);
    if (!live) return (struct met){0};
    if (!recent) {
        forget_recent(comm);
        recent = recent_at(thread, comm, 0);
        if (is_current(recent)) recent = recent_at(thread, comm, 1);
    }
    *recent = (struct recent){.comm = comm, .changes = now, .met = met_of(live)};
    return recent->met;
}

/* What is there of a communicator; it begins if there is nothing. NULL: leave the call to the host
 * MPI. */
static struct live *live_of(MPI_Comm comm) {
    int key = atomic_load_explicit(&keyval, memory_order_acquire);
    if (key == MPI_KEYVAL_INVALID || is_dying(&this_thread, comm)) return NULL;
    struct live *live = live_find(comm);
    if (!live && has_threads(comm)) return NULL;
    if (!live) {
        live = live_new(comm); /* its making was not seen */
        if (live) live_watch(live, key);
    }
    if (live && !is_met(live)) live_meet(live);
    return live;
}

/* The team after a look, if it is time for one. */
static struct team *live_look(struct live *live, bool at_once) {
    bool looks = !live->team && !live->young.left && (at_once || start_due(&live->young));
    struct team *team = looks ? start_look(&live->young, live->comm, at_once) : NULL;
    if (team) live_grow(live, team);
    return live->team;
}

struct met comm_met(MPI_Comm comm) {
    struct live *live = live_of(comm);
    return live ? met_of(live) : (struct met){0};
}

struct team *team_of(MPI_Comm comm) {
    struct live *live = live_of(comm);
    return live ? live_look(live, true) : NULL;
}

struct team *young_counts(struct young *young, MPI_Comm comm, unsigned weight) {
    bool at_once = start_at_once();
    struct team *team = NULL;
    if (at_once || start_due(young)) team = live_look(live_of(comm), at_once);
    if (!team) young->weight += weight;
    return team;
}
