/* SPDX-License-Identifier: BSD-3-Clause */
/* kernels.h - private to copy/: what the kernels' files define, and what the non-temporal ones
 * share.
 *
 * Non-temporal stores (ramesh2024 section V-E). A cached store first reads its line and takes it
 * away from all other caches. For blocks that do not stay in a cache that is a third of all
 * traffic. A non-temporal store writes a whole line to memory instead. The loads are prefetched,
 * because such stores bypass the caches in which the hardware prefetcher works. Each kernel calls
 * memcpy up to the first whole line of the target, stores whole lines, and calls memcpy for the
 * rest. Its stores are unordered until copy_fence, which the caller must call; one fence is enough
 * for many short runs of a layout. A block without a whole line is left to memcpy.
 * Wins    if a block would not stay in cache until its receiver reads it: many ranks, long blocks.
 *         Loses below. */
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

/* Bytes. `ahead` is the prefetch distance: memory answers after some 100 ns, in which a core copies
 * about 1 KiB. A prefetch of an address that is not mapped does nothing. */
enum { line = 64, ahead = 1024 };

/* Bytes until the next line of the target. */
static inline size_t to_line(const void *to) { return -(uintptr_t)to & (line - 1); }

#endif
