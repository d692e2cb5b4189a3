/* SPDX-License-Identifier: BSD-3-Clause */
/* launcher - what mpirun, hydra and Slurm tell a process in its environment; and what a rank tells
 * the programs that it starts. These are hints. One thing depends on them, on whether all ranks
 * hear the same: the communicator that reach/messenger.c makes. */
#define _GNU_SOURCE
#include "base/base.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static int first_number(const char *const *names, int otherwise) {
    for (; *names; names++) {
        const char *text = getenv(*names);
        if (text && *text >= '0' && *text <= '9') return atoi(text);
    }
    return otherwise;
}

static struct {
    atomic_bool before;
    int ranks, local_ranks, rank;
} heard;

int launcher_ranks(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL};
    return heard.before ? heard.ranks : first_number(names, 0);
}

int launcher_local_ranks(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", NULL};
    return heard.before ? heard.local_ranks : first_number(names, 0);
}

int launcher_rank(void) {
    static const char *const names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK",
                                        "SLURM_PROCID", NULL};
    return heard.before ? heard.rank : first_number(names, -1);
}

void launcher_listen(void) {
    heard.ranks = launcher_ranks();
    heard.local_ranks = launcher_local_ranks();
    heard.rank = launcher_rank();
    heard.before = true;
}

void launcher_unpreload(void) {
    static const char own[] = "libmortar", between[] = ": ";
    const char *before = getenv("LD_PRELOAD");
    char *rest = before ? calloc(1, strlen(before) + 1) : NULL;
    if (!rest) return;
    for (size_t length; *(before += strspn(before, between)); before += length) {
        length = strcspn(before, between);
        const char *slash = memrchr(before, '/', length), *name = slash ? slash + 1 : before;
        if (strncmp(name, own, sizeof own - 1) == 0) continue;
        if (*rest) strcat(rest, ":");
        strncat(rest, before, length);
    }
    if (*rest) setenv("LD_PRELOAD", rest, 1);
    else unsetenv("LD_PRELOAD");
    free(rest);
}
