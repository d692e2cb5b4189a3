/* SPDX-License-Identifier: BSD-3-Clause */
/* huge - MORTAR_HUGE=on gives huge pages where the system allows them in shared memory. Elsewhere
 * it changes nothing, and costs nothing: memory that is not touched is not there. */
#define _GNU_SOURCE
#include "heap_test.h"

#include <string.h>

static bool allowed(void) {
    FILE *file = fopen("/sys/kernel/mm/transparent_hugepage/shmem_enabled", "r");
    char text[128] = "[never]";
    if (file && !fgets(text, sizeof text, file)) *text = 0;
    if (file) fclose(file);
    return !strstr(text, "[never]") && !strstr(text, "[deny]");
}

/* The figure of the mapping that holds the address, in KiB. */
static size_t figure(const void *address, const char *name) {
    FILE *file = fopen("/proc/self/smaps", "r");
    char line[512];
    bool here = false;
    size_t kilobytes = 0;
    while (file && fgets(line, sizeof line, file)) {
        unsigned long low, high;
        if (sscanf(line, "%lx-%lx ", &low, &high) == 2)
            here = low <= (uintptr_t)address && (uintptr_t)address < high;
        if (here && strncmp(line, name, strlen(name)) == 0)
            kilobytes = strtoul(line + strlen(name), NULL, 10);
    }
    if (file) fclose(file);
    return kilobytes;
}

int main(void) {
    char *block = malloc(64 << 20), *untouched = malloc(64 << 20);
    memset(block, 1, 64 << 20);
    untouched[0] = 1;
    expect(in_region(block) && in_region(untouched), "the blocks are in the region");
    size_t huge = figure(block, "ShmemPmdMapped:"), there = figure(block, "Rss:");
    printf("%zu KiB in huge pages, %zu KiB in all\n", huge, there);
    if (allowed()) expect(huge >= 32 << 10, "most of it is in huge pages");
    else expect(huge == 0 && there < 80 << 10, "memory that nobody touched is there");
    return failures > 0;
}
