/* SPDX-License-Identifier: BSD-3-Clause */
/* info.h - private to mortar-info. */
#ifndef MORTAR_INFO_H
#define MORTAR_INFO_H

#include <stdbool.h>
#include <stdint.h>

struct figures;

/* Prints every cell of every order for p ranks in so many domains, or, p == 0, what filling costs.
 * Returns the exit code. */
int print_orders(uint32_t p, uint32_t domains);

/* Prints the plans of a collective, one per line; nodes: those for several nodes. Returns the exit
 * code. */
int list_plans(const char *collective, bool nodes);

/* Could this data path work on this machine? Between the ranks of a job the library tries. */
bool path_here(int path);

/* Prints what this machine offers, and why something is not available. */
void print_machine(void);

/* Tuning files; both return an exit code. */
int explain_tuning(const char *path);
int merge_tuning(const char *out, int count, char **paths);

/* Prints what mortar would run for a call such as "alltoall 128x24 64", and why. Returns the exit
 * code. */
int explain_plan(const char *text);

/* A node as there is none: with a processor for each rank, and otherwise as this machine. */
struct figures imagined_node(int ranks);

#endif
