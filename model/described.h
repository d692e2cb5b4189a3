/* SPDX-License-Identifier: BSD-3-Clause */
/* described.h - descriptions of machines, for `mortar model` and `mortar cores`: files of lines
 * `key value`; # begins a comment. Local. */
#ifndef MORTAR_DESCRIBED_H
#define MORTAR_DESCRIBED_H

#include <stdbool.h>

/* Where the description lies: a name with a slash is its path, another one is in that folder beside
 * the program. False: there is none of that name; `why` says which there are. */
bool described_place(char path[4096], const char *name, const char *program, const char *folder,
                     char why[256]);
/* Hands each line to `set`, which may change the value; false: no such key, or not such a value.
 * name: the file's. Returns 0, or -errno and one line in `why`: what is wrong. */
int described_read(const char *path, char name[64],
                   bool (*set)(void *machine, const char *key, char *value), void *machine,
                   char why[256]);

#endif
