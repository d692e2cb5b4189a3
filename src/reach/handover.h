/* SPDX-License-Identifier: BSD-3-Clause */
/* handover.h - private to reach/: descriptors sent over sockets where /proc/PID/fd is closed to us.
 * Include mpi.h first. */
#ifndef MORTAR_HANDOVER_H
#define MORTAR_HANDOVER_H

#include "reach/reach.h"

/* Collective over the node's communicator, whose ranks are the team's. On entry *control_fd is rank
 * 0's descriptor of the control block (-1 elsewhere); on return every rank holds one, the caller
 * closes it. The peers' regions are mapped, writable, into team->peers. 0 or -errno; ranks may get
 * different answers: agree afterwards. */
int handover_by_socket(struct team *team, MPI_Comm node, int *control_fd);

#endif
