/* SPDX-License-Identifier: BSD-3-Clause */
/* info.h - private to mortar-info. */
#ifndef MORTAR_INFO_H
#define MORTAR_INFO_H

/* Prints what this machine offers, and why something is not available. */
void print_machine(void);

/* Tuning files; both return an exit code. */
int explain_tuning(const char *path);
int merge_tuning(const char *out, int count, char **paths);

#endif
