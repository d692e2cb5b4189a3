/* SPDX-License-Identifier: BSD-3-Clause */
/* counter - a profiler that counts each MPI call that mortar takes, and says so at the end of MPI_Finalize, a line per rank. It
 * hands calls on as PMPI_X, or with BY_ITSELF to the PMPI_X that comes next in the dynamic linker's order behind this library. It
 * needs no mpi.h, so it counts for every MPI. */
#define _GNU_SOURCE
#include "door/words.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static struct count {
    const char *name;
    int calls;
} counts[] = {
#define DOOR(name, words) {#name, 0},
#include "door/list.h"
#undef DOOR
};

enum {
#define DOOR(name, words) COUNT_##name,
#include "door/list.h"
#undef DOOR
    COUNTS
};

static void tell(void) {
    const char *rank = getenv("OMPI_COMM_WORLD_RANK") ? getenv("OMPI_COMM_WORLD_RANK") : getenv("PMI_RANK");
    char line[4096];
    int length = snprintf(line, sizeof line, "counter of rank %s:", rank);
    for (int i = 0; i < COUNTS; i++)
        if (counts[i].calls)
            length += snprintf(line + length, sizeof line - (size_t)length, " %s %d", counts[i].name, counts[i].calls);
    puts(line);
    fflush(stdout);
}

#ifdef BY_ITSELF
#define NEXT(name, words) ((word(*) PARAMETERS_##words)dlsym(RTLD_NEXT, "PMPI_" #name))
#else
#define NEXT(name, words) PMPI_##name
#endif
/* Weak: an older MPI library does not have them all. */
#define DOOR(name, words)                                                                                                          \
    word MPI_##name PARAMETERS_##words;                                                                                            \
    word PMPI_##name PARAMETERS_##words __attribute__((weak));                                                                     \
    word MPI_##name PARAMETERS_##words {                                                                                           \
        counts[COUNT_##name].calls++;                                                                                              \
        word result = NEXT(name, words) ARGUMENTS_##words;                                                                         \
        if (COUNT_##name == COUNT_Finalize) tell();                                                                                \
        return result;                                                                                                             \
    }
#include "door/list.h"
#undef DOOR
