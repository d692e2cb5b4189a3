/* SPDX-License-Identifier: BSD-3-Clause */
/* engine - what the door (src/door) calls: opening, and the public interface of include/mortar.h. */
#include "mpi/calls.h"

#include <errno.h>

/* Called once, before any MPI call arrives. library: the dlopen handle of the MPI library. 0 or -errno. */
int mortar_engine_open(void *library);
int mortar_engine_plan(const char *text);
int mortar_engine_report(const char *path);

/* What is no plan is no plan to any rank: one of the job speaks for all. */
static void force_asked(const char *text) {
    struct plan plan;
    char why[192];
    if (!*text || plan_parse(text, &plan, why, sizeof why) == 0) plan_force(text);
    else if (launcher_rank() <= 0) warn("MORTAR_PLAN is ignored, mortar chooses: %s", why);
}

int mortar_engine_open(void *library) {
    if (!host_open(library)) return -ENOSYS;
    force_asked(option_text(OPTION_PLAN));
    char version[MPI_MAX_LIBRARY_VERSION_STRING] = "";
    int length = 0;
    PMPI_Get_library_version(version, &length);
    plan_tuning(version);
    report_start();
    nested_start();
    return 0;
}

int mortar_engine_plan(const char *text) {
    int error = plan_force(text);
    atomic_fetch_add(&team_changes, 1);
    return error;
}

int mortar_engine_report(const char *path) { return report_write(path); }
