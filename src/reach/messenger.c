/* SPDX-License-Identifier: BSD-3-Clause */
/* messenger - one communicator of mortar's own with the ranks of MPI_COMM_WORLD, which carries the
 * messages of all teams over several nodes. It is made in MPI_Init, so none has to be made in the
 * program's calls: Open MPI makes one communicator after the other, and a call that makes one may
 * wait for another that is being made beside it, which waits for the call.
 *
 * Tags tell the teams apart. Each rank picks those under which it receives, as it would pick a
 * port, so the ranks of a team need not agree on them. */
#include "reach/host.h"

#include "reach/reach.h"
#include "reach/wire.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>

static MPI_Comm messenger = MPI_COMM_NULL;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* what follows */
static int most_tag;
static struct tags *taken; /* ascending */
static int latest;         /* the end of those that were taken last */

void messenger_open(void) {
    int ranks = 0, found = 0, *most;
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    /* The one thing that is done because of what the launcher says, and so all ranks have to hear
     * the same: whether all of them share a node. */
    if (ranks == 1 || ranks == launcher_local_ranks()) return;
    if (comm_private(MPI_COMM_WORLD, &messenger) != 0) messenger = MPI_COMM_NULL;
    PMPI_Comm_get_attr(MPI_COMM_WORLD, MPI_TAG_UB, &most, &found);
    if (found) most_tag = *most < INT_MAX ? *most : INT_MAX - 1;
}

void messenger_close(void) {
    if (messenger != MPI_COMM_NULL) host.comm_free(&messenger);
}

MPI_Comm messenger_comm(void) { return messenger; }

/* Takes the first `count` tags that are free from `from` on. */
static bool take(struct tags *mine, int count, int from) {
    for (struct tags **link = &taken;; link = &(*link)->next) {
        struct tags *next = *link;
        if ((next ? next->first : most_tag + 1) - from >= count) {
            *mine = (struct tags){.first = from, .end = from + count, .next = next};
            *link = mine;
            latest = mine->end;
            return true;
        }
        if (!next) return false;
        if (next->end > from) from = next->end;
    }
}

int tags_take(struct tags *mine, int count) {
    *mine = (struct tags){0};
    if (messenger == MPI_COMM_NULL) return -ENOSYS;
    pthread_mutex_lock(&lock);
    if (latest < TAG_FIRST) latest = TAG_FIRST;
    bool found = take(mine, count, latest) || take(mine, count, TAG_FIRST);
    pthread_mutex_unlock(&lock);
    return found ? 0 : -ENOSPC;
}

void tags_give(struct tags *mine) {
    pthread_mutex_lock(&lock);
    struct tags **link = &taken;
    while (*link && *link != mine) link = &(*link)->next;
    if (*link) *link = mine->next;
    pthread_mutex_unlock(&lock);
}
