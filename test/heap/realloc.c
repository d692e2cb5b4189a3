/* SPDX-License-Identifier: BSD-3-Clause */
/* realloc - blocks grow and shrink with their contents, by all ways that there are: in place, by
 * moving page tables, by copying; private ones and ones that have moved. And what glibc promises of
 * its malloc. */
#define _GNU_SOURCE
#include "heap_test.h"

#include <malloc.h>
#include <pthread.h>
#include <unistd.h>

enum { MiB = 1 << 20 };

static bool holds(const unsigned *block, size_t count) {
    for (size_t i = 0; i < count; i += 97)
        if (block[i] != (unsigned)i) return false;
    return count == 0 || block[count - 1] == (unsigned)(count - 1);
}

static void grow(size_t step, size_t end, bool moves, bool blocked) {
    unsigned *block = NULL;
    void *beside[64] = {0};
    size_t had = 0;
    for (size_t bytes = step, k = 0; bytes <= end; bytes += step, k++) {
        block = realloc(block, bytes);
        expect(block && holds(block, had), "a block that grows keeps its contents");
        for (size_t i = had; i < bytes / 4; i++) block[i] = (unsigned)i;
        had = bytes / 4;
        if (moves && k % 5 == 2 && in_region(block)) expect(move_it(block, bytes) == 0, "it moves");
        /* What lies behind it keeps it from growing there. */
        if (blocked) free(beside[k % 64]), beside[k % 64] = malloc(3 * step);
    }
    block = realloc(block, end / 3 + 5);
    expect(block && holds(block, end / 12), "a block that shrinks, too");
    free(block);
    for (int i = 0; i < 64; i++) free(beside[i]);
}

/* Nobody gets the old addresses while a block is carried away. */
static void *hammer(void *stop) {
    while (!*(volatile bool *)stop) {
        char *block = malloc(700 * 1000);
        memset(block, 1, 700 * 1000);
        free(block);
    }
    return NULL;
}

/* In twos, because every other block of 8 bytes happens to be aligned to 16. */
static void aligned(size_t bytes) {
    enum { ways = 9 };
    void *blocks[2 * ways];
    for (void **next = blocks; next < blocks + 2 * ways; next += ways) {
        void *made[ways] = {
            malloc(bytes),        calloc(1, bytes),   calloc(bytes, 1),
            calloc(2, bytes),     calloc(bytes, 3),   realloc(malloc(100), bytes + 1),
            realloc(NULL, bytes), memalign(8, bytes), aligned_alloc(8, bytes)};
        memcpy(next, made, sizeof made);
    }
    for (int i = 0; i < 2 * ways; i++) {
        expect(blocks[i] && (uintptr_t)blocks[i] % 16 == 0, "blocks are aligned to 16 bytes");
        free(blocks[i]);
    }
}

static int mappings(void) {
    FILE *maps = fopen("/proc/self/maps", "r");
    int lines = 0, c;
    while (maps && (c = getc(maps)) != EOF) lines += c == '\n';
    if (maps) fclose(maps);
    return lines;
}

/* Blocks that grow and go, again and again. The system allows a process 65,530 mappings. */
static void many(void) {
    enum { blocks = 200, turns = 40000 };
    static char *block[blocks];
    static size_t bytes[blocks];
    for (int turn = 0; turn < turns; turn++) {
        int i = rand() % blocks;
        bool grows = bytes[i] < 4 * MiB && rand() % 10 > 0;
        bytes[i] = !grows ? 0 : bytes[i] ? bytes[i] * 3 / 2 : 100 * 1000;
        block[i] = realloc(block[i], bytes[i]);
        if (grows) block[i][0] = block[i][bytes[i] - 1] = 1;
    }
    expect(mappings() < 5 * blocks, "each block has a few mappings, what is free has not");
    for (int i = 0; i < blocks; i++) free(block[i]);
}

int main(void) {
    many();
    for (int way = 0; way < 4; way++) {
        grow(MiB, 48 * MiB, way & 1, way & 2);
        grow(200 * 1000, 4 * MiB, way & 1, way & 2);
        grow(1000, 300 * 1000, way & 1, way & 2);
    }
    pthread_t thread;
    bool stop = false;
    pthread_create(&thread, NULL, hammer, &stop);
    for (int i = 0; i < 3; i++) grow(MiB, 64 * MiB, false, true);
    stop = true;
    pthread_join(thread, NULL);
    for (size_t bytes = 0; bytes < 40; bytes++) aligned(bytes);
    static char *block[4000];
    for (int i = 0; i < 4000; i++) memset(block[i] = malloc(30000), 1, 30000);
    struct mallinfo2 info = mallinfo2();
    size_t full = rollup("Rss:"), held = info.uordblks;
    expect(info.arena == held + info.fordblks, "what is held, and what is free, is all there is");
    expect(held >= (size_t)4000 * 30000 && held < (size_t)400 * MiB,
           "mallinfo2 tells what is held");
    for (int i = 0; i < 4000; i++) free(block[i]);
    expect(mallinfo2().uordblks < held / 2, "and what is not any more");
    expect(malloc_trim(0) == 1 && rollup("Rss:") < full - (size_t)60 * MiB,
           "malloc_trim gives back");
    return failures > 0;
}
