/* SPDX-License-Identifier: BSD-3-Clause */
/* huge - memory that moves is in huge pages, where the system can make them. A small heap, most of
 * which was taken in advance, declines those that the system makes unasked. */
#define _GNU_SOURCE
#include "heap_test.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* The line of that name about the mapping that holds the address, without the name. */
static const char *line_of(const void *address, const char *name) {
    static char line[512];
    FILE *file = fopen("/proc/self/smaps", "r");
    bool here = false, found = false;
    while (!found && file && fgets(line, sizeof line, file)) {
        unsigned long low, high;
        if (sscanf(line, "%lx-%lx ", &low, &high) == 2)
            here = low <= (uintptr_t)address && (uintptr_t)address < high;
        found = here && strncmp(line, name, strlen(name)) == 0;
    }
    if (file) fclose(file);
    return found ? line + strlen(name) : "";
}

/* In KiB. */
static size_t figure(const void *address, const char *name) {
    return strtoul(line_of(address, name), NULL, 10);
}

static bool declines(const void *block) { return strstr(line_of(block, "VmFlags:"), " nh"); }

static void small_and_large(void) {
    char *small = malloc(long_block), *large = malloc(32 << 20);
    bool able = access("/sys/kernel/mm/transparent_hugepage/enabled", R_OK) == 0;
    expect(declines(small) == able, "a small heap has no huge pages unasked");
    expect(!declines(large + (16 << 20)), "a long block has them");
    free(small);
    free(large);
}

/* Fragmented memory, or a kernel before 6.1, has none. */
static bool can_make_one(void) {
    enum { collapse = 25 };
    struct heap_region region;
    heap_state(&region);
    volatile char *page = region.alias + region.bytes - (2 << 20);
    *page = 0;
    bool fine = madvise((void *)page, 2 << 20, collapse) == 0;
    madvise((void *)page, 2 << 20, MADV_REMOVE);
    return fine;
}

int main(void) {
    small_and_large();
    char *block = malloc(64 << 20), *untouched = malloc(64 << 20);
    memset(block, 1, 64 << 20);
    untouched[0] = 1;
    expect(move_it(block, 64 << 20) == 0, "the block moves");
    for (size_t i = 0; i < 64 << 20; i += 511) expect(block[i] == 1, "the contents");
    size_t huge = figure(block, "ShmemPmdMapped:"), there = figure(block, "Rss:");
    printf("%zu KiB in huge pages, %zu KiB in all\n", huge, there);
    size_t before = file_bytes();
    expect(move_it(untouched, 64 << 20) == 0 && file_bytes() < before + (4 << 20),
           "untouched memory takes none");
    if (can_make_one()) expect(huge >= 2 << 10, "some of it is in huge pages");
    return failures > 0;
}
