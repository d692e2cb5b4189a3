/* SPDX-License-Identifier: BSD-3-Clause */
/* shared - memory that all ranks of one node map: a nameless file of rank 0, opened by the others
 * through /proc. */
#include "bench.h"

#include <sys/mman.h>
#include <unistd.h>

void *shared_map(size_t bytes) {
    int me, fd = -1, error = 0;
    struct segment_name name = {0};
    MPI_Comm_rank(meet_ranks(), &me);
    if (me == 0 && (fd = segment_create("mortar-bench", bytes)) >= 0 &&
        segment_name(fd, &name) != 0)
        name.bytes = 0;
    library.bcast(&name, (int)sizeof name, MPI_BYTE, 0, meet_ranks());
    if (me != 0 && name.bytes) fd = segment_open(&name, true);
    void *memory = fd >= 0 && name.bytes ? segment_map(fd, bytes, true, &error) : NULL;
    int fine = memory != NULL, all;
    /* Rank 0 keeps its descriptor until all have opened it. */
    library.allreduce(&fine, &all, 1, MPI_INT, MPI_MIN, meet_ranks());
    if (fd >= 0) close(fd);
    if (all) return memory;
    shared_unmap(memory, bytes);
    return NULL;
}

void shared_unmap(void *memory, size_t bytes) {
    if (memory) munmap(memory, bytes);
}
