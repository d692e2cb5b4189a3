/* SPDX-License-Identifier: BSD-3-Clause */
/* kernels.h - private to copy/: what the kernels' files define, and what the non-temporal ones
 * share.
 *
 * Non-temporal stores (ramesh2024 section V-E). A cached store first reads its line and takes it
 * away from every other cache; for blocks that do not stay in a cache that is a third of all
 * traffic. Stores that are marked as not to be cached write whole lines to memory. The loads are
 * prefetched, for the stores go round the caches in which the hardware would look ahead.
 * Each kernel: memcpy to the first line of the target that is written whole, whole lines with such
 * stores, memcpy for what is left. These stores come in no order with others until copy_fence,
 * which is whoever called the kernel's duty: one is enough for a layout's many short runs. Blocks
 * with no whole line are left to memcpy.
 * Wins    where a block does not stay in cache until its receiver reads it: many ranks, long
 *         blocks. Loses below. */
#ifndef MORTAR_COPY_KERNELS_H
#define MORTAR_COPY_KERNELS_H

#include "base/base.h"
#include "copy/copy.h"

#include <stdint.h>

#define KERNEL(name, about)                                                                        \
    void copy_##name(void *to, const void *from, size_t bytes);                                    \
    bool usable_##name(void);
#include "copy/list.h"
#undef KERNEL

/* Bytes. Look ahead by several lines: memory answers after some 100 ns, in which a core copies
 * about 1 KiB. A prefetch of an address that is not mapped does nothing. */
enum { line = 64, ahead = 1024 };

/* Bytes until the next line of the target. */
static inline size_t to_line(const void *to) { return -(uintptr_t)to & (line - 1); }

#endif
