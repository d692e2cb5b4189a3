/* SPDX-License-Identifier: BSD-3-Clause */
/* region.h - the addresses that malloc's memory comes from, cut into extents for the allocator, and
 * the sealed memfd of the same length into which pages of them can move (moved.h). Nothing in here
 * may call malloc, because malloc is built on it. */
#ifndef HEAP_REGION_H
#define HEAP_REGION_H

#include "base/base.h"

struct extent {
    size_t offset, bytes;
};

struct region {
    char *base;
    size_t bytes; /* 0: no region, or not yet, or not in a forked child */
    size_t page;  /* bytes of a page; on either side of an extent one page is readable */
    int fd;
    int error;       /* if there is no region: -errno */
    const char *why; /* the reason, for users */
    /* To check that fd is still ours: some programs close all descriptors that they find. */
    struct segment_name name;
};
extern struct region region;

/* Where the first thread's stack begins. Weak, or the dynamic linker itself would be among the
 * libraries that this one needs (CMakeLists.txt). */
extern void *__libc_stack_end __attribute__((weak));

static inline bool region_holds(const void *address) {
    return (size_t)((const char *)address - region.base) < region.bytes;
}

/* Reads the region's options and the launcher's hints; once, when the library is loaded. */
void region_settings(void);

/* True: malloc is left to the next library that has it, an allocator of the program's. */
bool region_stands_aside(void);

/* Ranks of this node, as the launcher says; 0: it does not. */
int region_ranks(void);

/* Makes the region; once, at the first long block. False: there is none, region.why says why. */
bool region_open(void);

/* Zeroed private memory of the region, aligned to 2 MiB if it has at least that. NULL: no region,
 * or no room in it; take private memory. It is committed when it is touched. *refused, unless that
 * is NULL: there is room, but the system has no memory left, here or elsewhere. */
void *region_take(size_t bytes, bool *refused);

/* Frees memory taken before, or any page-aligned part of it. */
void region_give(void *address, size_t bytes);

/* Zeroes memory that stays taken, and gives its pages back to the system. What was shared is
 * private again. */
void region_clear(void *address, size_t bytes);

/* outside.c: the same for what the region cannot serve: mmap and munmap; and whether an address
 * lies there. */
void *outside_take(size_t bytes, int protection, int flags);
int outside_give(char *start, size_t bytes);
bool outside_holds(const void *address);

/* After the limit on address space has changed: gives up addresses that nobody has used. */
void region_fit(void);

/* After an mmap or mremap to a fixed address that was refused: some systems have unmapped what was
 * there by then. mmap before Linux 6.12, where it may promise no more memory
 * (vm.overcommit_memory=2); mremap before 6.17 (family.c). Maps this instead, unless something is
 * there still, or has been mapped there by another thread meanwhile. False: that, or no memory. */
bool map_if_gone(char *at, size_t bytes, int protection, int flags, int fd, size_t offset);

/* True: [page, page + bytes) is all zeros. */
static inline bool blank(const char *page, size_t bytes) {
    const uint64_t *word = (const uint64_t *)(const void *)page;
    for (size_t i = 0; i < bytes / sizeof *word; i++) {
        if (word[i] != 0) return false;
    }
    return true;
}

/* True: region.fd is still the region's descriptor. */
bool region_fd_valid(void);

/* While it is held neither extents change nor which pages are shared. */
void region_lock(void);
void region_unlock(void);

/* True: this thread holds it, or waits for it. So this is a signal's handler. */
bool region_is_mine(void);

/* This process has no region any more: a forked child. The lock must be held. */
void region_leave(int error, const char *why);

/* fork.c: registers the fork handlers, jemalloc's among them; once. 0 or -errno. */
int fork_watch(void);

#endif
