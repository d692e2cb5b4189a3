/* SPDX-License-Identifier: BSD-3-Clause */
/* birth.h - private to reach/: building a team. Include mpi.h first. */
#ifndef MORTAR_BIRTH_H
#define MORTAR_BIRTH_H

#include "reach/host.h"

struct team;

/* Fills in the zeroed team of a communicator, or sets why_native; one of the two on all ranks.
 * Collective. */
void team_build(struct team *team, MPI_Comm comm);

/* True if `fine` on all ranks. Collective. */
bool all_agree(MPI_Comm comm, bool fine);

/* Makes the ranks of a communicator without strangers use the same settings (settings.c). NULL, or
 * why it must stay native, the same on all ranks. Collective. */
const char *settings_agree(MPI_Comm comm, int p, int me);

/* Sets team->progress, which drives the host MPI. 0 or -errno. Local. */
int progress_start(struct team *team);

#endif
