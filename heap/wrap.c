/* SPDX-License-Identifier: BSD-3-Clause */
/* wrap - jemalloc's requests to the operating system, diverted to the region; what the region does not hold or cannot serve
 * goes to the system as it always did. The linker gives jemalloc these names (--wrap), and nobody else. */
#define _GNU_SOURCE
#include "heap/region.h"

#include <errno.h>
#include <sys/mman.h>

void *__wrap_mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset);
int __wrap_munmap(void *address, size_t bytes);
int __wrap_madvise(void *address, size_t bytes, int advice);

void *__wrap_mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset) {
    if ((flags & MAP_FIXED) && region_holds(address)) {
        /* Where memory is not overcommitted jemalloc gives pages back, and takes them again, by mapping over them. */
        if (protection == PROT_NONE) region_clear(address, bytes);
        return address;
    }
    if (!(flags & (MAP_FIXED | MAP_SHARED)) && fd < 0) {
        void *taken = region_take(bytes);
        if (taken) return taken;
    }
    return mmap(address, bytes, protection, flags, fd, offset);
}

int __wrap_munmap(void *address, size_t bytes) {
    if (!region_holds(address)) return munmap(address, bytes);
    region_give(address, bytes);
    return 0;
}

int __wrap_madvise(void *address, size_t bytes, int advice) {
    if (advice == MADV_HUGEPAGE) return 0; /* MORTAR_HUGE decides */
    if (!region_holds(address)) return madvise(address, bytes, advice);
    if (advice == MADV_DONTNEED) {
        region_clear(address, bytes);
        return 0;
    }
    if (advice == MADV_FREE) { /* is for private memory; jemalloc asks once and then does without */
        errno = EINVAL;
        return -1;
    }
    return madvise(address, bytes, advice);
}
