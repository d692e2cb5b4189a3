/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Alloc_mem, MPI_Free_mem: from the shared heap where there is one, so that what is allocated for communication can be reached
 * by all ranks of the node; some MPI libraries would take it from elsewhere. */
#define _GNU_SOURCE
#include "mpi/calls.h"

#include "heap/heap.h"

#include <dlfcn.h>
#include <stdlib.h>

static bool region(struct heap_region *region) {
    int (*ask)(struct heap_region *) = (int (*)(struct heap_region *))dlsym(RTLD_DEFAULT, "mortar_heap_region");
    return ask && ask(region) == 0;
}

static bool inside(const struct heap_region *region, const void *memory) {
    return (size_t)((const char *)memory - region->base) < region->bytes;
}

int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *base) {
    struct heap_region heap;
    void *memory = NULL;
    if (size <= 0 || !region(&heap) || posix_memalign(&memory, 64, (size_t)size) != 0) return host.alloc_mem(size, info, base);
    if (!inside(&heap, memory)) { /* the region is full */
        free(memory);
        return host.alloc_mem(size, info, base);
    }
    *(void **)base = memory;
    return MPI_SUCCESS;
}

int MPI_Free_mem(void *base) {
    struct heap_region heap;
    if (!base || !region(&heap) || !inside(&heap, base)) return host.free_mem(base);
    free(base);
    return MPI_SUCCESS;
}
