/* SPDX-License-Identifier: BSD-3-Clause */
/* wire.h - private to reach/: messages carried by the host MPI. Include mpi.h first. */
#ifndef MORTAR_WIRE_H
#define MORTAR_WIRE_H

#include <mpi.h>

struct team;

/* Sets team->wire, on a private communicator. Collective over comm; 0 or -errno, of this rank
 * alone. */
int wire_open(struct team *team, MPI_Comm comm);
void wire_close(struct team *team);

#endif
