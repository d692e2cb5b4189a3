/* SPDX-License-Identifier: BSD-3-Clause */
/* host.h - the MPI library underneath. The calls that mortar takes are caught under their PMPI_ names too (that is how Fortran
 * arrives), so the engine reaches the originals through these pointers; every other PMPI_ name is called directly. */
#ifndef MORTAR_HOST_H
#define MORTAR_HOST_H

#include <mpi.h>

#include <stdbool.h>

struct host {
    int (*alltoall)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
    int (*allgather)(const void *, int, MPI_Datatype, void *, int, MPI_Datatype, MPI_Comm);
#if MPI_VERSION >= 4
    int (*alltoall_c)(const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype, MPI_Comm);
    int (*allgather_c)(const void *, MPI_Count, MPI_Datatype, void *, MPI_Count, MPI_Datatype, MPI_Comm);
#endif
    int (*init)(int *, char ***);
    int (*init_thread)(int *, char ***, int, int *);
    int (*finalize)(void);
    int (*alloc_mem)(MPI_Aint, MPI_Info, void *);
    int (*free_mem)(void *);
};
extern struct host host;

/* Finds the originals in the MPI library with this dlopen handle. False: one is missing. */
bool host_open(void *library);

#endif
