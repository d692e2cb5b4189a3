/* SPDX-License-Identifier: BSD-3-Clause */
/* dumps - what a debugger's core file (gcore) of this process has: of all mappings that are not
 * excluded each byte, whether it can be read or not. Blocks are in it, what is only reserved is
 * not. */
#include "heap_test.h"

enum { bytes = 64 << 20, most = 512 << 20 };

/* Bytes of such a file; memory NULL, or its mapping only. */
static size_t dumped(const void *memory) {
    FILE *file = fopen("/proc/self/smaps", "r");
    char line[512];
    size_t sum = 0;
    unsigned long start = 0, end = 0;
    while (file && fgets(line, sizeof line, file)) {
        unsigned long from, to;
        if (sscanf(line, "%lx-%lx ", &from, &to) == 2) start = from, end = to;
        if (strncmp(line, "VmFlags:", 8) != 0 || strstr(line, " dd")) continue;
        uintptr_t at = (uintptr_t)memory;
        if (!memory || (at >= start && at < end)) sum += end - start;
    }
    if (file) fclose(file);
    return sum;
}

int main(void) {
    char *block = malloc(bytes), *other = malloc(bytes), *third = malloc(bytes);
    if (!block || !other || !third) return 1;
    expect(dumped(NULL) < most, "what is reserved");
    free(other);
    expect(dumped(NULL) < most, "and what is free again");
    other = memset(malloc(bytes), 1, bytes);
    expect(dumped(other) >= bytes && dumped(block) >= bytes, "blocks are left out");
    expect(move_it(block, bytes) == 0 && dumped(block) > 0, "and what has moved");
    expect(dumped(NULL) < most, "what is reserved for it");
    free(block);
    free(other);
    free(third);
    return failures > 0;
}
