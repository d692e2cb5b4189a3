/* SPDX-License-Identifier: BSD-3-Clause */
/* huge.h - huge pages in the region: without them random access is a quarter slower, and every peer
 * pays page tables. */
#ifndef HEAP_HUGE_H
#define HEAP_HUGE_H

#include <stddef.h>

/* Decides, from MORTAR_HUGE and the system's settings, and asks for these pages: the region, and
 * what is adopted. */
void huge_begin(void *base, size_t bytes);

/* Makes the huge pages of memory just taken where the system gives none by itself. This commits the
 * memory. */
void huge_take(char *address, size_t bytes);

#endif
