/* SPDX-License-Identifier: BSD-3-Clause */
/* remaps [limited|strict] - realloc of long blocks where the system does not move their pages.
 * Linux 5.7 to 6.16 unmaps the target first, and then refuses a range of several mappings, as a
 * block may be: here this program's syscall does so. limited: the system itself refuses more data
 * than the limit (ulimit -d), when the target is gone. strict: it promises no more memory
 * (vm.overcommit_memory=2), and says so, before Linux 6.12, when the place is gone where it was
 * wanted: here strict.c does so. */
#define _GNU_SOURCE
#include "heap_test.h"

#include <errno.h>
#include <malloc.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>

enum { KiB = 1 << 10, MiB = 1 << 20 };
static bool limited;
static volatile int unmoved; /* realloc is declared not to come back to this file */

/* Where the mapping ends that holds this address; 0: none does. */
static uintptr_t mapping_end(uintptr_t address) {
    static char line[512];
    uintptr_t from, upto, end = 0;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && end == 0 && fgets(line, sizeof line, maps))
        if (sscanf(line, "%lx-%lx", &from, &upto) == 2 && from <= address && address < upto)
            end = upto;
    if (maps) fclose(maps);
    return end;
}

/* The heap's, too: a program's own symbols come first. */
long syscall(long number, ...) {
    static long (*next)(long number, ...);
    void *symbol = next ? NULL : dlsym(RTLD_NEXT, "syscall");
    if (symbol) memcpy(&next, &symbol, sizeof next);
    va_list list;
    va_start(list, number);
    long word[6];
    for (int i = 0; i < 6; i++) word[i] = va_arg(list, long);
    va_end(list);
    bool moves = number == SYS_mremap && word[3] & MREMAP_FIXED;
    if (!moves || limited || mapping_end((uintptr_t)word[0]) >= (uintptr_t)(word[0] + word[1]))
        return next(number, word[0], word[1], word[2], word[3], word[4], word[5]);
    munmap((void *)(uintptr_t)word[4], (size_t)word[2]);
    unmoved++;
    errno = EFAULT;
    return -1;
}

static void fill(unsigned *block, size_t bytes) {
    for (size_t i = 0; i < bytes / sizeof *block; i++) block[i] = (unsigned)i;
}

static bool holds(const unsigned *block, size_t bytes) {
    for (size_t i = 0; i < bytes / sizeof *block; i++)
        if (block[i] != (unsigned)i) return false;
    return true;
}

/* Blocks of which a part is a mapping of its own, with others behind them, so that they cannot grow
 * where they are. */
static void apart(void) {
    for (size_t bytes = 512 * KiB; bytes <= 12 * MiB; bytes += 700 * KiB) {
        size_t had = bytes / (64 * KiB) * (64 * KiB);
        char *made = malloc(had), *beside = malloc(256 * KiB);
        unsigned *block = realloc(made, had + 256 * KiB); /* begins with a page from here on */
        free(beside);
        beside = malloc(2 * had);
        had += 256 * KiB;
        fill(block, had);
        char *middle = (char *)(((uintptr_t)block + had / 2) & ~(uintptr_t)4095);
        madvise(middle, 64 * KiB, MADV_RANDOM);
        block = realloc(block, 2 * had);
        expect(block && holds(block, had), "a block of several mappings grows");
        fill(block, 2 * had);
        expect(holds(block, 2 * had), "and can be written to");
        free(beside);
        free(block);
    }
    expect(unmoved > 0, "the system has refused to move pages");
}

static void at_the_limit(void) {
    static void *held[4096];
    size_t bytes = 4 * MiB, count = 0;
    unsigned *block = realloc(realloc(malloc(bytes / 2), bytes), 6 * MiB);
    fill(block, 6 * MiB);
    char *spare = malloc(12 * MiB);
    memset(spare, 1, 12 * MiB);
    while (count < 4096 && (held[count] = malloc(MiB))) memset(held[count++], 1, MiB);
    expect(count > 10 && count < 4096, "there is a limit (ulimit -d)");
    free(spare);
    unsigned *longer = realloc(block, 11 * MiB);
    expect(holds(longer ? longer : block, 6 * MiB), "at the limit a block grows, or stays");
}

/* No part of the region's addresses is free for others. */
static bool is_mapped(const struct heap_region *region) {
    uintptr_t at = (uintptr_t)region->base, end = at + region->bytes;
    while (at != 0 && at < end) at = mapping_end(at);
    return at != 0;
}

static void no_promise(void) {
    struct heap_region region;
    struct rlimit limit = {(rlim_t)16 << 30, RLIM_INFINITY}; /* so that blocks go back at once */
    size_t bytes = 3 * MiB;
    setrlimit(RLIMIT_DATA, &limit);
    char *moved = memset(malloc(bytes), 1, bytes);
    expect(heap_state(&region) == 0 && move_it(moved, bytes) == 0, "it moves");
    int *refused = dlsym(RTLD_DEFAULT, "strict_refused");
    expect(refused != NULL, "strict.c is preloaded");
    if (!refused) return;
    *refused = 0;
    free(moved);
    malloc_trim(0);
    void *none = malloc(64 * MiB);
    expect(*refused > 1, "the system has refused memory");
    *refused = -1;
    expect(is_mapped(&region), "there are holes in the region");
    expect(is_fenced(&region), "there are closed pages beside blocks");
    free(none);
    for (int i = 0; i < 8; i++) {
        unsigned *block = malloc(bytes << i % 3);
        fill(block, bytes << i % 3);
        expect(holds(block, bytes << i % 3), "memory is good again");
        free(block);
    }
}

int main(int argc, char **argv) {
    limited = argc > 1 && strcmp(argv[1], "limited") == 0;
    if (limited) at_the_limit();
    else if (argc > 1) no_promise();
    else apart();
    return failures > 0;
}
