/* SPDX-License-Identifier: BSD-3-Clause */
/* held.h - types that end while another thread's collective uses them, for take.c. */
#ifndef MORTAR_HELD_H
#define MORTAR_HELD_H

#include "mpi/calls.h"

/* Could another thread free a type of this call meanwhile? Looks only at handles, and says yes too
 * often. */
static inline bool may_lose_types(const struct request *r) {
    return host.many_threads && r->collective != COLL_barrier &&
           !(type_is_plain(r->send.type) && type_is_plain(r->recv.type));
}

/* Runs go(r). Types of the call that end meanwhile are freed behind it. Returns what `go` does. */
int held_run(const struct request *r, int (*go)(const struct request *));

#endif
