/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI_Alloc_mem, MPI_Free_mem: memory that is shared from the beginning, if there is a heap. Some
 * MPI libraries would allocate it elsewhere. */
#include "mpi/calls.h"

#include <pthread.h>
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

/* What the MPI library gave, where no memory that is shared from the beginning was left, and that
 * lies among ours: it may have taken a block from malloc, and begin somewhere within. */
struct theirs {
    void *base;
    struct theirs *next;
};
static struct theirs *theirs;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int alloc_theirs(MPI_Aint size, MPI_Info info, void *base) {
    int error = host.alloc_mem(size, info, base);
    if (error != MPI_SUCCESS || !shown_owns(*(void **)base)) return error;
    struct theirs *note = malloc(sizeof *note);
    if (!note) {
        host.free_mem(*(void **)base);
        return MPI_ERR_NO_MEM;
    }
    pthread_mutex_lock(&lock);
    *note = (struct theirs){*(void **)base, theirs};
    theirs = note;
    pthread_mutex_unlock(&lock);
    return MPI_SUCCESS;
}

static bool forget_theirs(const void *base) {
    pthread_mutex_lock(&lock);
    struct theirs **at = &theirs, *found;
    while (*at && (*at)->base != base) at = &(*at)->next;
    found = *at;
    if (found) *at = found->next;
    pthread_mutex_unlock(&lock);
    free(found);
    return found != NULL;
}

int MPI_Alloc_mem(MPI_Aint size, MPI_Info info, void *base) {
    if (!base) return host.alloc_mem(size, info, base); /* an error */
    size_t alignment = size > 0 ? alignment_of(info) : 0;
    void *memory = alignment > 0 ? shown_born(alignment, (size_t)size) : NULL;
    if (!memory) return alloc_theirs(size, info, base);
    *(void **)base = memory;
    return MPI_SUCCESS;
}

int MPI_Free_mem(void *base) {
    if (!base || !shown_owns(base) || forget_theirs(base)) return host.free_mem(base);
    shown_free(base);
    return MPI_SUCCESS;
}
