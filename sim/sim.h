/* SPDX-License-Identifier: BSD-3-Clause */
/* sim.h - what the bench of a simulation tells the library's host (host.c). */
#ifndef MORTAR_SIM_H
#define MORTAR_SIM_H

#include <stdbool.h>

/* Nothing is measured now: the library's own use of the host MPI takes no time. */
extern bool setting_up;
/* All ranks have what they exchange in common memory, and nothing is verified; see lean.c. */
extern bool lean;

/* ---- facts.c ---- */
/* Measures what the cost model is told of all nodes that send at once. Before the first team is
 * made. Collective. */
void facts_measure(int ranks, int me);

/* ---- measured.c ---- */
struct network_facts;
/* What `mortar bench network` finds, on the first rank; each: ranks of a node. False: something
 * went wrong, and it said so. Collective. */
bool measure_network(int each, int me, struct network_facts *facts);

#endif
