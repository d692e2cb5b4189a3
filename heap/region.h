/* SPDX-License-Identifier: BSD-3-Clause */
/* region.h - the stretch of address space that peers can map: one sealed memfd per process, cut
 * into extents for the allocator. Nothing in here may call malloc: it is what malloc stands on. */
#ifndef HEAP_REGION_H
#define HEAP_REGION_H

#include "base/base.h"

struct extent {
    size_t offset, bytes;
};

struct region {
    char *base;
    size_t bytes; /* 0: there is none (yet, or in a forked child: any more) */
    size_t page;  /* of the system's: one beside each extent can be read */
    int fd;
    int error;       /* then this is -errno ... */
    const char *why; /* ... and the reason, for users */
    /* To tell whether fd is still ours: programs close descriptors that they do not know. */
    struct segment_name name;
};
extern struct region region;

static inline bool region_holds(const void *address) {
    return (size_t)((const char *)address - region.base) < region.bytes;
}

/* Zeroed memory of the region, 2 MiB aligned from 2 MiB up. NULL when there is no region or no room
 * in it: take private memory. The first call decides whether there is a region. */
void *region_take(size_t bytes);

/* The same, but never backed by memory before it is touched. */
void *region_take_sparse(size_t bytes);

/* Returns memory taken before, or any page-aligned part of it. */
void region_give(void *address, size_t bytes);

/* Zeroes memory that stays taken, and hands its pages back to the system. */
void region_clear(void *address, size_t bytes);

/* Does [page, page + bytes) hold zeroes only? */
static inline bool blank(const char *page, size_t bytes) {
    const uint64_t *word = (const uint64_t *)(const void *)page;
    for (size_t i = 0; i < bytes / sizeof *word; i++) {
        if (word[i] != 0) return false;
    }
    return true;
}

/* Is region.fd the region's descriptor? */
bool region_fd_valid(void);

/* For fork, which needs the extents to stand still. region_used fills the first taken extent that
 * ends beyond offset; false when there is none. region_leave: from now on this process has no
 * region. The lock must be held. */
void region_lock(void);
void region_unlock(void);
bool region_used(size_t offset, struct extent *used);
void region_leave(int error, const char *why);

/* fork.c: call once, before malloc registers its own fork handlers. 0 or -errno. */
int fork_watch(void);

#endif
