/* SPDX-License-Identifier: BSD-3-Clause */
/* handover.h - private to reach/: sends descriptors over sockets where a rank may not open
 * /proc/PID/fd of its peers. Include mpi.h first. */
#ifndef MORTAR_HANDOVER_H
#define MORTAR_HANDOVER_H

#include "reach/birth.h"
#include "reach/reach.h"

/* *control_fd: on entry rank 0's descriptor of the control block, -1 elsewhere; on return each rank
 * has one, which the caller closes. Maps the peers' regions into team->peers, read-only and
 * writable. Collective over the ranks of the team, which meet there. 0 or -errno, which may differ
 * between ranks: agree afterwards. */
int handover_by_socket(struct team *team, const struct meeting *meeting, int *control_fd);

#endif
