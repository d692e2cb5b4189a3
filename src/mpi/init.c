/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Init, MPI_Init_thread, MPI_Finalize: start and end mortar in a process. Teams are built
 * later, when first used. */
#include "mpi/calls.h"

static void look_at_launcher(void) {
    int ranks = 0, started = launcher_ranks();
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (started > 1 && ranks == 1 && launcher_rank() == 0)
        warn(
            "the launcher started %d ranks, but each sees itself alone: the program was built for another MPI than the launcher's",
            started);
}

/* Ends mortar, as the last thing in MPI_Finalize that may still use MPI. */
static void finish(void) {
    if (settings_wanted(OPTION_REPORT)) report_write(option_text(OPTION_REPORT));
    if (settings_wanted(OPTION_TUNE_SAVE)) save_tuning(option_text(OPTION_TUNE_SAVE));
    teams_finish();
    progress_finish();
    messenger_close();
    layouts_finish();
}

static int on_finalize(MPI_Comm self, int key, void *value, void *state) {
    (void)self, (void)key, (void)value, (void)state;
    finish();
    return MPI_SUCCESS;
}

/* MPI_Finalize first deletes the attributes of MPI_COMM_SELF, in reverse order of their setting
 * (MPI 4.1 section 11.2.4). Programs and libraries clean up in these callbacks, and may call
 * collectives there. So mortar sets its attribute before any of theirs, and ends after them. */
static bool finish_last(void) {
    int key;
#ifdef MORTAR_SIM
    return false; /* SMPI's MPI_Finalize calls nobody */
#endif
    return PMPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, on_finalize, &key, NULL) == MPI_SUCCESS &&
           PMPI_Comm_set_attr(MPI_COMM_SELF, key, NULL) == MPI_SUCCESS;
}

static bool finishes_last;

/* Also called by the door, after a profiler's MPI_Init, which may have called the MPI library's
 * directly. */
void mortar_engine_start(void);
void mortar_engine_start(void) {
    static bool started;
    if (started) return;
    started = true;
    host_begin();
    look_at_launcher();
    launcher_unpreload(); /* they are no ranks, and a heap costs each as much as its start */
    layouts_start();
    lateness_start();
    teams_start();
    messenger_open();
    finishes_last = finish_last();
    shown_start();
}

int MPI_Init(int *argc, char ***argv) {
    int error = host.init(argc, argv);
    if (error == MPI_SUCCESS) mortar_engine_start();
    return error;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    int error = host.init_thread(argc, argv, required, provided);
    if (error == MPI_SUCCESS) mortar_engine_start();
    return error;
}

int MPI_Finalize(void) {
    if (!finishes_last) finish();
    int error = host.finalize();
    paths_finish();
    return error;
}
