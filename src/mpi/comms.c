/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Comm_free, MPI_Comm_disconnect: collectives that attribute callbacks call on the communicator
 * being freed are native (team_buries). MPI_Intercomm_merge, MPI_Comm_create_from_group: only these
 * can make an intracommunicator with processes of other jobs, which may run without mortar. After
 * such a call birth.c looks for them in each new communicator. */
#include "mpi/calls.h"

#if MPI_VERSION < 4
int MPI_Comm_create_from_group(MPI_Group group, const char *tag, MPI_Info info,
                               MPI_Errhandler handler, MPI_Comm *comm);
#endif

int MPI_Comm_free(MPI_Comm *comm) { return team_buries(comm, host.comm_free); }

int MPI_Comm_disconnect(MPI_Comm *comm) { return team_buries(comm, host.comm_disconnect); }

int MPI_Intercomm_merge(MPI_Comm inter, int high, MPI_Comm *merged) {
    strangers_may_come();
    return host.intercomm_merge(inter, high, merged);
}

int MPI_Comm_create_from_group(MPI_Group group, const char *tag, MPI_Info info,
                               MPI_Errhandler handler, MPI_Comm *comm) {
    strangers_may_come();
    return host.comm_create_from_group(group, tag, info, handler, comm);
}
