/* SPDX-License-Identifier: BSD-3-Clause */
/* adopt.h - makes the executable's static data part of the region: MORTAR_ADOPT. */
#ifndef HEAP_ADOPT_H
#define HEAP_ADOPT_H

#include "heap/heap.h"

#include <stdbool.h>
#include <stdint.h>

enum { most_adopted = 8 };
extern struct heap_range adopted[most_adopted];
extern int adopted_count; /* 0 in a forked child, whose static data are private again */

/* If MORTAR_ADOPT is on, makes the writable pages of the executable's .data and .bss pages of the
 * region, at their own addresses. What cannot be adopted stays private, with a note. Call it once,
 * from a constructor, before there are threads. */
void adopt(void);

static inline bool adopted_holds(const void *address) {
    for (int i = 0; i < adopted_count; i++) {
        if ((size_t)((const char *)address - adopted[i].start) < adopted[i].bytes) return true;
    }
    return false;
}

/* One mapping of this process, as /proc/self/maps has it. */
struct mapping {
    uintptr_t start, end;
    int protection;
    bool shared;
};

/* Lists the mappings between start and end, cut to them, in rising order. Returns their number (at
 * most `most`), or -errno. */
int mappings_between(uintptr_t start, uintptr_t end, struct mapping *list, int most);

#endif
