/* SPDX-License-Identifier: BSD-3-Clause */
/* doctor.h - private to `mortar doctor`. */
#ifndef MORTAR_DOCTOR_H
#define MORTAR_DOCTOR_H

#include "bench/common/bench.h"
#include "info/health.h"

/* `mortar doctor`; words[0] is "doctor". Returns the exit code: 1 if something is red. */
int doctor(int count, char **words);

/* The MPI library, mortar's engine and heap in this process, and a collective that is tried.
 * Collective. */
void doctor_library(const struct world *world, struct findings *all);

/* What ranks of a node are to each other: memory that they can open and read, namespaces,
 * processors. Collective. */
void doctor_peers(const struct world *world, struct findings *all);

/* The findings of all ranks, [p] on the first one, which frees them; NULL on the others. *fine
 * false, on all ranks: no memory. Collective. */
struct findings *doctor_gather(const struct world *world, const struct findings *mine, bool *fine);

#endif
