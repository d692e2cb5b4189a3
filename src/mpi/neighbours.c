/* SPDX-License-Identifier: BSD-3-Clause */
/* neighbours - the neighbourhood of a communicator with a topology. */
#include "mpi/calls.h"

const struct neighbours *neighbours_of(MPI_Comm comm, struct team *team) {
    (void)comm, (void)team;
    return NULL;
}
