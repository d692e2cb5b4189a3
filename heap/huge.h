/* SPDX-License-Identifier: BSD-3-Clause */
/* huge.h - huge pages in the region. Without them random access is a quarter slower, and every peer
 * needs page tables of its own. */
#ifndef HEAP_HUGE_H
#define HEAP_HUGE_H

#include <stddef.h>

/* Asks for huge pages in the region, or in adopted data, if MORTAR_HUGE and the system's settings
 * say so. */
void huge_begin(void *base, size_t bytes);

#endif
