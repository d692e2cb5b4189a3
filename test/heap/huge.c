/* SPDX-License-Identifier: BSD-3-Clause */
/* huge - MORTAR_HUGE=on gives huge pages whatever the system's setting for shared memory is.
 * Skipped where the kernel cannot. */
#define _GNU_SOURCE
#include "heap_test.h"

#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_COLLAPSE
#define MADV_COLLAPSE 25
#endif

static const size_t huge_page = 2 << 20;

static bool kernel_can(void) {
    int fd = memfd_create("probe", MFD_CLOEXEC);
    if (fd < 0 || ftruncate(fd, 4 << 20) != 0) return false;
    char *map = mmap(NULL, 2 * huge_page, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (map == MAP_FAILED) return false;
    map = (char *)(((uintptr_t)map + huge_page - 1) & ~(uintptr_t)(huge_page - 1));
    *map = 1;
    return madvise(map, huge_page, MADV_COLLAPSE) == 0;
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
    if (!kernel_can()) return 77;
    char *block = malloc(64 << 20);
    memset(block, 1, 64 << 20);
    expect(in_region(block), "the block is in the region");
    size_t huge = figure(block, "ShmemPmdMapped:");
    printf("%zu KiB in huge pages\n", huge);
    expect(huge >= 32 << 10, "most of it is in huge pages");
    return failures > 0;
}
