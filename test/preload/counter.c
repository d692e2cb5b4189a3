/* SPDX-License-Identifier: BSD-3-Clause */
/* counter - a profiler that counts each MPI call that mortar takes, and says so at the end of
 * MPI_Finalize, a line per rank. It hands calls on as PMPI_X, or with BY_ITSELF to the PMPI_X that
 * comes next in the dynamic linker's order behind this library. It needs no mpi.h, so it counts for
 * every MPI. */
#define _GNU_SOURCE
#include "coll/forms.h"
#include "door/forward.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static struct count {
    const char *name;
    int calls;
} counts[] = {
#define CAUGHT(name, parameters, arguments) {#name, 0},
#include "door/caught.h"
#undef CAUGHT
};

enum {
#define CAUGHT(name, parameters, arguments) COUNT_##name,
#include "door/caught.h"
#undef CAUGHT
    COUNTS
};

static void tell(void) {
    const char *rank =
        getenv("OMPI_COMM_WORLD_RANK") ? getenv("OMPI_COMM_WORLD_RANK") : getenv("PMI_RANK");
    char line[4096];
    int length = snprintf(line, sizeof line, "counter of rank %s:", rank);
    for (int i = 0; i < COUNTS; i++)
        if (counts[i].calls)
            length += snprintf(line + length, sizeof line - (size_t)length, " %s %d",
                               counts[i].name, counts[i].calls);
    puts(line);
    fflush(stdout);
}

#ifdef BY_ITSELF
#define NEXT(name, parameters) ((word(*) parameters)dlsym(RTLD_NEXT, "PMPI_" #name))
#else
#define NEXT(name, parameters) PMPI_##name
#endif
/* Weak: an older MPI library does not have them all. */
#define CAUGHT(name, parameters, arguments)                                                        \
    word MPI_##name parameters;                                                                    \
    word PMPI_##name parameters __attribute__((weak));                                             \
    word MPI_##name parameters {                                                                   \
        counts[COUNT_##name].calls++;                                                              \
        word result = NEXT(name, parameters) arguments;                                            \
        if (COUNT_##name == COUNT_Finalize) tell();                                                \
        return result;                                                                             \
    }
#include "door/caught.h"
#undef CAUGHT
