/* SPDX-License-Identifier: BSD-3-Clause */
/* huge.h - huge pages for memory that moves. Without them random access is a quarter slower, and
 * every peer needs page tables of its own. */
#ifndef HEAP_HUGE_H
#define HEAP_HUGE_H

#include <stdbool.h>

/* Option HUGE, the system's setting, and whether the kernel makes huge pages at request. */
bool huge_wanted(void);

/* Makes a huge page of shared memory at this address, which is aligned to it; its first small page
 * must be there. False: the system has none. */
bool huge_make(char *page);

/* True: private memory is in huge pages where the system finds some, and memory that moves loses
 * them, because they are not wanted there or the kernel makes none. */
bool huge_lost(void);

#endif
