/* SPDX-License-Identifier: BSD-3-Clause */
/* wire.h - private to reach/ and mpi/: messages carried by the host MPI. Include mpi.h first. */
#ifndef MORTAR_WIRE_H
#define MORTAR_WIRE_H

#include <mpi.h>

struct call;
struct team;

/* Gives the team a wire on a private communicator. Collective over comm; 0 or -errno, on this rank. */
int wire_open(struct team *team, MPI_Comm comm);
void wire_close(struct team *team);

/* Runs the host MPI's own collective for this call on a communicator with the team's ranks. 0 or -errno. Set by mpi/. */
extern int (*wire_collective)(MPI_Comm comm, struct team *team, const struct call *call);

#endif
