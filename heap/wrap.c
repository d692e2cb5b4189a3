/* SPDX-License-Identifier: BSD-3-Clause */
/* wrap - diverts jemalloc's requests to the operating system to the region. What the region cannot
 * serve goes to the system (outside.c). In jemalloc the names of these functions are changed when
 * it is linked (CMakeLists.txt). */
#define _GNU_SOURCE
#include "heap/jemalloc.h"
#include "heap/region.h"

#include <errno.h>
#include <sys/mman.h>

void *je_mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset);
int je_munmap(void *address, size_t bytes);
int je_madvise(void *address, size_t bytes, int advice);

/* Where the system makes huge pages unasked (`always`), jemalloc's tables and each arena's first
 * blocks would be in some, 16 MiB in a rank of Open MPI that needs 3. glibc's heap grows by a few
 * pages at a time, and has none. Long extents keep them, as long blocks do. */
static void *take(size_t bytes, bool *refused) {
    enum { long_extent = 8 << 20 };
    bool is_long = bytes >= long_extent;
    *refused = is_long && is_limited() && !limit_allows(bytes);
    void *taken = *refused ? NULL : region_take(bytes, refused);
    int saved = errno;
    if (taken && !is_long) madvise(taken, bytes, MADV_NOHUGEPAGE);
    errno = saved;
    return taken;
}

void *je_mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset) {
    if ((flags & MAP_FIXED) && region_holds(address)) {
        /* If memory is not overcommitted, jemalloc gives pages back, and takes them again, by
         * mapping over them. */
        if (protection == PROT_NONE) region_clear(address, bytes);
        return address;
    }
    if (!(flags & (MAP_FIXED | MAP_SHARED)) && fd < 0) {
        bool refused;
        void *taken = take(bytes, &refused);
        if (taken) return taken;
        /* Under a limit jemalloc asks for each block, and gives each back: outside of the region
         * two pages more for each, and thousands of entries in its table. The C library does
         * better (family.c). */
        if (refused || is_limited()) {
            errno = ENOMEM;
            return MAP_FAILED;
        }
        if (!address) return outside_take(bytes, protection, flags);
    }
    return mmap(address, bytes, protection, flags, fd, offset);
}

int je_munmap(void *address, size_t bytes) {
    if (!region_holds(address)) return outside_give(address, bytes);
    region_give(address, bytes);
    return 0;
}

int je_madvise(void *address, size_t bytes, int advice) {
    if (advice == MADV_HUGEPAGE) return 0; /* jemalloc's advice, see heap.c */
    if (!region_holds(address)) return madvise(address, bytes, advice);
    if (advice == MADV_DONTNEED) {
        region_clear(address, bytes);
        return 0;
    }
    if (advice == MADV_FREE) { /* not for memory that has moved; jemalloc tries it once */
        errno = EINVAL;
        return -1;
    }
    return madvise(address, bytes, advice);
}
