/* SPDX-License-Identifier: BSD-3-Clause */
/* lock - mlockall, which would fill what mortar has only reserved: the file's second mapping here,
 * 64 GiB, and those of the peers' files. So all else is locked, mapping by mapping. What is mapped
 * later, under MCL_FUTURE, see segment_lay. Locked memory never moves (moved.c). */
#define _GNU_SOURCE
#include "heap/blocks.h"
#include "heap/moved.h"
#include "heap/next.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

/* Reserved by the heap, or a whole file of a heap. What has moved is the program's. */
static bool is_mortars(const struct mapping *mapping, const char *line) {
    const char *start = (const char *)mapping->start;
    bool inside = region_holds(start);
    if (inside && !(mapping->protection & PROT_READ)) return true;
    if (!strstr(line, "/memfd:mortar-heap")) return false;
    struct heap_range place;
    return inside ? place_at((size_t)(start - region.base), &place) : !place_of(start, &place);
}

/* A line of /proc/self/maps. */
static bool take(char *line, void *state) {
    (void)state;
    struct mapping mapping;
    if (!mapping_in(line, &mapping)) return false;
    void *start = (void *)mapping.start;
    size_t bytes = mapping.end - mapping.start;
    /* Memory that nothing can fill, such as [vvar], gives an error, which mlockall ignores, too. */
    if (is_mortars(&mapping, line)) munlock(start, bytes);
    else mlock(start, bytes);
    return false;
}

int mlockall(int flags) {
    int saved = errno;
    begin();
    if (!(flags & MCL_CURRENT) || flags & MCL_ONFAULT) return next.mlockall(flags);
    /* On a fault first, which fills nothing; then all that is the program's. */
    if (next.mlockall(flags | MCL_ONFAULT) != 0) return -1;
    if (flags & MCL_FUTURE) next.mlockall(MCL_FUTURE);
    each_line("/proc/self/maps", take, NULL);
    errno = saved;
    return 0;
}
