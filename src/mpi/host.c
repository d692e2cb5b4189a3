/* SPDX-License-Identifier: BSD-3-Clause */
/* host - opening the engine: the door (src/door) has found the MPI library and hands it over. */
#define _GNU_SOURCE
#include "mpi/host.h"

#include <dlfcn.h>
#include <errno.h>

struct host host;

/* Called once by the door, before any MPI call arrives. library: the dlopen handle of the MPI library. 0 or -errno. */
int mortar_engine_open(void *library);

static bool find(void *library, const char *name, void *place) {
    void *symbol = dlsym(library, name);
    *(void **)place = symbol;
    return symbol != NULL;
}

int mortar_engine_open(void *library) {
    bool found = find(library, "PMPI_Alltoall", &host.alltoall) && find(library, "PMPI_Allgather", &host.allgather) &&
                 find(library, "PMPI_Init", &host.init) && find(library, "PMPI_Init_thread", &host.init_thread) &&
                 find(library, "PMPI_Finalize", &host.finalize) && find(library, "PMPI_Alloc_mem", &host.alloc_mem) &&
                 find(library, "PMPI_Free_mem", &host.free_mem);
#if MPI_VERSION >= 4
    find(library, "PMPI_Alltoall_c", &host.alltoall_c);
    find(library, "PMPI_Allgather_c", &host.allgather_c);
#endif
    if (!found) return -ENOSYS;
    if (plan_force(option_text(OPTION_PLAN)) != 0) warn("MORTAR_PLAN is ignored: mortar chooses");
    report_start();
    return 0;
}

/* ---- the public interface; the door forwards to these ---- */

int mortar_engine_plan(const char *text);
int mortar_engine_report(const char *path);

int mortar_engine_plan(const char *text) { return plan_force(text); }
int mortar_engine_report(const char *path) { return report_write(path); }
