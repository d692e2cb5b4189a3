/* SPDX-License-Identifier: BSD-3-Clause */
/* abi - src/abi against an mpi.h: each constant has the value of its column, the compiler finds
 * each function declared alike, and a status lies in memory as mortar thinks. Calls no MPI. */
#include <mpi.h>

#include "abi/functions.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#if defined COLUMN_OMPI
#define COLUMN(ompi, mpich, standard) ompi
#define ADDRESS_OF(ompi, mpich, standard) &ompi
#define STATUS_BYTES 24
#define STATUS_SOURCE 0
#elif defined COLUMN_MPICH
#define COLUMN(ompi, mpich, standard) mpich
#define ADDRESS_OF(ompi, mpich, standard) (intptr_t)(int) mpich
#define STATUS_BYTES 20
#define STATUS_SOURCE 8
#else
#define COLUMN(ompi, mpich, standard) standard
#define ADDRESS_OF(ompi, mpich, standard) (intptr_t) standard
#define STATUS_BYTES 32
#define STATUS_SOURCE 0
#endif

_Static_assert(sizeof(MPI_Status) == STATUS_BYTES, "status");
_Static_assert(offsetof(MPI_Status, MPI_SOURCE) == STATUS_SOURCE, "source");
_Static_assert(offsetof(MPI_Status, MPI_TAG) == STATUS_SOURCE + 4, "tag");
_Static_assert(offsetof(MPI_Status, MPI_ERROR) == STATUS_SOURCE + 8, "error");
_Static_assert(sizeof(MPI_Aint) == 8 && sizeof(MPI_Count) == 8, "integers");

/* Intel MPI 2021.18 has a draft's value; mortar finds out at run time (src/reach/host.c). */
static bool is_drafts(const char *name) {
    return strcmp(name, "MPI_ERRORS_RETURN") == 0 && (intptr_t)MPI_ERRORS_RETURN == 0x142;
}

static int compared, wrong;

static void compare(const char *name, intptr_t theirs, intptr_t ours) {
    compared++;
    if (theirs == ours || is_drafts(name)) return;
    wrong++;
    printf("%s is %#lx, src/abi says %#lx\n", name, (long)theirs, (long)ours);
}

int main(void) {
#define NUMBER(name, ompi, mpich, standard) compare(#name, name, COLUMN(ompi, mpich, standard));
#define HANDLE(type, name, ompi, mpich, standard)                                                  \
    compare(#name, (intptr_t)name, (intptr_t)ADDRESS_OF(ompi, mpich, standard));
#include "abi/list.h"
    compare("MPI_BOTTOM", (intptr_t)MPI_BOTTOM, 0);
    compare("MPI_IN_PLACE", (intptr_t)MPI_IN_PLACE, COLUMN(1, -1, 1));
    compare("MPI_STATUS_IGNORE", (intptr_t)MPI_STATUS_IGNORE, COLUMN(0, 1, 0));
    compare("MPI_STATUSES_IGNORE", (intptr_t)MPI_STATUSES_IGNORE, COLUMN(0, 1, 0));
#ifdef COLUMN_OMPI
    compare("MPI_COMM_NULL_COPY_FN", (intptr_t)MPI_COMM_NULL_COPY_FN,
            (intptr_t)OMPI_C_MPI_COMM_NULL_COPY_FN);
    compare("MPI_UNWEIGHTED", (intptr_t)MPI_UNWEIGHTED, 2);
#else
    compare("MPI_COMM_NULL_COPY_FN", (intptr_t)MPI_COMM_NULL_COPY_FN, 0);
    compare("MPI_TYPE_NULL_COPY_FN", (intptr_t)MPI_TYPE_NULL_COPY_FN, 0);
    compare("MPI_COMM_NULL_DELETE_FN", (intptr_t)MPI_COMM_NULL_DELETE_FN, 0);
#endif
    printf("%d constants, %d wrong\n", compared, wrong);
    return wrong > 0 || compared < 100;
}
