/* SPDX-License-Identifier: BSD-3-Clause */
/* private - makes a private communicator with the ranks of another. */
#include "reach/host.h"

#include "reach/reach.h"

#include <errno.h>

static _Atomic bool pending;

void making_may_pend(void) { atomic_store(&pending, true); }

bool makes_alone(void) {
#ifdef MORTAR_SIM
    return true;
#endif
    return !host.many_threads && !atomic_load(&pending);
}

int comm_private(MPI_Comm comm, MPI_Comm *own) {
    MPI_Group group;
    int ranks = 0, grouped = 0, me = 0, error;
    *own = MPI_COMM_NULL;
    PMPI_Comm_size(comm, &ranks);
    PMPI_Comm_rank(comm, &me);
    PMPI_Comm_group(comm, &group);
    PMPI_Group_size(group, &grouped);
    /* For a Cartesian grid smaller than its parent (MPI_Cart_create), MPICH 5.0.2 returns the
     * parent's group. A communicator made from it would contain ranks that do not know of it, and
     * messages to them would be received on the next communicator with the same context. */
    if (grouped == ranks) error = host.comm_create(comm, group, own);
    else error = host.comm_split(comm, 0, me, own);
    PMPI_Group_free(&group);
    if (error != MPI_SUCCESS || *own == MPI_COMM_NULL) return -EIO;
    PMPI_Comm_set_errhandler(*own, host.errors_return);
    return 0;
}
