/* SPDX-License-Identifier: BSD-3-Clause */
/* private - a communicator of mortar's own with the ranks of another. */
#include "reach/host.h"

#include "reach/reach.h"

#include <errno.h>

int comm_private(MPI_Comm comm, MPI_Comm *own) {
    MPI_Group group;
    *own = MPI_COMM_NULL;
    PMPI_Comm_group(comm, &group);
    int error = PMPI_Comm_create(comm, group, own);
    PMPI_Group_free(&group);
    if (error != MPI_SUCCESS || *own == MPI_COMM_NULL) return -EIO;
    PMPI_Comm_set_errhandler(*own, MPI_ERRORS_RETURN);
    return 0;
}
