/* SPDX-License-Identifier: BSD-3-Clause */
/* cell - the buffers of one block size. */
#define _GNU_SOURCE
#include "bench/common/bench.h"
#include "heap/heap.h"

#include <stdlib.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

const char *const buffers_names[BUFFERS] = {"heap", "stack", "mapped", "outside"};

enum { page = 4096, guard_value = 0x5a };

/* Bytes on both sides of a buffer, where nobody may write. A page, so that what is aligned stays
 * so; but malloc's blocks are in peers' reach or not by their length, so a short one has to be
 * about as short with its guards as a program's. */
static size_t guard_of(const struct cell *cell, size_t bytes) {
    enum { line = 64 };
    return cell->buffers == BUFFERS_HEAP && bytes < middle_end ? line : page;
}

/* Of the stack's arena: the next part. NULL: too little is left. */
static void *get_part(struct cell *cell, size_t bytes) {
    bytes = (bytes + page - 1) & ~(size_t)(page - 1);
    if (bytes > cell->arena_bytes) return NULL;
    char *part = cell->arena;
    cell->arena += bytes, cell->arena_bytes -= bytes;
    return part;
}

static char *get(struct cell *cell, size_t bytes) {
    void *memory = NULL;
    size_t guard = guard_of(cell, bytes);
    bytes += 2 * guard;
    if (cell->buffers == BUFFERS_HEAP) {
        if (posix_memalign(&memory, 64, bytes) != 0) return NULL;
    } else if (cell->buffers == BUFFERS_STACK) {
        memory = get_part(cell, bytes);
    } else {
        /* What is for a stack may go unseen, when its thread ends, so it never comes into reach. */
        int kind = cell->buffers == BUFFERS_OUTSIDE ? MAP_STACK : 0;
        memory =
            mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | kind, -1, 0);
        if (memory == MAP_FAILED) return NULL;
    }
    if (!memory) return NULL;
    memset(memory, guard_value, guard);
    memset((char *)memory + bytes - guard, guard_value, guard);
    return (char *)memory + guard;
}

static void give_back(const struct cell *cell, char *memory, size_t bytes) {
    if (!memory) return;
    size_t guard = guard_of(cell, bytes);
    if (cell->buffers == BUFFERS_HEAP) free(memory - guard);
    else if (cell->buffers != BUFFERS_STACK) munmap(memory - guard, bytes + 2 * guard);
}

static bool guarded(const struct cell *cell, const char *memory, size_t bytes) {
    size_t guard = guard_of(cell, bytes);
    for (size_t k = 0; k < guard; k++)
        if (memory[k - guard] != guard_value || memory[bytes + k] != guard_value) return false;
    return true;
}

bool cell_overrun(const struct cell *cell) {
    return !guarded(cell, cell->send, cell->out.bytes) ||
           !guarded(cell, cell->recv, cell->in.bytes);
}

/* Leaves out what would not fit into memory: a rank that the kernel kills explains less. */
static bool fits(const struct world *world, const struct cell *cell, double times, char *why,
                 size_t size) {
    double mine = times * (double)(cell->out.bytes + cell->in.bytes), all,
           there = (double)world_memory();
    library.allreduce(&mine, &all, 1, MPI_DOUBLE, MPI_SUM, world->all);
    all /= world->nodes;
    snprintf(why, size, "the buffers need %.1f GiB, and %.1f are free", all / (1 << 30),
             there / (1 << 30));
    return meet_first(all < 0.9 * there);
}

static bool get_buffers(struct cell *cell) {
    bool fine = !kind_grid(cell->kind) || grid_open(cell);
    cell->send = get(cell, cell->out.bytes);
    cell->recv = get(cell, cell->in.bytes);
    return meet_max(!fine || !cell->send || !cell->recv) == 0;
}

bool cell_open(const struct world *world, struct cell *cell, double times, char *why, size_t size) {
    cell->p = world->p, cell->me = world->me, cell->topology = world->topology;
    cell->send = cell->recv = NULL;
    bool laid_out = meet_max(!blocks_open(cell)) == 0;
    if (laid_out && fits(world, cell, times, why, size)) {
        if (get_buffers(cell)) {
            if (kind_grid(cell->kind)) grid_types(cell);
            return true;
        }
        snprintf(why, size, "no memory for its buffers%s",
                 cell->buffers == BUFFERS_STACK ? " on the stack (ulimit -s)" : "");
    } else if (!laid_out) {
        snprintf(why, size, "no memory for its counts, or a displacement is no int");
    }
    cell_close(cell);
    return false;
}

void cell_close(struct cell *cell) {
    give_back(cell, cell->send, cell->out.bytes);
    give_back(cell, cell->recv, cell->in.bytes);
    cell->send = cell->recv = NULL;
    if (kind_grid(cell->kind)) grid_close(cell);
    blocks_close(cell);
}
