/* SPDX-License-Identifier: BSD-3-Clause */
/* held.h - types and operations that end while another thread's collective uses them, for take.c
 * and ops.c. */
#ifndef MORTAR_HELD_H
#define MORTAR_HELD_H

#include "mpi/calls.h"

/* Could another thread free a type of this call, or its operation, meanwhile? Looks only at
 * handles, and says yes too often. */
static inline bool may_lose(const struct request *r) {
    return host.many_threads && r->collective != COLL_barrier &&
           !(type_is_plain(r->send.type) && type_is_plain(r->recv.type) &&
             (r->op == MPI_OP_NULL || !op_is_users(r->op)));
}

/* Runs go(r). What the call uses and ends meanwhile is freed behind it. Returns what `go` does. */
int held_run(const struct request *r, int (*go)(const struct request *));

/* The program frees an operation of its own. True: op_ends is called when no call uses it any
 * more. */
bool held_op(MPI_Op op);

#endif
