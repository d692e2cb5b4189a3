/* SPDX-License-Identifier: BSD-3-Clause */
/* host - finding the original collectives; see host.h. */
#include "reach/host.h"

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

struct host host;

static bool host_find(void *library, const char *name, void *place) {
    void *symbol = dlsym(library, name);
    *(void **)place = symbol;
    return symbol != NULL;
}

bool host_open(void *library) {
    bool found = host_find(library, "PMPI_Init", &host.init) &&
                 host_find(library, "PMPI_Init_thread", &host.init_thread) &&
                 host_find(library, "PMPI_Finalize", &host.finalize) &&
                 host_find(library, "PMPI_Alloc_mem", &host.alloc_mem) &&
                 host_find(library, "PMPI_Free_mem", &host.free_mem) &&
                 host_find(library, "PMPI_Comm_free", &host.comm_free) &&
                 host_find(library, "PMPI_Comm_disconnect", &host.comm_disconnect) &&
                 host_find(library, "PMPI_Intercomm_merge", &host.intercomm_merge) &&
                 host_find(library, "PMPI_Dist_graph_create", &host.dist_graph_create);
    host_find(library, "PMPI_Comm_create_from_group", &host.comm_create_from_group);
    host_find(library, "PMPIX_Comm_is_revoked", &host.comm_is_revoked);
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    PMPI_Get_library_version(version, &length);
    host.hurries = strncmp(version, "Intel", 5) == 0;
    host.large = true;
#define COLLECTIVE(name, symbol, sent, received, more, family, about)                              \
    found = host_find(library, "PMPI_" #symbol, &host.name) && found;                              \
    COUNTED(received,                                                                              \
            host.large = host_find(library, "PMPI_" #symbol "_c", &host.name##_c) && host.large;)
#include "coll/collectives.h"
#undef COLLECTIVE
    return found;
}

int host_combine(const void *mine, void *all, int words, MPI_Datatype type, MPI_Op op,
                 MPI_Comm comm) {
    MPI_Request request;
    if (!host.hurries) return host.allreduce(mine, all, words, type, op, comm);
    int error = PMPI_Iallreduce(mine, all, words, type, op, comm, &request);
    return error ? error : PMPI_Wait(&request, MPI_STATUS_IGNORE);
}
