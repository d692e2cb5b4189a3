/* SPDX-License-Identifier: BSD-3-Clause */
/* birth.h - private to reach/: what team.c asks for when a team begins and ends. Include mpi.h
 * first. */
#ifndef MORTAR_BIRTH_H
#define MORTAR_BIRTH_H

#include "reach/host.h"

struct team;

/* Makes the zeroed team of a communicator, or says in why_native why there is none, alike on all
 * ranks. Collective. */
void team_build(struct team *team, MPI_Comm comm);

/* Is it true on all ranks? Collective. */
bool all_agree(MPI_Comm comm, bool fine);

/* Makes the ranks go by the same settings (settings.c), where they are in no communicator with
 * strangers: NULL, or why it must stay native, the same on all ranks. Collective. */
const char *settings_agree(MPI_Comm comm, int p, int me);

/* Gives the team what drives the host MPI: 0 or -errno. Local. */
int progress_start(struct team *team);

#endif
