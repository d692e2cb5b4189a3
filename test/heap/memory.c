/* SPDX-License-Identifier: BSD-3-Clause */
/* memory - freed memory goes back to the system, whether it has moved or not, and reserving costs
 * nothing. What goes back at once is as new when it comes again. */
#define _GNU_SOURCE
#include "heap_test.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/sysinfo.h>
#include <unistd.h>

static size_t resident(void) { return rollup("Rss:"); }

/* Freed pages go back in the course of a second of later allocation. */
static void go_on(void) {
    for (int i = 0; i < 30000; i++) {
        void *volatile block = malloc((size_t)(8 * i));
        free(block);
        if (i % 500 == 0) usleep(25000);
    }
}

enum { MiB = 1 << 20 };

/* Pages that were freed together are found again for blocks as short as before. */
static void again(size_t bytes) {
    static char *block[300000];
    malloc_trim(0); /* not those that others freed */
    size_t count = (size_t)30 * MiB / bytes, before = resident(), first = 0, most = 0;
    for (int round = 0; round < 5; round++) {
        for (size_t i = 0; i < count; i++) memset(block[i] = malloc(bytes), 1, bytes);
        size_t now = resident() - before;
        if (round == 0) first = now;
        if (now > most) most = now;
        for (size_t i = 0; i < count; i++) free(block[i]);
    }
    printf("%zu blocks of %zu bytes: %zu KiB, made again at most %zu KiB\n", count, bytes,
           first >> 10, most >> 10);
    expect(most < first + first / 3, "blocks that are freed and made again take no more memory");
}

/* What the thread's own cache serves, for a second and longer: it takes no new pages, and those
 * that were freed before go back. */
static void serve_from_cache(void) {
    struct rusage usage;
    long before = 0;
    for (int i = 0; i < 50000; i++) {
        volatile char *block = calloc(1, MiB);
        for (int at = 0; at < MiB; at += 4096) block[at] = 1;
        free((void *)block);
        getrusage(RUSAGE_SELF, &usage);
        if (i == 100) before = usage.ru_minflt;
    }
    long faults = usage.ru_minflt - before;
    printf("50000 times calloc of 1 MiB: %ld page faults\n", faults);
    expect(faults < 64, "a block that is freed and made again keeps its pages");

    static void *block[100000];
    size_t start = resident();
    for (int i = 0; i < 100000; i++) block[i] = memset(malloc(1000), 1, 1000);
    size_t full = resident();
    for (int i = 0; i < 100000; i++) free(block[i]);
    size_t left = full;
    for (int naps = 0; naps < 500 && left >= start + (full - start) / 4; naps++) {
        for (int i = 0; i < 40000; i++) {
            void *volatile one = malloc(1000);
            free(one);
        }
        usleep(10000);
        left = resident();
    }
    printf("100 MB freed, then one block only: %zu KiB, then %zu KiB\n", full >> 10, left >> 10);
    expect(left < start + (full - start) / 4, "freed pages go back whoever serves the thread");
}

static pthread_barrier_t barrier;

/* Eight blocks of each length up to 1 MiB; the thread's cache keeps what it keeps. */
static void fill_cache(void) {
    char *block[8];
    for (size_t unit = 32 << 10; unit <= 128 << 10; unit *= 2)
        for (size_t bytes = 5 * unit; bytes <= 8 * unit; bytes += unit) {
            for (int i = 0; i < 8; i++) block[i] = memset(malloc(bytes), 1, bytes);
            for (int i = 0; i < 8; i++) free(block[i]);
        }
}

static void *hoard(void *nothing) {
    fill_cache();
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return nothing;
}

static void keep_little(void) {
    pthread_t thread;
    malloc_trim(0);
    size_t before = resident();
    pthread_barrier_init(&barrier, NULL, 2);
    if (pthread_create(&thread, NULL, hoard, NULL) != 0) return;
    pthread_barrier_wait(&barrier);
    malloc_trim(0);
    size_t kept = resident() - before;
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    malloc_trim(0);
    size_t left = resident() - before;
    printf("a thread's long blocks: %zu KiB kept, %zu KiB when it has ended\n", kept >> 10,
           left >> 10);
    expect(kept < 8 * MiB, "a thread keeps one block of each length");
    expect(left < 2 * MiB, "and none when it has ended");
    fill_cache();
    malloc_trim(0);
    left = resident() - before;
    printf("this thread's: %zu KiB after malloc_trim\n", left >> 10);
    expect(left < 2 * MiB, "nor those of the thread that trims");
}

/* As daemons do, and programs after MPI_Finalize. */
static void free_without_descriptor(void) {
    struct heap_region region;
    struct stat facts;
    char *buffer = memset(malloc(64 * MiB), 1, 64 * MiB);
    expect(move_it(buffer, 64 * MiB) == 0 && heap_state(&region) == 0, "a block moves");
    int kept = dup(region.fd);
    close(region.fd);
    free(buffer);
    expect(fstat(kept, &facts) == 0 && facts.st_blocks * 512 < MiB,
           "what is freed goes back also if the heap's descriptor was closed");
    close(kept);
}

static size_t installed(void) {
    struct sysinfo facts;
    return sysinfo(&facts) == 0 ? (facts.totalram + facts.totalswap) * facts.mem_unit
                                : SIZE_MAX / 2;
}

/* The system's default: it refuses what cannot possibly be there. */
static bool overcommits_by_guess(void) {
    FILE *file = fopen("/proc/sys/vm/overcommit_memory", "r");
    int mode = -1;
    bool read = file && fscanf(file, "%d", &mode) == 1;
    if (file) fclose(file);
    return read && mode == 0;
}

/* A block that glibc always unmaps may be freed as the program has protected it. */
static void protected_to_the_end(void) {
    enum { bytes = 64 * MiB, page = 4096 };
    for (int moves = 0; moves < 2; moves++) {
        char *block = memset(malloc(bytes), 1, bytes);
        char *inner = block + page - (uintptr_t)block % page;
        if (moves) expect(move_it(inner, MiB) == 0, "some of it has moved");
        mprotect(inner, bytes - 2 * page, PROT_READ);
        free(block);
        char *volatile next = malloc(bytes);
        expect((uintptr_t)next / page == (uintptr_t)block / page, "the next one has its pages");
        memset((char *)next, 2, bytes);
        free((char *)next);
    }
}

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
    protected_to_the_end();

    char *volatile middling = malloc(16 * MiB);
    memset(middling, 1, 16 * MiB);
    free(middling);
    expect(resident() >= start + 12 * MiB, "a block below the threshold stays a while");

    again(112);
    again(1000);
    again(10000);

    serve_from_cache();
    keep_little();

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

    for (int moves = 0; moves < 3; moves++) {
        size_t held = resident();
        char *buffer = malloc(64 * MiB);
        memset(buffer, moves, 64 * MiB);
        expect(move_it(buffer, 64 * MiB) == 0 && file_bytes() >= 63 * MiB, "a block moves");
        expect(resident() < held + 80 * MiB, "a block that has moved is there once");
        for (size_t i = 0; i < 64 * MiB; i += 1000)
            expect(buffer[i] == moves, "what has moved is what was there");
        free(buffer);
        expect(file_bytes() < MiB && resident() < held + 16 * MiB, "and goes back too");
        unsigned char *zero = calloc(64, MiB);
        expect(zero && zero[0] == 0 && zero[32 * MiB] == 0 && !has_moved(zero, 64 * MiB, true),
               "memory that had moved is zeroed and private again");
        free(zero);
    }
    char *untouched = malloc(200 * MiB);
    untouched[100 * MiB] = 1;
    expect(move_it(untouched, 200 * MiB) == 0 && file_bytes() < 4 * MiB &&
               untouched[100 * MiB] == 1,
           "untouched pages take no memory when they move");
    free(untouched);
    errno = 0;
    void *volatile too_much = malloc(installed() + installed() / 2);
    if (overcommits_by_guess()) expect(!too_much && errno == ENOMEM, "more than the machine has");
    free(too_much);
    char *volatile kept = memset(malloc(MiB), 7, MiB);
    char *volatile longer = realloc(kept, installed() + installed() / 2);
    if (overcommits_by_guess())
        expect(!longer && errno == ENOMEM && kept[MiB - 1] == 7, "nor can a block grow to that");
    free(longer ? longer : kept);
    free_without_descriptor();

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
