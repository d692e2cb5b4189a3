/* SPDX-License-Identifier: BSD-3-Clause */
/* memory - freed memory goes back to the system, and reserving costs nothing. The descriptor's
 * blocks tell. */
#define _GNU_SOURCE
#include "heap_test.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

static size_t resident(void) {
    struct heap_region region;
    struct stat facts = {0};
    if (heap_state(&region) != 0 || fstat(region.fd, &facts) != 0)
        expect(false, "the heap is shared");
    return (size_t)facts.st_blocks * 512;
}

/* Freed pages go back in the course of a second of later allocation. */
static void go_on(void) {
    for (int i = 0; i < 30000; i++) {
        void *volatile block = malloc((size_t)(2 * i));
        free(block);
        if (i % 500 == 0) usleep(25000);
    }
}

enum { MiB = 1 << 20 };

int main(void) {
    size_t start = resident();
    expect(start < 16 * MiB, "a fresh heap is small");
    char *volatile sparse = malloc((size_t)4096 * MiB);
    expect(resident() - start < 4 * MiB, "reserving costs no memory");
    free(sparse);

    char *large = malloc(300 * MiB);
    memset(large, 1, 300 * MiB);
    expect(resident() >= 300 * MiB, "touched memory is counted");
    free(large);
    expect(resident() < start + 16 * MiB, "a large block goes back at once");

    static char *block[110000];
    for (size_t bytes = 1000; bytes <= 60000; bytes *= 60) {
        size_t count = (size_t)100 * MiB / bytes;
        for (size_t i = 0; i < count; i++) memset(block[i] = malloc(bytes), 1, bytes);
        size_t full = resident();
        expect(full >= start + count * bytes, "touched blocks are counted");
        for (size_t i = 0; i < count; i++) free(block[i]);
        size_t left = full;
        /* Longer on a busy machine. */
        for (int tries = 0; tries < 5 && left >= start + (full - start) / 4; tries++) {
            go_on();
            left = resident();
        }
        printf("%zu blocks of %zu bytes: %zu KiB, freed %zu KiB\n", count, bytes, full >> 10,
               left >> 10);
        expect(left < start + (full - start) / 4, "small blocks go back after a while");
    }

    /* Locked pages cannot go back, but must not keep their contents either. */
    char *locked = malloc(100 * MiB);
    memset(locked, 1, MiB);
    if (mlock(locked, MiB) == 0) {
        free(locked);
        unsigned char *zero = calloc(100, MiB);
        expect(zero && zero[0] == 0 && zero[MiB - 1] == 0,
               "calloc of memory that was locked gives zeroes");
        free(zero);
    }
    return failures > 0;
}
