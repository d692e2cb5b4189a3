/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Alloc_mem, MPI_Free_mem: use the shared heap if there is one, so that all ranks of the node
 * can reach the memory. Some MPI libraries would allocate it elsewhere. */
#include "mpi/calls.h"

#include "heap/heap.h"

#include <pthread.h>
#include <stdlib.h>

/* Looked up once: a block from the region must go back to it, even if the heap has been switched
 * off since. */
static struct heap_region heap;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void alloc_mem_look(void) {
    if (heap_of_this_process(&heap) != 0) heap = (struct heap_region){.bytes = 0};
}

static bool in_heap(const void *memory) {
    pthread_once(&once, alloc_mem_look);
    return (size_t)((const char *)memory - heap.base) < heap.bytes;
}

/* The alignment that the program asks for (MPI 4.0, section 9.2), at least a cache line. 0: the
 * value is not a valid alignment. */
static size_t alignment_of(MPI_Info info) {
    enum { line = 64, most = 1 << 30 };
    char text[24];
    int set = 0;
    uint64_t bytes = 0;
    if (info != MPI_INFO_NULL)
        PMPI_Info_get(info, "mpi_minimum_memory_alignment", sizeof text - 1, text, &set);
    if (!set) return line;
    if (parse_bytes(text, &bytes) != 0 || bytes == 0 || (bytes & (bytes - 1)) != 0 || bytes > most)
        return 0;
    return bytes > line ? bytes : line;
}

int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *base) {
    void *memory = NULL;
    size_t alignment = size > 0 ? alignment_of(info) : 0;
    if (alignment == 0 || posix_memalign(&memory, alignment, (size_t)size) != 0)
        return host.alloc_mem(size, info, base);
    if (!in_heap(memory)) { /* there is no region, or it is full */
        free(memory);
        return host.alloc_mem(size, info, base);
    }
    *(void **)base = memory;
    return MPI_SUCCESS;
}

int MPI_Free_mem(void *base) {
    if (!base || !in_heap(base)) return host.free_mem(base);
    free(base);
    return MPI_SUCCESS;
}
