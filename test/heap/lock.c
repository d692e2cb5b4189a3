/* SPDX-License-Identifier: BSD-3-Clause */
/* lock first|before|after - mlockall before there is a region, before memory has moved, or after.
 * What the program has is filled and locked; what is reserved is not, or this would take gigabytes
 * (MORTAR_HEAP_BYTES).
 * lock onfault - with MCL_ONFAULT, which fills nothing.
 * lock freed - mlock of a block that is freed as it is: nothing stays locked. */
#define _GNU_SOURCE
#include "heap_test.h"

#include <errno.h>
#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

enum { bytes = 8 << 20, most = 400 << 20 };
static char statics[64 << 20];

/* Each page of it is in memory. */
static bool filled(char *memory) {
    unsigned char there[bytes / 4096];
    size_t page = (size_t)sysconf(_SC_PAGESIZE), count = bytes / page - 1;
    char *start = (char *)(((uintptr_t)memory + page - 1) & ~(uintptr_t)(page - 1));
    if (mincore(start, count * page, there) != 0) return false;
    for (size_t i = 0; i < count; i++)
        if (!(there[i] & 1)) return false;
    return true;
}

/* The mapping that holds this address. */
static bool is_locked(const char *address) {
    uintptr_t from, upto, at = (uintptr_t)address;
    char line[512];
    size_t kilobytes = 0;
    bool here = false;
    FILE *file = fopen("/proc/self/smaps", "r");
    while (file && fgets(line, sizeof line, file)) {
        if (sscanf(line, "%lx-%lx ", &from, &upto) == 2) here = from <= at && at < upto;
        else if (here) sscanf(line, "Locked: %zu", &kilobytes);
    }
    if (file) fclose(file);
    return kilobytes > 0;
}

static void lock(int flags) {
    if (mlockall(flags) == 0) return;
    if (errno == EPERM || errno == ENOMEM) exit(77); /* this user may not */
    expect(false, "mlockall");
}

/* What nobody has touched is locked when somebody does. */
static int lock_on_fault(void) {
    char *touched = malloc(bytes), *untouched = malloc(bytes);
    memset(touched, 1, bytes);
    lock(MCL_CURRENT | MCL_ONFAULT);
    expect(filled(touched) && !filled(untouched) && !filled(statics), "memory is filled too early");
    expect(rollup("Locked:") >= bytes, "memory is not locked");
    memset(untouched, 1, bytes);
    expect(rollup("Locked:") >= 2 * bytes, "memory is not locked on a fault");
    return failures > 0;
}

/* Of more than 32 MiB goes back when it is freed, shorter ones a while later, or when asked to. */
static int lock_freed(void) {
    const size_t lengths[] = {bytes, 40 << 20};
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        char *block = malloc(lengths[i]);
        if (!block || mlock(block, lengths[i]) != 0) return 77; /* this user may not */
        memset(block, 1, lengths[i]);
        expect(rollup("Locked:") >= lengths[i], "a block is not locked");
        free(block);
        if (lengths[i] == bytes) malloc_trim(0);
        expect(rollup("Locked:") < bytes / 2, "a freed block is locked");
        block = calloc(1, lengths[i]);
        for (size_t at = 0; block && at < lengths[i]; at++) failures += block[at] != 0;
        free(block);
    }
    return failures > 0;
}

int main(int argc, char **argv) {
    const char *when = argc > 1 ? argv[1] : "after";
    if (strcmp(when, "freed") == 0) return lock_freed();
    if (strcmp(when, "onfault") == 0) return lock_on_fault();
    bool first = strcmp(when, "first") == 0;
    if (first) lock(MCL_CURRENT | MCL_FUTURE);
    char *block = malloc(bytes), *untouched = malloc(bytes);
    if (!block || !untouched) return 1;
    memset(block, 1, bytes);
    if (strcmp(when, "after") != 0) {
        if (!first) lock(MCL_CURRENT | MCL_FUTURE);
        expect(move_it(block, bytes) != 0, "locked memory moves");
        expect(move_it(statics, bytes) != 0, "locked static data move");
        char *fresh = malloc(bytes);
        expect(fresh && filled(fresh), "new memory is not filled");
        free(fresh);
    } else {
        expect(move_it(block, bytes) == 0 && move_it(statics, bytes) == 0, "it moves");
        lock(MCL_CURRENT);
    }
    expect(filled(block) && filled(untouched) && filled(statics), "memory is not filled");
    expect(rollup("Rss:") < most, "what is only reserved has been filled");
    expect(figure_of("/proc/self/status", "VmPTE:") < 16 << 20, "with the page of zeros");
    for (size_t i = 0; i < bytes; i++) failures += block[i] != 1 || statics[i] != 0;
    expect(is_locked(block + bytes / 2) && is_locked(untouched + bytes / 2), "memory is not locked");
    expect(is_locked(statics + bytes / 2) && is_locked(statics + 2 * bytes), "nor are static data");
    munlockall();
    return failures > 0;
}
