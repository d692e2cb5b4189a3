/* SPDX-License-Identifier: BSD-3-Clause */
/* host - finding the original collectives; see host.h. */
#include "reach/host.h"

#include <dlfcn.h>
#include <stddef.h>

struct host host;

static bool find(void *library, const char *name, void *place) {
    void *symbol = dlsym(library, name);
    *(void **)place = symbol;
    return symbol != NULL;
}

bool host_open(void *library) {
    bool found = find(library, "PMPI_Init", &host.init) && find(library, "PMPI_Init_thread", &host.init_thread) &&
                 find(library, "PMPI_Finalize", &host.finalize) && find(library, "PMPI_Alloc_mem", &host.alloc_mem) &&
                 find(library, "PMPI_Free_mem", &host.free_mem) && find(library, "PMPI_Comm_free", &host.comm_free) &&
                 find(library, "PMPI_Comm_disconnect", &host.comm_disconnect) &&
                 find(library, "PMPI_Intercomm_merge", &host.intercomm_merge);
    find(library, "PMPI_Comm_create_from_group", &host.comm_create_from_group);
    find(library, "PMPIX_Comm_is_revoked", &host.comm_is_revoked);
    host.large = true;
#define COLLECTIVE(name, symbol, sent, received, more, family, about)                                                              \
    found = find(library, "PMPI_" #symbol, &host.name) && found;                                                                   \
    COUNTED(received, host.large = find(library, "PMPI_" #symbol "_c", &host.name##_c) && host.large;)
#include "coll/collectives.h"
#undef COLLECTIVE
    return found;
}
