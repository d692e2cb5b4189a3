/* SPDX-License-Identifier: BSD-3-Clause */
/* host.h - the MPI library underneath. The calls that mortar takes are caught under their PMPI_
 * names too (that is how Fortran arrives), so the engine reaches the originals through these
 * pointers; every other PMPI_ name is called directly. */
#ifndef MORTAR_HOST_H
#define MORTAR_HOST_H

#include <mpi.h>

#include "coll/forms.h"

#include <stdbool.h>

struct host {
#define COLLECTIVE(name, symbol, sent, received, more, family, about)                              \
    int (*name)(FORM(sent, received, more, int, int));                                             \
    COUNTED(received, int (*name##_c)(FORM(sent, received, more, MPI_Count, MPI_Aint));)
#include "coll/collectives.h"
#undef COLLECTIVE
    bool large; /* are the _c forms there? Only in MPI 4 */
    int (*init)(int *, char ***);
    int (*init_thread)(int *, char ***, int, int *);
    int (*finalize)(void);
    int (*alloc_mem)(MPI_Aint, MPI_Info, void *);
    int (*free_mem)(void *);
    int (*comm_free)(MPI_Comm *);
    int (*comm_disconnect)(MPI_Comm *);
    int (*intercomm_merge)(MPI_Comm, int, MPI_Comm *);
    int (*dist_graph_create)(MPI_Comm, int, const int[], const int[], const int[], const int[],
                             MPI_Info, int, MPI_Comm *);
    /* NULL: not there. Only in MPI 4. */
    int (*comm_create_from_group)(MPI_Group, const char *, MPI_Info, MPI_Errhandler, MPI_Comm *);
    /* Only where the library goes on after a rank's death. */
    int (*comm_is_revoked)(MPI_Comm, int *);
};
extern struct host host;

/* The forms with large counts that an older mpi.h does not declare: the engine has them all the
 * same. */
#if MPI_VERSION < 4
#define COLLECTIVE(name, symbol, sent, received, more, family, about)                              \
    COUNTED(received, int MPI_##symbol##_c(FORM(sent, received, more, MPI_Count, MPI_Aint));)
#include "coll/collectives.h"
#undef COLLECTIVE
#endif

/* Finds the originals in the MPI library with this dlopen handle. False: one is missing. */
bool host_open(void *library);

#endif
