/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Alloc_mem, MPI_Free_mem: memory that is shared from the beginning, if there is a heap. Some
 * MPI libraries would allocate it elsewhere. */
#include "mpi/calls.h"

#include <stdlib.h>

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
    size_t alignment = size > 0 ? alignment_of(info) : 0;
    void *memory = alignment > 0 ? shown_born(alignment, (size_t)size) : NULL;
    if (!memory) return host.alloc_mem(size, info, base); /* there is no region, or it is full */
    *(void **)base = memory;
    return MPI_SUCCESS;
}

int MPI_Free_mem(void *base) {
    if (!base || !shown_owns(base)) return host.free_mem(base);
    shown_free(base);
    return MPI_SUCCESS;
}
