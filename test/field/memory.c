/* SPDX-License-Identifier: BSD-3-Clause */
/* memory.c - buffers of all kinds: what lies in them before a call, and a picture of what must lie
 * there afterwards, guards and gaps included. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include "field.h"

enum { GUARD = 128, ARENAS = 4, ARENA_BYTES = 1 << 20 };

static char statics[MOST_THREADS][ARENAS][ARENA_BYTES];
static _Thread_local int mine; /* the thread's statics */
static _Thread_local char *stack;
static _Thread_local size_t stack_bytes;
static _Thread_local bool taken[2 * ARENAS]; /* the static ones, then the stack's */

void memory_start(int thread, char *place, size_t bytes) {
    mine = thread, stack = place, stack_bytes = bytes;
}

static char *arena_memory(int arena) {
    return arena < ARENAS ? statics[mine][arena]
                          : stack + (size_t)(arena - ARENAS) * (stack_bytes / ARENAS);
}

static char *take_arena(struct side *side) {
    int first = side->place == STACK ? ARENAS : 0;
    size_t room = side->place == STACK ? stack_bytes / ARENAS : ARENA_BYTES;
    for (int arena = first; (size_t)side->bytes <= room && arena < first + ARENAS; arena++)
        if (!taken[arena]) {
            taken[arena] = true;
            side->arena = arena;
            return arena_memory(arena);
        }
    side->place = HEAP; /* too long, or all are in use */
    return malloc((size_t)side->bytes);
}

static char *take(struct side *side) {
    char *memory = NULL;
    switch (side->place) {
    case STACK:
    case STATIC: return take_arena(side);
    case MAPPED:
        memory = mmap(NULL, (size_t)side->bytes, PROT_READ | PROT_WRITE,
                      (side->bytes % 2 ? MAP_PRIVATE : MAP_SHARED) | MAP_ANONYMOUS, -1, 0);
        return memory == MAP_FAILED ? NULL : memory;
    case ALLOCATED: MPI_Alloc_mem(side->bytes, MPI_INFO_NULL, &memory); return memory;
    default: return malloc((size_t)side->bytes);
    }
}

void side_open(struct side *side, int blocks) {
    size_t n = (size_t)blocks + 1;
    *side = (struct side){.blocks = blocks, .bottom = MPI_DATATYPE_NULL};
    side->block = calloc(n, sizeof *side->block);
    side->counts = calloc(n, sizeof *side->counts);
    side->displs = calloc(n, sizeof *side->displs);
    side->places = calloc(n, sizeof *side->places);
    side->types = calloc(n, sizeof *side->types);
}

void side_place(struct side *side, enum place place, struct dice *dice) {
    long low = 0, high = 0;
    for (int b = 0; b < side->blocks; b++) {
        const struct block *block = &side->block[b];
        if (!block->count || !block->layout->bytes) continue;
        long last = block->at + (block->count - 1) * block->layout->extent;
        low = block->at + block->layout->low < low ? block->at + block->layout->low : low;
        high = last + block->layout->high > high ? last + block->layout->high : high;
    }
    low = low / 64 * 64 - GUARD - (low < 0 ? 64 : 0);
    low -= 16 * below(dice, 9);
    side->place = place;
    side->bytes = high + GUARD - low;
    side->memory = take(side);
    side->expected = malloc((size_t)side->bytes);
    if (!side->memory || !side->expected)
        failed("the checker has no memory: %ld bytes", side->bytes);
    side->base = side->memory - low;
}

/* Brings packed contents to where the block's runs are. */
static void unpack(char *base, const struct block *block, const char *packed) {
    const struct layout *layout = block->layout;
    for (long i = 0; i < block->count; i++)
        for (int r = 0; r < layout->runs; r++) {
            memcpy(base + block->at + i * layout->extent + layout->run[r].at, packed,
                   (size_t)layout->run[r].bytes);
            packed += layout->run[r].bytes;
        }
}

static void copy_runs(char *to, const char *from, const struct block *block) {
    const struct layout *layout = block->layout;
    for (long i = 0; i < block->count; i++)
        for (int r = 0; r < layout->runs; r++) {
            long at = block->at + i * layout->extent + layout->run[r].at;
            memcpy(to + at, from + at, (size_t)layout->run[r].bytes);
        }
}

static char *room_for(size_t bytes) {
    static _Thread_local char *room;
    static _Thread_local size_t has;
    if (bytes > has) {
        free(room);
        room = malloc(has = 2 * bytes);
    }
    return room;
}

static void write_blocks(struct side *side, const struct op *op, bool after) {
    char *base = side->expected + (side->base - side->memory);
    for (int b = 0; b < side->blocks; b++) {
        const struct block *block = &side->block[b];
        size_t bytes = (size_t)(block->count * (block->layout ? block->layout->bytes : 0));
        if (!bytes || !(after ? block->after : block->before)) continue;
        char *packed = room_for(bytes);
        if (op->reduction) reductions_contents(op, block, after, packed);
        else
            contents(
                packed, bytes,
                mix(mix(settings.seed, (uint64_t)op->call), after ? block->after : block->before));
        unpack(base, block, packed);
    }
}

void side_fill(struct side *side, int background, const struct op *op) {
    if (!side->memory) return;
    memset(side->expected, background, (size_t)side->bytes);
    write_blocks(side, op, false);
    memcpy(side->memory, side->expected, (size_t)side->bytes);
    write_blocks(side, op, true);
}

long side_wrong(struct side *side) {
    if (!side->memory) return -1;
    ptrdiff_t base = side->base - side->memory;
    for (int b = 0; b < side->blocks; b++)
        if (side->block[b].loose)
            copy_runs(side->expected + base, side->memory + base, &side->block[b]);
    if (!memcmp(side->memory, side->expected, (size_t)side->bytes)) return -1;
    long at = 0;
    while (side->memory[at] == side->expected[at]) at++;
    return at;
}

static void give(struct side *side) {
    switch (side->place) {
    case STACK:
    case STATIC: taken[side->arena] = false; break;
    case MAPPED: munmap(side->memory, (size_t)side->bytes); break;
    case ALLOCATED: MPI_Free_mem(side->memory); break;
    default: free(side->memory);
    }
}

void side_close(struct side *side) {
    if (side->memory) give(side);
    for (int b = 0; b < side->blocks; b++) { /* blocks in a row share a layout */
        if (b + 1 == side->blocks || side->block[b].layout != side->block[b + 1].layout)
            layout_free(side->block[b].layout);
    }
    if (side->bottom != MPI_DATATYPE_NULL) MPI_Type_free(&side->bottom);
    free(side->expected);
    free(side->block);
    free(side->counts);
    free(side->displs);
    free(side->places);
    free(side->types);
    *side = (struct side){.bottom = MPI_DATATYPE_NULL};
}
