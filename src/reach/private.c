/* SPDX-License-Identifier: BSD-3-Clause */
/* private - a communicator of mortar's own with the ranks of another. */
#include "reach/host.h"

#include "reach/reach.h"

#include <errno.h>

int comm_private(MPI_Comm comm, MPI_Comm *own) {
    MPI_Group group;
    int ranks = 0, grouped = 0, me = 0, error;
    *own = MPI_COMM_NULL;
    PMPI_Comm_size(comm, &ranks);
    PMPI_Comm_rank(comm, &me);
    PMPI_Comm_group(comm, &group);
    PMPI_Group_size(group, &grouped);
    /* MPICH 5.0.2 gives for a grid that is smaller than its parent (MPI_Cart_create) the parent's
     * group: a communicator made of it has ranks that do not know of it, and what is sent to them
     * is received on the next one of the same context. */
    if (grouped == ranks) error = PMPI_Comm_create(comm, group, own);
    else error = PMPI_Comm_split(comm, 0, me, own);
    PMPI_Group_free(&group);
    if (error != MPI_SUCCESS || *own == MPI_COMM_NULL) return -EIO;
    PMPI_Comm_set_errhandler(*own, MPI_ERRORS_RETURN);
    return 0;
}
