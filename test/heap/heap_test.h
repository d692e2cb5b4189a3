/* SPDX-License-Identifier: BSD-3-Clause */
/* heap_test.h - what the heap's test programs share. They are not linked with the heap: it is
 * preloaded, or it is not. */
#ifndef HEAP_TEST_H
#define HEAP_TEST_H

#include "heap/heap.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static int failures;

static inline int heap_state(struct heap_region *region) {
    int (*ask)(struct heap_region *) = NULL;
    void *symbol = dlsym(RTLD_DEFAULT, "mortar_heap_region");
    memcpy(&ask, &symbol, sizeof ask); /* C has no cast from object to function pointer */
    return ask ? ask(region) : -1;
}

static inline const char *heap_why(void) {
    const char *(*ask)(void) = NULL;
    void *symbol = dlsym(RTLD_DEFAULT, "mortar_heap_why");
    memcpy(&ask, &symbol, sizeof ask);
    return ask ? ask() : "libmortar-heap.so is not loaded";
}

static inline bool in_region(const void *address) {
    struct heap_region region;
    if (heap_state(&region) != 0) return false;
    return (uintptr_t)address - (uintptr_t)region.base < region.bytes;
}

/* HEAP_BEGINS: as if MPI_Init had ended before main. */
__attribute__((constructor)) static void heap_begins(void) {
    void (*begin)(void) = NULL;
    void *symbol = dlsym(RTLD_DEFAULT, "mortar_heap_begin");
    memcpy(&begin, &symbol, sizeof begin);
    if (begin && getenv("HEAP_BEGINS")) begin();
}

/* Is a new block of this length to be in the region? */
static inline bool is_ours(size_t bytes) {
    if (!getenv("HEAP_BEGINS")) return bytes >= long_block;
    return bytes < middle_block || bytes >= middle_end;
}

/* The file's offset of memory that has a place in it. */
static inline bool offset_of(const void *address, size_t *offset) {
    struct heap_region region;
    if (heap_state(&region) != 0) return false;
    *offset = (size_t)((const char *)address - region.base);
    if (*offset < region.bytes) return true;
    for (int i = 0; i < *region.range_count; i++) {
        size_t at = (size_t)((const char *)address - region.ranges[i].start);
        *offset = region.ranges[i].offset + at;
        if (at < region.ranges[i].bytes) return true;
    }
    return false;
}

/* True: all whole pages inside of this memory have moved; any: at least one has. */
static inline bool has_moved(const void *memory, size_t bytes, bool any) {
    struct heap_region region;
    size_t offset = 0;
    if (heap_state(&region) != 0 || !offset_of(memory, &offset)) return false;
    size_t first = (offset + region.page - 1) / region.page, end = (offset + bytes) / region.page;
    size_t count = 0;
    for (size_t page = first; page < end; page++) count += region.moved[page / 64] >> page % 64 & 1;
    return any ? count > 0 : end > first && count == end - first;
}

/* Moves the whole pages inside of this memory; 0 or -errno. */
static inline int move_it(void *memory, size_t bytes) {
    int (*ask)(void *, size_t) = NULL;
    void *symbol = dlsym(RTLD_DEFAULT, "mortar_heap_move");
    memcpy(&ask, &symbol, sizeof ask);
    struct heap_region region;
    if (!ask || heap_state(&region) != 0) return -1;
    uintptr_t start = ((uintptr_t)memory + region.page - 1) & ~(uintptr_t)(region.page - 1);
    uintptr_t end = ((uintptr_t)memory + bytes) & ~(uintptr_t)(region.page - 1);
    return end > start ? ask((void *)start, end - start) : 0;
}

/* A figure of a file of /proc such as "Rss:", in bytes. */
static inline size_t figure_of(const char *path, const char *name) {
    FILE *file = fopen(path, "r");
    char line[256];
    size_t kilobytes = 0;
    while (file && fgets(line, sizeof line, file))
        if (strncmp(line, name, strlen(name)) == 0)
            kilobytes = strtoul(line + strlen(name), NULL, 10);
    if (file) fclose(file);
    return kilobytes << 10;
}

static inline size_t rollup(const char *name) { return figure_of("/proc/self/smaps_rollup", name); }

/* Bytes of memory that the region's file holds. */
static inline size_t file_bytes(void) {
    struct heap_region region;
    struct stat facts;
    bool known = heap_state(&region) == 0 && fstat(region.fd, &facts) == 0;
    return known ? (size_t)facts.st_blocks * 512 : SIZE_MAX;
}

/* Beside memory of the region that can be written lies a page that can be read (region.c). */
static inline bool is_fenced(const struct heap_region *region) {
    uintptr_t from, upto, base = (uintptr_t)region->base, written = 0;
    char line[512], mode[5];
    bool closed = false, readable = true;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx %4s", &from, &upto, mode) != 3) continue;
        bool writable = mode[1] == 'w' && from - base < region->bytes;
        closed |= (writable && !readable) || (written == from && mode[0] != 'r');
        readable = mode[0] == 'r';
        written = writable ? upto : 0;
    }
    if (maps) fclose(maps);
    return !closed;
}

/* A failure is printed and counted; main returns failures > 0. */
static inline void expect(bool condition, const char *what) {
    if (condition) return;
    printf("FAIL: %s\n", what);
    fflush(stdout);
    failures++;
}

#endif
