/* SPDX-License-Identifier: BSD-3-Clause */
/* memory - buffers in the heap, in static data, on the stack and from mmap, with guard bytes before
 * and behind. */
#include "driver.h"

#include <stdlib.h>
#include <sys/mman.h>

enum { guard = 64, static_bytes = 2 << 20 };

struct arena {
    char *memory;
    size_t bytes, used;
};
static char statics[static_bytes];
static struct arena static_arena = {statics, sizeof statics, 0}, stack_arena;

void arenas(char *stack, size_t bytes) { stack_arena = (struct arena){stack, bytes, 0}; }

void arenas_reset(void) { static_arena.used = stack_arena.used = 0; }

static char *from_arena(struct arena *arena, size_t bytes) {
    if (arena->bytes - arena->used < bytes) return NULL;
    char *memory = arena->memory + arena->used;
    arena->used += (bytes + 63) / 64 * 64;
    if (arena->used > arena->bytes) arena->used = arena->bytes;
    return memory;
}

static char *memory_of(struct buffer *buffer) {
    if (buffer->kind == KIND_heap) return malloc(buffer->bytes);
    char *memory = NULL;
    if (buffer->kind == KIND_static) memory = from_arena(&static_arena, buffer->bytes);
    if (buffer->kind == KIND_stack) memory = from_arena(&stack_arena, buffer->bytes);
    if (memory) return memory;
    buffer->kind = KIND_mmap;
    void *map =
        mmap(NULL, buffer->bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    return map == MAP_FAILED ? NULL : map;
}

bool buffer_make(struct buffer *buffer, enum kind kind, ptrdiff_t low, ptrdiff_t high, int offset) {
    if (low > 0) low = 0;
    if (high < 0) high = 0;
    ptrdiff_t before = (guard - low + 15) / 16 * 16 + offset;
    *buffer = (struct buffer){.kind = kind, .bytes = (size_t)(before + high + guard)};
    buffer->memory = memory_of(buffer);
    buffer->base = buffer->memory ? buffer->memory + before : NULL;
    return buffer->memory != NULL;
}

void buffer_free(struct buffer *buffer) {
    if (!buffer->memory) return;
    if (buffer->kind == KIND_heap) free(buffer->memory);
    if (buffer->kind == KIND_mmap) munmap(buffer->memory, buffer->bytes);
}
