/* SPDX-License-Identifier: BSD-3-Clause */
/* info.h - private to mortar-info. */
#ifndef MORTAR_INFO_H
#define MORTAR_INFO_H

#include <stdbool.h>
#include <stdint.h>

struct figures;

/* Prints every cell of every order for p ranks in `domains` memory domains; p == 0: what filling
 * costs. Returns the exit code. */
int print_orders(uint32_t p, uint32_t domains);

/* Prints the plans of a collective for one node, or for several, one per line. Returns the exit
 * code. */
int list_plans(const char *collective, bool nodes);

/* True: this data path may work on this machine. Between the ranks of a job the library tries
 * it. */
bool path_here(int path);

/* Prints what this machine offers, and the reason for what is missing. */
void print_machine(void);

/* Prints a tuning file; merges several into one. Both return the exit code. */
int explain_tuning(const char *path);
int merge_tuning(const char *out, int count, char **paths);

/* Prints the plan that mortar would run for a call such as "alltoall 128x24 64", and why. Returns
 * the exit code. */
int explain_plan(const char *text);

/* Figures of an imagined node: one processor per rank, otherwise as this machine. */
struct figures imagined_node(int ranks);

#endif
