/* SPDX-License-Identifier: BSD-3-Clause */
/* host.h - the program's MPI library, under mortar. Calls that mortar takes are caught under their
 * PMPI_ names too, because Fortran bindings call these. So the engine calls the originals through
 * these pointers. It calls every other PMPI_ function directly. */
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
    bool large; /* the _c functions exist (MPI 4) */
    bool many_threads; /* MPI_THREAD_MULTIPLE: others may be in MPI calls at the same time */
    /* Open MPI, or one of MPICH's family: MPICH, Intel MPI, MVAPICH? They check and report
     * differently, whatever their ABI is. */
    bool open_mpi;
    /* Intel MPI lets a root leave a long broadcast before the others have read it. A reduction of
     * five words or more that follows at once on the communicator goes through the same shared
     * memory, and slow readers find its words among the broadcast's bytes (2021.18, seen without
     * mortar). A program that calls only MPI_Bcast must not meet that because of mortar. */
    bool hurries;
#define ORIGINAL(name, symbol, parameters) int(*name) parameters;
#define LATER ORIGINAL
#include "reach/originals.h"
#undef LATER
#undef ORIGINAL
#define MAKER(name, symbol, words, parameters, arguments) int(*name) parameters;
#include "abi/makers.h"
#undef MAKER
    /* MPI_ERRORS_RETURN. */
    MPI_Errhandler errors_return;
};
extern struct host host;

/* The functions with large counts, which an mpi.h before MPI 4 does not declare. The engine defines
 * them anyway. */
#define COLLECTIVE(name, symbol, sent, received, more, family, about)                              \
    COUNTED(received, int MPI_##symbol##_c(FORM(sent, received, more, MPI_Count, MPI_Aint));)
#include "coll/collectives.h"
#undef COLLECTIVE

/* Finds the originals in the MPI library with this dlopen handle. False: a required one is missing,
 * or the library has another version of the standard ABI. */
bool host_open(void *library);
/* What the library tells only once MPI is initialised. Local. */
void host_begin(void);

/* An allreduce of a few words of mortar's own, between the program's calls on this communicator. In
 * a library that hurries it is the nonblocking form, which goes by messages. Returns MPI's error.
 * Collective. */
int host_combine(const void *mine, void *all, int words, MPI_Datatype type, MPI_Op op,
                 MPI_Comm comm);

#endif
