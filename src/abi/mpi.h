/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi.h - MPI as mortar uses it, in one of the three ABIs that Linux has, so that building mortar
 * needs no MPI. The build defines MORTAR_ABI_OMPI, MORTAR_ABI_MPICH or MORTAR_ABI_STANDARD.
 *
 * Names and arguments are those of the MPI standard, which all share. An ABI adds what a handle is,
 * how a status lies in memory, and the values of the constants. */
#ifndef MORTAR_MPI_H
#define MORTAR_MPI_H

#include <stddef.h>
#include <stdint.h>

/* What mortar may rely on at compile time: functions that only MPI 4 has are asked for by name. */
#define MPI_VERSION 4

typedef intptr_t MPI_Aint;
typedef int64_t MPI_Count;

#if defined MORTAR_ABI_OMPI
#define ABI(ompi, mpich, standard) ompi
typedef struct {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR, cancelled;
    size_t count;
} MPI_Status;
#elif defined MORTAR_ABI_MPICH
#define ABI(ompi, mpich, standard) mpich
typedef struct {
    int count[2], MPI_SOURCE, MPI_TAG, MPI_ERROR;
} MPI_Status;
#elif defined MORTAR_ABI_STANDARD
#define ABI(ompi, mpich, standard) standard
typedef struct {
    int MPI_SOURCE, MPI_TAG, MPI_ERROR, internal[5];
} MPI_Status;
#else
#error "which ABI?"
#endif

#define TYPE(name) typedef ABI(struct ompi_##name *, int, struct mpi_##name *) MPI_##name;
TYPE(Comm)
TYPE(Datatype)
TYPE(Errhandler)
TYPE(Group)
TYPE(Info)
TYPE(Op)
TYPE(Request)
TYPE(Win)
#undef TYPE
typedef struct mpi_cvar *MPI_T_cvar_handle;

#define NUMBER(name, ompi, mpich, standard) name = ABI(ompi, mpich, standard),
#define HANDLE(type, name, ompi, mpich, standard)
enum {
#include "abi/list.h"
};
#undef HANDLE
#undef NUMBER

#define NUMBER(name, ompi, mpich, standard)
#define HANDLE(type, name, ompi, mpich, standard)                                                  \
    ABI(extern struct ompi_variable ompi;, , )                                                     \
    static MPI_##type const name = (MPI_##type)(ABI(&ompi, mpich, (intptr_t)standard));
#include "abi/list.h"
#undef HANDLE
#undef NUMBER

#define MPI_BOTTOM ((void *)0)
#define MPI_IN_PLACE ((void *)ABI(1, -1, 1))
#define MPI_STATUS_IGNORE ((MPI_Status *)ABI(0, 1, 0))
#define MPI_STATUSES_IGNORE MPI_STATUS_IGNORE
#if defined MORTAR_ABI_MPICH
extern int *const MPI_UNWEIGHTED;
#else
#define MPI_UNWEIGHTED ((int *)ABI(2, 0, 10))
#endif

typedef int MPI_Comm_copy_attr_function(MPI_Comm, int, void *, void *, void *, int *);
typedef int MPI_Comm_delete_attr_function(MPI_Comm, int, void *, void *);
typedef int MPI_Type_copy_attr_function(MPI_Datatype, int, void *, void *, void *, int *);
typedef int MPI_Type_delete_attr_function(MPI_Datatype, int, void *, void *);
typedef int MPI_Grequest_query_function(void *, MPI_Status *);
typedef int MPI_Grequest_free_function(void *);
typedef int MPI_Grequest_cancel_function(void *, int);
#if defined MORTAR_ABI_OMPI
MPI_Comm_copy_attr_function OMPI_C_MPI_COMM_NULL_COPY_FN;
MPI_Comm_delete_attr_function OMPI_C_MPI_COMM_NULL_DELETE_FN;
MPI_Type_copy_attr_function OMPI_C_MPI_TYPE_NULL_COPY_FN;
#define MPI_COMM_NULL_COPY_FN OMPI_C_MPI_COMM_NULL_COPY_FN
#define MPI_COMM_NULL_DELETE_FN OMPI_C_MPI_COMM_NULL_DELETE_FN
#define MPI_TYPE_NULL_COPY_FN OMPI_C_MPI_TYPE_NULL_COPY_FN
#else
#define MPI_COMM_NULL_COPY_FN ((MPI_Comm_copy_attr_function *)0)
#define MPI_COMM_NULL_DELETE_FN ((MPI_Comm_delete_attr_function *)0)
#define MPI_TYPE_NULL_COPY_FN ((MPI_Type_copy_attr_function *)0)
#endif

#include "abi/functions.h"

#endif
