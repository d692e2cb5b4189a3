/* SPDX-License-Identifier: BSD-3-Clause */
/* huge.h - huge pages for memory that moves; base/huge.c says whether they are wanted. Without them
 * random access is a quarter slower, and every peer needs page tables of its own. */
#ifndef HEAP_HUGE_H
#define HEAP_HUGE_H

#include <stdbool.h>
#include <stddef.h>

static const size_t huge_page = 2 << 20;

/* Makes a huge page of shared memory at this address, which is aligned to it; its first small page
 * must be there. False: the system has none. */
bool huge_make(char *page);

#endif
