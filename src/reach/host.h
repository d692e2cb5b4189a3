/* SPDX-License-Identifier: BSD-3-Clause */
/* host.h - the MPI library underneath. The calls that mortar takes are caught under their PMPI_ names too (that is how Fortran
 * arrives), so the engine reaches the originals through these pointers; every other PMPI_ name is called directly. */
#ifndef MORTAR_HOST_H
#define MORTAR_HOST_H

#include <mpi.h>

#include <stdbool.h>

struct host {
#define N int
#define D int
#define HOST(name, symbol, parameters) int(*name) parameters;
#include "reach/hosts.h"
#undef HOST
#undef N
#undef D
#define N MPI_Count
#define D MPI_Aint
#define HOST(name, symbol, parameters) int(*name##_c) parameters;
#include "reach/hosts.h"
#undef HOST
#undef N
#undef D
    bool large; /* are the _c forms there? Only in MPI 4 */
    int (*barrier)(MPI_Comm);
    int (*init)(int *, char ***);
    int (*init_thread)(int *, char ***, int, int *);
    int (*finalize)(void);
    int (*alloc_mem)(MPI_Aint, MPI_Info, void *);
    int (*free_mem)(void *);
    int (*comm_free)(MPI_Comm *);
    int (*comm_disconnect)(MPI_Comm *);
    int (*intercomm_merge)(MPI_Comm, int, MPI_Comm *);
    /* NULL: not there. Only in MPI 4. */
    int (*comm_create_from_group)(MPI_Group, const char *, MPI_Info, MPI_Errhandler, MPI_Comm *);
    int (*comm_is_revoked)(MPI_Comm, int *); /* only where the library goes on after a rank's death */
};
extern struct host host;

/* The forms with large counts that an older mpi.h does not declare: the engine has them all the same. */
#if MPI_VERSION < 4
#define N MPI_Count
#define D MPI_Aint
#define HOST(name, symbol, parameters) int MPI_##symbol##_c parameters;
#include "reach/hosts.h"
#undef HOST
#undef N
#undef D
#endif

/* Finds the originals in the MPI library with this dlopen handle. False: one is missing. */
bool host_open(void *library);

#endif
