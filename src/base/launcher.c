/* SPDX-License-Identifier: BSD-3-Clause */
/* launcher - what mpirun, hydra and Slurm tell a process in its environment. Hints only: nothing
 * that must be right depends on them. */
#include "base/base.h"

#include <stdlib.h>

static int first_number(const char *const *names, int otherwise) {
    for (; *names; names++) {
        const char *text = getenv(*names);
        if (text && *text >= '0' && *text <= '9') return atoi(text);
    }
    return otherwise;
}

int launcher_ranks(void) {
    return first_number((const char *[]){"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL}, 0);
}

int launcher_local_ranks(void) {
    return first_number((const char *[]){"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", NULL}, 0);
}

int launcher_rank(void) {
    return first_number(
        (const char *[]){"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID", NULL},
        -1);
}
