/* SPDX-License-Identifier: BSD-3-Clause */
/* heirs - what a forked child does with blocks that its parent had: it frees them, makes them
 * longer, asks how long they are, while other threads of the parent were making and freeing blocks
 * at the moment of the fork; and how many pages a fork takes. */
#define _GNU_SOURCE
#include "heap_test.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { long_bytes = 32 << 20, short_bytes = 200, threads = 4, forks = 100 };

static void await(pid_t pid, const char *what) {
    int status = -1;
    expect(pid > 0 && waitpid(pid, &status, 0) == pid && status == 0, what);
}

static size_t resident(void) {
    size_t all, held = 0;
    FILE *statm = fopen("/proc/self/statm", "r");
    if (!statm || fscanf(statm, "%zu %zu", &all, &held) != 2) held = 0;
    if (statm) fclose(statm);
    return held * (size_t)sysconf(_SC_PAGESIZE);
}

static bool all_are(const char *block, size_t bytes, char value) {
    for (size_t i = 0; i < bytes; i++)
        if (block[i] != value) return false;
    return true;
}

static char *filled(size_t bytes, char value) { return memset(malloc(bytes), value, bytes); }

static void inherit(void) {
    char *kept = filled(long_bytes, 1), *longer = filled(1 << 20, 2), *shorter = filled(1 << 20, 3),
         *tiny = filled(short_bytes, 4), *gone = filled(short_bytes, 5);
    size_t usable = malloc_usable_size(kept), usable_tiny = malloc_usable_size(tiny);
    pid_t pid = fork();
    if (pid == 0) {
        failures = 0;
        expect(malloc_usable_size(kept) == usable && malloc_usable_size(tiny) == usable_tiny,
               "the blocks are as long as in the parent");
        volatile size_t too_long = SIZE_MAX;
        expect(!realloc(longer, too_long) && errno == ENOMEM, "no block is so long");
        longer = realloc(longer, 3 << 20);
        expect(longer && all_are(longer, 1 << 20, 2), "a longer block has what was in it");
        shorter = realloc(shorter, 1000);
        expect(shorter && all_are(shorter, 1000, 3), "so has a shorter one");
        tiny = realloc(tiny, 1 << 20);
        expect(tiny && all_are(tiny, short_bytes, 4), "and a short one that becomes long");
        expect(!realloc(gone, 0), "length 0 frees");
        memset(kept, 6, long_bytes);
        size_t before = resident();
        free(kept);
        expect(resident() + long_bytes / 2 < before, "a long block's pages go back");
        free(longer), free(shorter), free(tiny);
        expect(mallinfo2().uordblks > 0, "the C library's figures are told");
        malloc_trim(0);
        _exit(failures);
    }
    await(pid, "the child is content");
    expect(all_are(kept, long_bytes, 1) && all_are(longer, 1 << 20, 2), "the parent's are its own");
    free(kept), free(longer), free(shorter), free(tiny), free(gone);
}

/* ---- beside threads ---- */

static atomic_bool ends;

static void *makes_blocks(void *number) {
    void *held[64] = {NULL};
    unsigned seed = *(unsigned *)number;
    while (!ends) {
        int i = rand_r(&seed) % 64;
        free(held[i]);
        size_t bytes = rand_r(&seed) % 2 ? (size_t)(rand_r(&seed) % 800) : 20000 + seed % 2000000;
        held[i] = malloc(bytes);
    }
    for (int i = 0; i < 64; i++) free(held[i]);
    return NULL;
}

static void *uses_blocks(void *blocks) {
    char **block = blocks;
    for (int i = 0; i < 8; i++) free(realloc(block[i], 60000));
    return NULL;
}

/* A thread that has never asked for a block forks, and ends in the child. There a thread that the
 * parent did not have uses the blocks before it. */
static void *forks_and_ends(void *blocks) {
    char **block = blocks;
    pid_t pid = fork();
    if (pid == 0) {
        pthread_t one;
        alarm(20); /* a child that waits for a lock ends by that */
        if (pthread_create(&one, NULL, uses_blocks, block) == 0) pthread_join(one, NULL);
        uses_blocks(block + 8);
        pthread_exit(NULL); /* the last thread: the process ends with 0 */
    }
    await(pid, "a child beside threads");
    return NULL;
}

static void beside_threads(void) {
    pthread_t makers[threads], one;
    unsigned seeds[threads];
    for (unsigned i = 0; i < threads; i++) {
        seeds[i] = i;
        expect(pthread_create(&makers[i], NULL, makes_blocks, &seeds[i]) == 0, "a thread");
    }
    for (int i = 0; i < forks; i++) {
        char *blocks[16];
        for (int k = 0; k < 16; k++) blocks[k] = filled(k % 2 ? 50000 : 300, 9);
        if (pthread_create(&one, NULL, forks_and_ends, blocks) == 0) pthread_join(one, NULL);
        for (int k = 0; k < 16; k++) free(blocks[k]);
    }
    ends = true;
    for (int i = 0; i < threads; i++) pthread_join(makers[i], NULL);
}

static long faults(int of_whom) {
    struct rusage usage;
    getrusage(of_whom, &usage);
    return usage.ru_minflt;
}

/* Natively 2 and 16 to 17. */
static void pages(void) {
    long own = faults(RUSAGE_SELF), theirs = faults(RUSAGE_CHILDREN);
    for (int i = 0; i < forks; i++) {
        pid_t pid = fork();
        if (pid == 0) _exit(0);
        await(pid, "a child that does nothing");
    }
    own = (faults(RUSAGE_SELF) - own) / forks;
    theirs = (faults(RUSAGE_CHILDREN) - theirs) / forks;
    printf("a fork: %ld page faults of the parent, %ld of the child\n", own, theirs);
    fflush(stdout);
    expect(own <= 6 && theirs <= 30, "a fork takes few pages");
}

int main(void) {
    struct heap_region region;
    expect(heap_state(&region) == 0, "there is a heap");
    free(filled(long_bytes, 0));
    pages();
    inherit();
    beside_threads();
    inherit();
    return failures > 0;
}
