/* SPDX-License-Identifier: BSD-3-Clause */
/* info.h - private to mortar-info. */
#ifndef MORTAR_INFO_H
#define MORTAR_INFO_H

/* Prints what this machine offers, and why something is not available. */
void print_machine(void);

#endif
