/* SPDX-License-Identifier: BSD-3-Clause */
/* heap.h - the shared heap (li2018 section 2): malloc whose memory every rank of the node can load
 * and store. libmortar-heap.so exports these two and the malloc family; nothing else. The library
 * works without mortar and without MPI. */
#ifndef MORTAR_HEAP_H
#define MORTAR_HEAP_H

#include <stddef.h>

/* Static data of the executable that are part of the region (MORTAR_ADOPT): addresses in [start,
 * start + bytes) are the offsets from `offset` on. */
struct heap_range {
    char *start;
    size_t bytes, offset;
};

struct heap_region {
    char *base; /* where the region lies in this process */
    /* Its length; addresses in [base, base + bytes) are offsets into the descriptor's file. */
    size_t bytes;
    int fd; /* memfd, sealed against resizing; owned by the heap: do not close it */
    int adopted_count;
    const struct heap_range *adopted; /* static storage of the heap */
};

/* Fills *region. 0, or a negative errno when malloc's memory is private (switched off, refused, in
 * a forked child, or the executable brought its own malloc). Thread safe. */
int mortar_heap_region(struct heap_region *region);

/* Why the heap is private, in words a user can act on; NULL when it is shared. Static storage. */
const char *mortar_heap_why(void);

#endif
