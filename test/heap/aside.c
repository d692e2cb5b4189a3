/* SPDX-License-Identifier: BSD-3-Clause */
/* aside - a program that is linked with an allocator's library (jemalloc) keeps that one's malloc
 * (MORTAR_HEAP=aside): blocks of its own functions can be freed by free, and the other way round;
 * its memory, which it has from mmap, moves, and what it gives back reads as zeros. */
#define _GNU_SOURCE
#include "heap_test.h"

#include <malloc.h>
#include <sys/wait.h>
#include <unistd.h>

void *mallocx(size_t bytes, int flags);
void dallocx(void *memory, int flags);
size_t nallocx(size_t bytes, int flags);
int mallctl(const char *name, void *old, size_t *old_bytes, void *new, size_t new_bytes);

enum { MiB = 1 << 20 };

static bool is_all(const char *memory, size_t bytes, int value) {
    for (size_t i = 0; i < bytes; i++)
        if (memory[i] != value) return false;
    return true;
}

/* jemalloc says how long a block is; glibc's are 8 bytes short of a multiple of 16. */
static bool is_jemallocs(void *block, size_t bytes) {
    return !in_region(block) && malloc_usable_size(block) == nallocx(bytes, 0);
}

static void mixed(void) {
    for (size_t bytes = 1; bytes <= 16 * MiB; bytes = 3 * bytes + 1) {
        char *block = malloc(bytes), *other = mallocx(bytes, 0), *zeros = calloc(1, bytes);
        expect(is_jemallocs(block, bytes) && is_jemallocs(zeros, bytes), "blocks are jemalloc's");
        expect(is_all(zeros, bytes, 0), "zeros");
        memset(block, 5, bytes);
        block = realloc(block, 2 * bytes);
        expect(is_jemallocs(block, 2 * bytes) && is_all(block, bytes, 5), "longer ones, too");
        char *aligned = aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
        expect((uintptr_t)aligned % 4096 == 0 && !in_region(aligned), "and aligned ones");
        char *copy = strdup("text");
        free(other), dallocx(block, 0), dallocx(copy, 0), free(aligned), free(zeros);
    }
}

static void in_child(char *block) {
    pid_t child = fork();
    if (child == 0) {
        bool fine = is_all(block, 8 * MiB, 5);
        free(realloc(block, 9 * MiB));
        _exit(!(fine && is_jemallocs(malloc(MiB), MiB)));
    }
    int status = -1;
    expect(waitpid(child, &status, 0) == child && status == 0, "a child goes on");
    expect(is_all(block, 8 * MiB, 5), "its parent has its own");
}

static void moves(void) {
    for (int k = 0; k < 20; k++) {
        char *block = calloc(8, MiB);
        expect(is_all(block, 8 * MiB, 0), "new memory is zero");
        memset(block, 5, 8 * MiB);
        expect(move_it(block, 8 * MiB) == 0 && has_moved(block, 8 * MiB, false), "a block moves");
        expect(is_all(block, 8 * MiB, 5), "and is as it was");
        if (k == 0) in_child(block);
        free(block);
        if (k % 2) mallctl("arena.4096.purge", NULL, NULL, NULL, 0); /* all arenas */
    }
}

int main(void) {
    char *early = malloc(MiB);
    expect(is_jemallocs(early, MiB), "malloc is jemalloc's");
    mixed();
    moves();
    mixed();
    free(early);
    expect(heap_why() && strstr(heap_why(), "another library's"), "the heap says so");
    return failures > 0;
}
