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
 * message has arrived. Such calls neither wait nor look twice. So the door has the host MPI driven
 * before the first of them behind a collective of mortar's (door/list.h, LOOK), and not behind each
 * collective: the turns take 40 to 320 ns, a short collective 240. */
#define _GNU_SOURCE
#include "reach/host.h"

#include "reach/birth.h"
#include "reach/reach.h"

#include <errno.h>
#include <pthread.h>
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

_Atomic bool *mortar_engine_undriven(void) { return &changes.undriven; }

static pthread_mutex_t lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP; /* a callback may look, too */
static MPI_Request *behind;
static bool finished;

void mortar_engine_drive(void) {
    /* Of 20 messages to a rank all are there after two turns of Open MPI, which takes up to 31 of a
     * queue at a time, and after eight of MPICH. Open MPI may yield the processor in each. */
    int done, turns = host.open_mpi ? 2 : 8;
    changes.undriven = false;
    pthread_mutex_lock(&lock);
    if (!behind && !finished) behind = endless();
    for (int i = 0; i < turns && behind; i++) host.test(behind, &done, MPI_STATUS_IGNORE);
    pthread_mutex_unlock(&lock);
}

void progress_finish(void) {
    pthread_mutex_lock(&lock);
    end(behind);
    behind = NULL;
    finished = true;
    pthread_mutex_unlock(&lock);
}
