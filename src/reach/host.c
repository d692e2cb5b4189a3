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

#ifdef MORTAR_ABI_STANDARD
static bool host_fits(void *library) {
    int (*version)(int *, int *), major = 0, minor;
    return host_find(library, "PMPI_Abi_get_version", &version) &&
           version(&major, &minor) == MPI_SUCCESS && major == 1;
}

/* A library may have a draft of the standard ABI: Intel MPI 2021.18 does. There MPI_ERRORS_RETURN
 * and MPI_ERRORS_ABORT have each other's values, and MPI_LASTUSEDCODE another one. The latter's
 * attribute tells, since its value is at least MPI_ERR_LASTCODE. */
static bool is_draft(void) {
    enum { last_used_code = 506, drafts = 507, last_code = 0x3fff };
    int *now, *then, has_now = 0, has_then = 0;
    PMPI_Comm_get_attr(MPI_COMM_WORLD, last_used_code, &now, &has_now);
    PMPI_Comm_get_attr(MPI_COMM_WORLD, drafts, &then, &has_then);
    return has_then && *then >= last_code && !(has_now && *now >= last_code);
}

static void correct(void) {
    enum { drafts_return = 0x142 };
    if (is_draft()) host.errors_return = (MPI_Errhandler)(intptr_t)drafts_return;
}
#else
static bool host_fits(void *library) {
    (void)library;
    return true;
}

static void correct(void) {}
#endif

void host_begin(void) {
    int level = MPI_THREAD_MULTIPLE;
    PMPI_Query_thread(&level);
    host.many_threads = level == MPI_THREAD_MULTIPLE;
    correct();
}

bool host_open(void *library) {
    if (!host_fits(library)) return false;
    bool found = true;
#define ORIGINAL(name, symbol, parameters) found = host_find(library, #symbol, &host.name) && found;
#define LATER(name, symbol, parameters) host_find(library, #symbol, &host.name);
#include "reach/originals.h"
#undef LATER
#undef ORIGINAL
#define MAKER(name, symbol, words, parameters, arguments)                                          \
    found = host_find(library, "PMPI_" #symbol, &host.name) && found;
#include "abi/makers.h"
#undef MAKER
    if (!host.type_get_contents_c) host.type_get_envelope_c = NULL;
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    PMPI_Get_library_version(version, &length);
    host.hurries = strncmp(version, "Intel", 5) == 0;
    host.open_mpi = strncmp(version, "Open MPI", 8) == 0;
    host.errors_return = MPI_ERRORS_RETURN;
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
