/* SPDX-License-Identifier: BSD-3-Clause */
/* remaps [limited] - realloc of long blocks where the system does not move their pages. Linux 5.7
 * to 6.16 unmaps the target first, and then refuses a range of several mappings, as a block may be:
 * here this program's syscall does so. limited: the system itself refuses more data than the limit
 * (ulimit -d), when the target is gone. */
#define _GNU_SOURCE
#include "heap_test.h"

#include <errno.h>
#include <stdarg.h>
#include <sys/mman.h>
#include <sys/syscall.h>

enum { KiB = 1 << 10, MiB = 1 << 20 };
static bool limited;
static int refused;

static bool is_one_mapping(uintptr_t start, uintptr_t end) {
    static char line[512];
    uintptr_t from, upto;
    bool fine = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    while (maps && !fine && fgets(line, sizeof line, maps))
        fine = sscanf(line, "%lx-%lx", &from, &upto) == 2 && from <= start && end <= upto;
    if (maps) fclose(maps);
    return fine;
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
    if (!moves || limited || is_one_mapping((uintptr_t)word[0], (uintptr_t)(word[0] + word[1])))
        return next(number, word[0], word[1], word[2], word[3], word[4], word[5]);
    munmap((void *)(uintptr_t)word[4], (size_t)word[2]);
    refused++;
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
    expect(refused > 0, "the system has refused to move pages");
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

int main(int argc, char **argv) {
    (void)argv;
    limited = argc > 1;
    if (limited) at_the_limit();
    else apart();
    return failures > 0;
}
