/* SPDX-License-Identifier: BSD-3-Clause */
/* progress - drives the host MPI: while a rank waits in a collective of mortar's, and behind it.
 *
 * To test a generalized request that never completes drives every MPI library that was tried. It
 * takes 20-40 ns and adds nothing to the match queues. Each team has its own request, because two
 * threads may wait on two teams.
 *
 * A collective of the host MPI's drives it to its end: what others sent before a barrier is there
 * behind it, and programs count on that, though MPI promises it only for some later time. They call
 * MPI_Iprobe until it finds nothing more; or MPI_Bsend, whose buffer has room again once its last
 * message has arrived. Such calls neither wait nor look twice. So behind a collective of mortar's
 * the door has the host MPI driven where the first of them has found nothing, and makes that call
 * again, after 1, 2, 4, ... turns; before those that do not say what they found (door/list.h,
 * LOOK). Not behind each collective: the turns take 0.3 us and more, a short collective 0.24.
 *
 * What still lies with its sender does not come by that. Natively a rank's part in a collective
 * queues behind its messages; mortar's does not. So some hundred nonblocking sends that a rank
 * starts before a collective may wait in its library until it calls MPI again. */
#define _GNU_SOURCE
#include "reach/host.h"

#include "reach/birth.h"
#include "reach/reach.h"

#include <errno.h>
#include <stdlib.h>

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

/* NULL: there is no memory. */
static MPI_Request *endless(void) {
    MPI_Request *request = malloc(sizeof *request);
    if (!request || PMPI_Grequest_start(no_query, no_free, no_cancel, NULL, request) == MPI_SUCCESS)
        return request;
    free(request);
    return NULL;
}

static void end(MPI_Request *request) {
    if (!request) return;
    PMPI_Grequest_complete(*request);
    PMPI_Wait(request, MPI_STATUS_IGNORE);
    free(request);
}

static void drive_mpi(struct team *team) {
    int done;
    host.test(team->progress_state, &done, MPI_STATUS_IGNORE);
}

int progress_start(struct team *team) {
    team->progress_state = endless();
    if (!team->progress_state) return -ENOMEM;
    team->progress = drive_mpi;
    return 0;
}

void progress_stop(struct team *team) {
    end(team->progress_state);
    team->progress_state = NULL;
}

/* ---- behind a collective ---- */

_Atomic uint32_t *mortar_engine_undriven(void) { return &changes.undriven; }

/* Each thread that drives has a request of its own, also where the host MPI calls back a program's
 * function that looks. Those that nobody has. */
static struct spares spares;
static _Atomic bool finished;

/* Most programs that look so ask for what has not been sent yet. So after some looks in a row that
 * found nothing in the end, fewer turns have to do, but for some. */
static bool is_worth_all(bool all) {
    enum { in_a_row = 16, now_and_then = 32 };
    static _Atomic uint32_t fruitless;
    bool helped = atomic_fetch_and(&changes.undriven, ~(uint32_t)DRIVING_HELPED) & DRIVING_HELPED;
    if (helped) fruitless = 0;
    if (all) return true;
    uint32_t before = atomic_fetch_add(&fruitless, 1);
    return before < in_a_row || before % now_and_then == 0;
}

/* Of 20 messages to a rank all are there after two turns of Open MPI, of which a look is the first
 * itself: it takes up to 31 of a queue at a time. MPICH needs eight. Of 100 they are there after
 * 16, and after 32. An empty turn takes 40 ns, but Open MPI may yield the processor in it, and a
 * turn of Intel MPI takes 2 us. Other threads' turns are empty while one is inside; that one may
 * wait for what a thread here holds. */
static int least_turns(const struct driving *d) {
    if (!host.open_mpi) return 8;
    return d->looks ? 1 : 2;
}

static bool goes_on(const struct driving *d) {
    double enough = !d->all ? 1e-6 : host.open_mpi ? 50e-6 : 200e-6, too_much = 10e-3;
    double seconds = clock_seconds() - d->begun;
    bool others = atomic_load(&changes.undriven) >= 2 * DRIVER;
    if (others) return seconds < too_much;
    return d->turns < least_turns(d) || (d->turns < (d->all ? 64 : 8) && seconds < enough);
}

static void begin(struct driving *driving) {
    driving->begun = clock_seconds();
    driving->all = is_worth_all(driving->all);
}

bool mortar_engine_drive(struct driving *driving) {
    int done, until = driving->turns ? 2 * driving->turns : least_turns(driving);
    if (driving->over) return false;
    if (!driving->turns) begin(driving);
    atomic_fetch_add(&changes.undriven, DRIVER);
    atomic_fetch_and(&changes.undriven, ~(uint32_t)UNDRIVEN);
    MPI_Request *request = finished ? NULL : spares_take(&spares);
    if (!request && !finished) request = endless();
    do {
        if (request) host.test(request, &done, MPI_STATUS_IGNORE);
        driving->turns++;
        driving->over = !goes_on(driving);
    } while (!driving->over && driving->turns < until);
    end(spares_keep(&spares, request));
    if (!driving->over) atomic_fetch_or(&changes.undriven, UNDRIVEN); /* for who looks meanwhile */
    atomic_fetch_sub(&changes.undriven, DRIVER);
    return true;
}

void progress_finish(void) {
    finished = true;
    for (MPI_Request *request; (request = spares_take(&spares));) end(request);
}
