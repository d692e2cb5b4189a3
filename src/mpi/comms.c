/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that make and free communicators: reach/team.c sees their beginning and their end.
 * Collectives that attribute callbacks call on the communicator being freed are native.
 * MPI_Intercomm_merge, MPI_Comm_create_from_group: only these can make an intracommunicator with
 * processes of other jobs, which may run without mortar. After such a call birth.c looks for them
 * in each new communicator. */
#include "mpi/calls.h"

/* not in MPI 3 */
int MPI_Comm_create_from_group(MPI_Group group, const char *tag, MPI_Info info,
                               MPI_Errhandler handler, MPI_Comm *comm);
int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *made, MPI_Request *request);

#define MAKER(name, symbol, words, parameters, arguments)                                          \
    int MPI_##symbol parameters { return comm_made(host.name arguments, made); }
#include "abi/makers.h"
#undef MAKER

/* What they make is met in its first collective, as there is no communicator yet. */
int MPI_Comm_idup(MPI_Comm comm, MPI_Comm *made, MPI_Request *request) {
    making_may_pend();
    return host.comm_idup(comm, made, request);
}

/* Where the MPI library has no such function (see create_in_world): hints need not be heeded. */
int MPI_Comm_idup_with_info(MPI_Comm comm, MPI_Info info, MPI_Comm *made, MPI_Request *request) {
    making_may_pend();
    if (!host.comm_idup_with_info) return host.comm_idup(comm, made, request);
    return host.comm_idup_with_info(comm, info, made, request);
}

int MPI_Comm_free(MPI_Comm *comm) { return team_buries(comm, host.comm_free); }

int MPI_Comm_disconnect(MPI_Comm *comm) { return team_buries(comm, host.comm_disconnect); }

int MPI_Intercomm_merge(MPI_Comm inter, int high, MPI_Comm *merged) {
    strangers_may_come();
    return comm_made(host.intercomm_merge(inter, high, merged), merged);
}

/* libmortar.so has this name also where the MPI library, of an older standard, has not, and
 * programs that look it up find it. There a group can only come from MPI_COMM_WORLD. */
static int create_in_world(MPI_Group group, const char *tag, MPI_Errhandler handler,
                           MPI_Comm *comm) {
    enum { least_most_tag = 32767 }; /* every MPI library has tags up to this one */
    int number = (int)(hash_text(HASH_START, tag) % least_most_tag);
    int error = host.comm_create_group(MPI_COMM_WORLD, group, number, comm);
    if (error == MPI_SUCCESS && *comm != MPI_COMM_NULL) PMPI_Comm_set_errhandler(*comm, handler);
    return error;
}

int MPI_Comm_create_from_group(MPI_Group group, const char *tag, MPI_Info info,
                               MPI_Errhandler handler, MPI_Comm *comm) {
    if (!host.comm_create_from_group)
        return comm_made(create_in_world(group, tag, handler, comm), comm);
    strangers_may_come();
    return comm_made(host.comm_create_from_group(group, tag, info, handler, comm), comm);
}
