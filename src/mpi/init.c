/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Init, MPI_Init_thread, MPI_Finalize. At init mortar only looks at the launcher; teams are built when first used. */
#include "mpi/calls.h"

static void look_at_launcher(void) {
    int ranks = 0, started = launcher_ranks();
    PMPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (started > 1 && ranks == 1 && launcher_rank() == 0)
        warn("the launcher started %d ranks, but each sees itself alone: the program was built for another MPI than the launcher's",
             started);
}

int MPI_Init(int *argc, char ***argv) {
    int error = host.init(argc, argv);
    if (error == MPI_SUCCESS) look_at_launcher();
    return error;
}

int MPI_Init_thread(int *argc, char ***argv, int required, int *provided) {
    int error = host.init_thread(argc, argv, required, provided);
    if (error == MPI_SUCCESS) look_at_launcher();
    return error;
}

/* Called by the door too, where a profiler comes before MPI_Finalize. Collective. */
void mortar_engine_finish(void);
void mortar_engine_finish(void) {
    static bool finished;
    if (finished) return;
    finished = true;
    this_thread.inside = true; /* what profilers and callbacks still call is the MPI library's */
    if (report_wanted()) report_write(option_text(OPTION_REPORT));
    if (*option_text(OPTION_TUNE_SAVE)) save_tuning(option_text(OPTION_TUNE_SAVE));
    teams_finish();
    layouts_finish();
}

int MPI_Finalize(void) {
    mortar_engine_finish();
    int error = host.finalize();
    paths_finish();
    return error;
}
