/* SPDX-License-Identifier: BSD-3-Clause */
/* mapped.h - the program's own mappings: private anonymous memory that it has from mmap. */
#ifndef HEAP_MAPPED_H
#define HEAP_MAPPED_H

#include <stdbool.h>
#include <stddef.h>

/* True: all of this memory lies in one mapping of the program's, from *start to *end, that it
 * cannot take away unseen. The region's lock must be held. */
bool mapped_holds(const void *memory, size_t bytes, char **start, char **end);

/* True: some of this memory lies in such a mapping, or may. The lock must be held. */
bool mapped_touches(const void *memory, size_t bytes);

/* True: the program's calls of mmap, munmap, mremap and madvise still come to mapped.c. Once false
 * it stays so. Thread safe. */
bool mapped_is_seen(void);

/* This process has no region any more. The lock must be held. */
void mapped_in_child(void);

#endif
