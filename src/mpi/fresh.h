/* SPDX-License-Identifier: BSD-3-Clause */
/* fresh.h - short calls with types that the program has just made, for take.c. */
#ifndef MORTAR_FRESH_H
#define MORTAR_FRESH_H

#include "mpi/calls.h"

/* May such a call have fresh types? Looks only at handles, and says yes too often. */
static inline bool may_be_fresh(const struct request *r) {
    const uint32_t even = BIT(bcast) | BIT(gather) | BIT(scatter) | BIT(allgather) | BIT(alltoall);
    return among(r->collective, even) && !r->fresh &&
           !(type_is_plain(r->send.type) && type_is_plain(r->recv.type));
}

/* Runs the call with this rank's data packed: `go` gets it with contiguous bytes. *error: what MPI
 * returns. False: nothing was done, because no type is fresh, or the data are long, or the call
 * has to be examined as it is. */
bool fresh_run(const struct request *r, struct team *team, int (*go)(const struct request *),
               int *error);

/* Call when this type ends. Local. */
void fresh_forgets(MPI_Datatype type);

#endif
