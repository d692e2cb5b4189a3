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
    int (*init)(int *, char ***);
    int (*init_thread)(int *, char ***, int, int *);
    int (*finalize)(void);
    int (*alloc_mem)(MPI_Aint, MPI_Info, void *);
    int (*free_mem)(void *);
    int (*win_create)(void *, MPI_Aint, int, MPI_Info, MPI_Comm, MPI_Win *);
    int (*win_allocate)(MPI_Aint, int, MPI_Info, MPI_Comm, void *, MPI_Win *);
    int (*win_attach)(MPI_Win, void *, MPI_Aint);
    int (*win_detach)(MPI_Win, const void *);
    int (*win_free)(MPI_Win *);
    int (*bsend)(const void *, int, MPI_Datatype, int, int, MPI_Comm);
    int (*ibsend)(const void *, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    int (*iprobe)(int, int, MPI_Comm, int *, MPI_Status *);
    int (*test)(MPI_Request *, int *, MPI_Status *);
    int (*testall)(int, MPI_Request[], int *, MPI_Status[]);
    int (*testsome)(int, MPI_Request[], int *, int[], MPI_Status[]);
    int (*op_free)(MPI_Op *);
    int (*type_free)(MPI_Datatype *);
#define MAKER(name, symbol, words, parameters, arguments) int(*name) parameters;
#include "abi/makers.h"
#undef MAKER
    int (*comm_free)(MPI_Comm *);
    int (*comm_disconnect)(MPI_Comm *);
    int (*comm_idup)(MPI_Comm, MPI_Comm *, MPI_Request *);
    int (*intercomm_merge)(MPI_Comm, int, MPI_Comm *);
    int (*dist_graph_create)(MPI_Comm, int, const int[], const int[], const int[], const int[],
                             MPI_Info, int, MPI_Comm *);
    /* MPI_ERRORS_RETURN. */
    MPI_Errhandler errors_return;
    /* NULL: the library has none. Only in MPI 4; both of the types, or none. */
    int (*type_get_envelope_c)(MPI_Datatype, MPI_Count *, MPI_Count *, MPI_Count *, MPI_Count *,
                               int *);
    int (*type_get_contents_c)(MPI_Datatype, MPI_Count, MPI_Count, MPI_Count, MPI_Count, int[],
                               MPI_Aint[], MPI_Count[], MPI_Datatype[]);
    int (*win_create_c)(void *, MPI_Aint, MPI_Aint, MPI_Info, MPI_Comm, MPI_Win *);
    int (*win_allocate_c)(MPI_Aint, MPI_Aint, MPI_Info, MPI_Comm, void *, MPI_Win *);
    int (*bsend_c)(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm);
    int (*ibsend_c)(const void *, MPI_Count, MPI_Datatype, int, int, MPI_Comm, MPI_Request *);
    int (*comm_idup_with_info)(MPI_Comm, MPI_Info, MPI_Comm *, MPI_Request *);
    int (*comm_create_from_group)(MPI_Group, const char *, MPI_Info, MPI_Errhandler, MPI_Comm *);
    int (*threadcomm_init)(MPI_Comm, int, MPI_Comm *); /* NULL: none. Only in MPICH, from 4.2 on */
    /* NULL: the library has none. Only in libraries that continue after a rank's death (ULFM). */
    int (*comm_is_revoked)(MPI_Comm, int *);
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
