/* SPDX-License-Identifier: BSD-3-Clause */
/* born - memory that is shared from the beginning (heap/born.c): all of it lies in the file,
 * aligned as was asked for and in cache lines of its own, while other blocks of the program, which
 * do not, are given back in the same way; and what is left keeps its bytes when the rest goes back
 * to the system. Also a child that ends as a thread with such blocks in its cache. */
#define _GNU_SOURCE
#include "heap_test.h"

#include <malloc.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { blocks = 400, rounds = 30, line = 64 };
static void *(*born)(size_t alignment, size_t bytes);
static void (*gone)(void *memory);

/* All pages of it are the file's. */
static bool is_shared(const char *block, size_t bytes) {
    struct heap_region region;
    size_t offset = 0;
    if (heap_state(&region) != 0 || !offset_of(block, &offset)) return false;
    size_t first = offset / region.page, last = (offset + bytes - 1) / region.page;
    for (size_t page = first; page <= last; page++)
        if (!(region.moved[page / 64] >> page % 64 & 1)) return false;
    return region.alias[offset] == block[0] && region.alias[offset + bytes - 1] == block[bytes - 1];
}

static size_t size_of(size_t i) { return i % 7 == 0 ? 300000 + 5000 * i : 1 + i * i * 31 % 20000; }

static char *make(size_t i, size_t round) {
    size_t alignment = (size_t)1 << (i + round) % 13, bytes = size_of(i);
    char *block = born(alignment, bytes);
    expect(block && (uintptr_t)block % alignment == 0, "the alignment");
    expect((uintptr_t)block % line == 0, "a line of its own");
    memset(block, (int)i + 1, bytes);
    expect(is_shared(block, bytes), "it is shared");
    return block;
}

static bool is_whole(const char *block, size_t i) {
    for (size_t at = 0; at < size_of(i); at++)
        if (block[at] != (char)(i + 1)) return false;
    return true;
}

/* Two of three go back in each round, and with them private blocks of the same lengths. */
static void come_and_go(void) {
    static char *block[blocks];
    for (size_t round = 0; round < rounds; round++) {
        for (size_t i = 0; i < blocks; i++)
            if (!block[i]) block[i] = make(i, round);
        for (size_t i = 0; i < blocks; i++) {
            if ((i + round) % 3 == 0) continue;
            gone(block[i]);
            block[i] = NULL;
        }
        for (size_t i = 0; i < blocks; i += 7) gone(malloc(size_of(i)));
        malloc_trim(0);
        for (size_t i = 0; i < blocks; i++)
            expect(!block[i] || is_whole(block[i], i), "what stays keeps its bytes");
    }
    for (size_t i = 0; i < blocks; i++) gone(block[i]);
}

static void far_aligned(void) {
    for (size_t alignment = 1 << 16; alignment <= 16 << 20; alignment *= 2) {
        char *block = born(alignment, 100000);
        expect(block && (uintptr_t)block % alignment == 0, "a large alignment");
        gone(block);
    }
}

static void *ends_in_child(void *unused) {
    for (size_t i = 0; i < 100; i++) gone(born(line, 1000));
    pid_t pid = fork();
    if (pid == 0) {
        alarm(20); /* a child that waits for a lock ends by that */
        pthread_exit(NULL);
    }
    int status = -1;
    expect(waitpid(pid, &status, 0) == pid && status == 0, "a thread that ends in a child");
    return unused;
}

int main(void) {
    struct heap_region region;
    pthread_t thread;
    expect(heap_state(&region) == 0, "there is a heap");
    void *symbol = dlsym(RTLD_DEFAULT, "mortar_heap_alloc");
    memcpy(&born, &symbol, sizeof born);
    symbol = dlsym(RTLD_DEFAULT, "mortar_heap_free");
    memcpy(&gone, &symbol, sizeof gone);
    if (!born || !gone) return 1;
    come_and_go();
    far_aligned();
    for (int i = 0; i < 10; i++) {
        pthread_create(&thread, NULL, ends_in_child, NULL);
        pthread_join(thread, NULL);
    }
    return failures > 0;
}
