/* SPDX-License-Identifier: BSD-3-Clause */
/* fits [used] - a program that takes address space away from itself: what the heap has reserved
 * must not count, here and in a forked child, and the heap goes on, with less. used: what is in use
 * stays. */
#define _GNU_SOURCE
#include "heap_test.h"

#include <pthread.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static const size_t gib = 1 << 30;

static size_t address_space(void) {
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (file && fscanf(file, "%zu", &pages) != 1) pages = 0;
    if (file) fclose(file);
    return pages * (size_t)sysconf(_SC_PAGESIZE);
}

static void *nothing(void *state) { return state; }

static bool serves(void) {
    pthread_t thread;
    for (size_t bytes = 1; bytes <= 64 << 20; bytes *= 2) {
        char *block = malloc(bytes);
        if (!block) return false;
        memset(block, 1, bytes);
        free(block);
    }
    return pthread_create(&thread, NULL, nothing, NULL) == 0 && pthread_join(thread, NULL) == 0;
}

/* A child of vfork has its parent's memory, and limits of its own. */
static void child_of_vfork(void) {
    struct rlimit limit = {4 * gib, RLIM_INFINITY};
    size_t before = address_space();
    int status = -1;
    pid_t child = vfork();
    if (child == 0) _exit(setrlimit(RLIMIT_AS, &limit) != 0);
    expect(waitpid(child, &status, 0) == child && status == 0, "a child of vfork sets a limit");
    expect(address_space() == before, "its parent's heap is as it was");
}

/* What is in use stays, if the limit leaves less than that to the heap. */
static int in_use(void) {
    struct rlimit limit = {8 * gib, RLIM_INFINITY};
    char *block = malloc(gib);
    if (!block || address_space() < 32 * gib) return 77; /* a limit is there already */
    block[0] = block[gib - 1] = 1;
    expect(setrlimit(RLIMIT_AS, &limit) == 0 && address_space() < 8 * gib / 4, "8 GiB");
    block[0]++, block[gib / 2]++, block[gib - 1]++;
    expect(block[0] == 2 && block[gib / 2] == 1 && block[gib - 1] == 2, "a block is there");
    expect(in_region(block + gib - 1), "and in the heap");
    free(block);
    expect(serves(), "memory and a thread");
    return failures > 0;
}

static bool child_is_fine(bool limits) {
    struct rlimit limit = {2 * gib, RLIM_INFINITY};
    int status = -1;
    pid_t child = fork();
    if (child == 0) {
        if (limits && setrlimit(RLIMIT_AS, &limit) != 0) _exit(2);
        _exit(serves() && address_space() < 2 * gib ? 0 : 1);
    }
    return waitpid(child, &status, 0) == child && status == 0;
}

int main(int argc, char **argv) {
    (void)argv;
    enum { bytes = 4 << 20, blocks = 8 };
    if (argc > 1) return in_use();
    char *block[blocks];
    struct heap_region region;
    free(malloc(bytes));                       /* makes the region */
    if (address_space() < 32 * gib) return 77; /* a limit is there already */
    for (int i = 0; i < blocks; i++) memset(block[i] = malloc(bytes), i, bytes);
    expect(child_is_fine(true), "a child that sets a limit");
    child_of_vfork();

    struct rlimit limit = {32 * gib, RLIM_INFINITY}, old;
    expect(prlimit(0, RLIMIT_AS, &limit, NULL) == 0, "prlimit");
    expect(address_space() < 32 * gib, "32 GiB");
    struct rlimit64 same = {16 * gib, RLIM_INFINITY};
    expect(prlimit64(getpid(), RLIMIT_AS, &same, NULL) == 0, "prlimit64");
    expect(address_space() < 16 * gib / 8, "16 GiB");
    same.rlim_cur = 8 * gib;
    expect(setrlimit64(RLIMIT_AS, &same) == 0, "setrlimit64");
    expect(address_space() < 8 * gib / 8, "8 GiB");
    limit.rlim_cur = 4 * gib;
    expect(setrlimit(RLIMIT_AS, &limit) == 0, "setrlimit");
    expect(address_space() < 4 * gib / 4, "4 GiB");
    expect(getrlimit(RLIMIT_AS, &old) == 0 && old.rlim_cur == 4 * gib, "the limit is as it was");

    expect(serves(), "memory and a thread");
    expect(child_is_fine(false), "a child");
    const char *ranks = getenv("OMPI_COMM_WORLD_LOCAL_SIZE");
    size_t shares = 8 * (ranks ? strtoul(ranks, NULL, 10) : 2);
    expect(heap_state(&region) == 0 && region.bytes <= 4 * gib / shares, "the heap has less");
    struct stat facts;
    expect(fstat(region.fd, &facts) == 0 && (size_t)facts.st_size == region.bytes, "and its file");
    for (int i = 0; i < blocks; i++) {
        expect(move_it(block[i], bytes) == 0, "it moves");
        expect(has_moved(block[i], bytes, false), "it has moved");
        for (size_t at = 0; at < bytes; at++) failures += block[i][at] != i;
    }
    for (int i = 0; i < blocks; i++) free(block[i]);
    expect(serves() && child_is_fine(false), "after that");

    /* Collectives know the region now. */
    limit.rlim_cur = 2 * gib;
    expect(setrlimit(RLIMIT_AS, &limit) == 0 && serves(), "a limit that is lower");
    struct heap_region again;
    expect(heap_state(&again) == 0 && again.bytes == region.bytes, "the region stays as it is");
    return failures > 0;
}
