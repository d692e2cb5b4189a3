/* SPDX-License-Identifier: BSD-3-Clause */
/* gives data|space|later|before|lowered - under a limit, set here, at first or when there is a
 * heap, or before, what has been freed can be allocated again, in blocks of other lengths, and
 * leaves no mappings behind. lowered: what had moved and was freed while the system refused all
 * memory, is private when it comes again. */
#define _GNU_SOURCE
#include "heap_test.h"

#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const size_t mib = 1 << 20;

static int mappings(void) {
    FILE *file = fopen("/proc/self/maps", "r");
    int lines = 0;
    for (int c; file && (c = getc(file)) != EOF;) lines += c == '\n';
    if (file) fclose(file);
    return lines;
}

/* Pages on either side of it can be read, as in other memory (region.c). */
static bool has_fences(const char *block, size_t bytes) {
    uintptr_t start = (uintptr_t)block;
    return *(const volatile char *)(start - 1) + *(const volatile char *)(start + bytes) < 1000;
}

static void growing(size_t most, bool fenced, bool aligned) {
    for (size_t bytes = 20 * mib; bytes <= most; bytes += 10 * mib) {
        char *part = malloc(mib / 2), *block = malloc(bytes);
        expect(block != NULL, "the next block, which is longer");
        if (!block) return;
        /* Or what moves would have no huge pages. */
        expect(!aligned || (uintptr_t)block % (2 * mib) < 4096, "it begins with a huge page");
        for (size_t at = 0; at < bytes; at += mib) block[at] = 1;
        expect(!fenced || has_fences(block, bytes), "a fence");
        free(block);
        free(part);
    }
}

/* Many short ones, then a long one at once. */
static void joined(size_t most) {
    enum { count = 300 };
    char *block[count];
    void *(*const makes[])(size_t) = {malloc, valloc};
    for (int which = 0; which < 2; which++) {
        int short_ones = 0;
        for (int i = 0; i < count; i++) {
            block[i] = malloc(mib);
            if (block[i]) block[i][0] = 1, short_ones++;
        }
        expect(short_ones == count, "short blocks");
        for (int i = 0; i < count; i++) free(block[i]);
        char *all = makes[which](most);
        expect(all != NULL, "a long block instead of the short ones");
        free(all);
        all = calloc(1, most);
        expect(all != NULL && all[most - 1] == 0, "calloc");
        all = realloc(all, most / 2);
        free(all);
    }
}

static void again_and_again(void) {
    int before = mappings();
    for (int i = 0; i < 2000; i++) {
        char *block = malloc((size_t)(40 + i % 3 * 30) * mib), *part = malloc(mib / 2);
        expect(block && part, "a block");
        if (block) block[0] = 1;
        free(block);
        free(part);
    }
    expect(mappings() < before + 100, "mappings stay behind");
}

/* Do pages of this block that count as moved have another content for the peers? */
static bool is_stale(const char *block, size_t bytes) {
    struct heap_region region;
    size_t offset;
    if (heap_state(&region) != 0 || !offset_of(block, &offset)) return false;
    for (size_t at = region.page; at + region.page < bytes; at += region.page) {
        size_t page = (offset + at) / region.page;
        char peers;
        bool moved = region.moved[page / 64] >> page % 64 & 1;
        if (moved && pread(region.fd, &peers, 1, (off_t)(offset + at)) == 1 && peers != block[at])
            return true;
    }
    return false;
}

static void beside_freed(void) {
    struct heap_region region;
    char *block[3];
    for (int i = 0; i < 3; i++) block[i] = memset(malloc(40 * mib), 1, 40 * mib);
    free(block[1]);
    expect(heap_state(&region) == 0 && is_fenced(&region), "fences beside what is freed");
    free(block[0]);
    free(block[2]);
}

static void lowered(void) {
    const size_t bytes = 8 * mib;
    struct rlimit usual = {600 * mib, RLIM_INFINITY}, low = {mib, RLIM_INFINITY};
    int again = 0;
    setrlimit(RLIMIT_DATA, &usual);
    for (int i = 0; i < 20; i++) {
        char *block = memset(malloc(bytes), 1, bytes), *former = block;
        expect(move_it(block, bytes) == 0, "it moves");
        setrlimit(RLIMIT_DATA, &low);
        free(block);
        malloc_trim(0);
        setrlimit(RLIMIT_DATA, &usual);
        block = memset(malloc(bytes), 2, bytes);
        again += block < former + bytes && former < block + bytes;
        expect(!is_stale(block, bytes), "peers would read what was there before");
        free(block);
    }
    expect(again > 0, "some of the same addresses once more");
}

int main(int argc, char **argv) {
    const char *which = argc > 1 ? argv[1] : "data";
    if (strcmp(which, "lowered") == 0) {
        lowered();
        return failures > 0;
    }
    struct rlimit limit = {600 * mib, RLIM_INFINITY};
    if (strcmp(which, "data") == 0) setrlimit(RLIMIT_DATA, &limit);
    if (strcmp(which, "later") == 0) free(malloc(mib));
    if (strcmp(which, "space") == 0 || strcmp(which, "later") == 0) setrlimit(RLIMIT_AS, &limit);
    growing(400 * mib, true, strcmp(which, "data") == 0);
    joined(400 * mib);
    again_and_again();
    if (strcmp(which, "data") == 0) beside_freed();
    pid_t child = fork();
    int status = -1;
    if (child == 0) {
        growing(200 * mib, false, false); /* new blocks of a child are the C library's */
        _exit(failures > 0);
    }
    expect(waitpid(child, &status, 0) == child && status == 0, "a child");
    return failures > 0;
}
