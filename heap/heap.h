/* SPDX-License-Identifier: BSD-3-Clause */
/* heap.h - the shared heap (li2018 section 2): a malloc whose memory all ranks of the node can load
 * and store. libmortar-heap.so exports these two functions and the malloc family. It works without
 * mortar and without MPI. */
#ifndef MORTAR_HEAP_H
#define MORTAR_HEAP_H

#include <stddef.h>

/* Static data of the executable that are part of the region (MORTAR_ADOPT): addresses in [start,
 * start + bytes) have the region's offsets from `offset` on. */
struct heap_range {
    char *start;
    size_t bytes, offset;
};

struct heap_region {
    char *base;   /* address of the region in this process; offset 0 of the descriptor's file */
    size_t bytes; /* its length */
    int fd;       /* memfd, sealed against resizing; owned by the heap: do not close it */
    int adopted_count;
    const struct heap_range *adopted; /* static storage of the heap */
};

/* Fills *region. 0, or -errno if malloc's memory is private (switched off, refused, in a forked
 * child, or another malloc is used). Thread safe. */
int mortar_heap_region(struct heap_region *region);

/* Why the heap is private, in words that a user can act on; NULL: it is shared. Static storage. */
const char *mortar_heap_why(void);

#endif
