/* SPDX-License-Identifier: BSD-3-Clause */
/* peers - in place of src/reach/peers.c and near.c: all simulated ranks live in one address space,
 * so all memory is the shared heap. */
#include "reach/reach.h"

#include "heap/heap.h"

#include "world.h"

#include <stdlib.h>

static const uintptr_t first = 4096;

int mortar_heap_region(struct heap_region *region) {
    *region = (struct heap_region){
        .base = (char *)first, .bytes = ((size_t)1 << 47) - first, .fd = world_descriptor()};
    return 0;
}

int mortar_heap_move(void *start, size_t bytes) {
    (void)start, (void)bytes;
    return 0;
}

void *mortar_heap_alloc(size_t alignment, size_t bytes) {
    return aligned_alloc(alignment, (bytes + alignment) / alignment * alignment);
}

void mortar_heap_free(void *memory) { free(memory); }

int peer_map(const struct segment_name *name, int fd, bool writable, uintptr_t *base) {
    (void)name, (void)fd, (void)writable;
    *base = first;
    return 0;
}

void peer_unmap(const struct segment_name *name, bool writable) { (void)name, (void)writable; }

/* There is one process, which has all memory anyway. */
void peers_count(size_t bytes) { (void)bytes; }

/* Nothing is nearer than that. */
void near_begin(struct team *team) { (void)team; }
void near_end(struct team *team) { (void)team; }
uintptr_t near_missed(const struct team *team, int rank, uint64_t offset, size_t bytes) {
    (void)offset, (void)bytes;
    return team->peers[0][rank];
}
