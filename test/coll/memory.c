/* SPDX-License-Identifier: BSD-3-Clause */
/* memory - buffers in the heap, in static data, on the stack and from mmap, with guard bytes before and behind. */
#include "driver.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { guard = 64, static_bytes = 1 << 20 };

static char statics[2][static_bytes];
static char *stack_arena;
static size_t stack_bytes;

void arenas(char *stack, size_t bytes) {
    stack_arena = stack;
    stack_bytes = bytes / 2;
}

static char *memory_of(struct buffer *buffer, bool receives) {
    if (buffer->kind == KIND_static && buffer->bytes > static_bytes) buffer->kind = KIND_mmap;
    if (buffer->kind == KIND_stack && buffer->bytes > stack_bytes) buffer->kind = KIND_mmap;
    if (buffer->kind == KIND_static) return statics[receives];
    if (buffer->kind == KIND_stack) return stack_arena + (receives ? stack_bytes : 0);
    if (buffer->kind == KIND_heap) return malloc(buffer->bytes);
    void *map = mmap(NULL, buffer->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return map == MAP_FAILED ? NULL : map;
}

bool buffer_make(struct buffer *buffer, enum kind kind, const struct side *side, int blocks, int offset, bool receives) {
    MPI_Aint lb, extent, true_lb, true_extent;
    MPI_Type_get_extent(side->type, &lb, &extent);
    MPI_Type_get_true_extent(side->type, &true_lb, &true_extent);
    MPI_Aint count = (MPI_Aint)side->count * blocks;
    MPI_Aint low = true_lb < 0 ? true_lb : 0, high = count > 0 ? (count - 1) * extent + true_lb + true_extent : 0;
    MPI_Aint before = (guard - low + 15) / 16 * 16 + offset;
    *buffer = (struct buffer){.kind = kind, .bytes = (size_t)(before + (high > 0 ? high : 0) + guard)};
    buffer->memory = memory_of(buffer, receives);
    buffer->base = buffer->memory + before;
    return buffer->memory != NULL;
}

void buffer_free(struct buffer *buffer) {
    if (buffer->kind == KIND_heap) free(buffer->memory);
    if (buffer->kind == KIND_mmap) munmap(buffer->memory, buffer->bytes);
}
