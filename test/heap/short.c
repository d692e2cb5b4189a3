/* SPDX-License-Identifier: BSD-3-Clause */
/* short - a program whose blocks are short has the C library's malloc and nothing else, and so has
 * a child; the first long block makes the region, not one in a child, or in one of vfork. Handlers
 * of fork that were registered before that may use malloc. */
#define _GNU_SOURCE
#include "heap_test.h"

#include <malloc.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

enum { many = 1000 };

static bool has_region(void) {
    static char line[4096];
    FILE *maps = fopen("/proc/self/maps", "r");
    bool found = false;
    while (maps && !found && fgets(line, sizeof line, maps)) {
        char *start = NULL, *end = NULL;
        found = sscanf(line, "%p-%p", (void **)&start, (void **)&end) == 2 &&
                end - start >= (ptrdiff_t)1 << 30;
    }
    if (maps) fclose(maps);
    return found;
}

static void use_short_ones(void) {
    static char *block[many];
    for (size_t i = 0; i < many; i++) {
        block[i] = malloc(i * (long_block - 1) / many);
        block[i] = realloc(block[i], 1 + i * (long_block - 2) / many);
        memset(block[i], 1, 1 + i * (long_block - 2) / many);
    }
    for (size_t i = 0; i < many; i++) free(block[i]);
    malloc_trim(0);
    free(calloc(10, 100));
    free(memalign(1 << 20, 100));
}

static int prepared;

static void use_both(void) {
    prepared++;
    memset(malloc(100), 1, 100);
    free(malloc(4 * long_block));
    free(malloc(48 << 20)); /* no cache has one */
    free(realloc(malloc(10), 2 * long_block));
}

static int end_of(pid_t child) {
    int status = -1;
    return waitpid(child, &status, 0) == child ? status : -1;
}

static int child_of_fork(void) {
    pid_t child = fork();
    if (child == 0) {
        use_short_ones();
        use_both();
        _exit(0);
    }
    return end_of(child);
}

/* Before there is a region: it may make one for itself. */
static int child_with_a_region(void) {
    pid_t child = fork();
    if (child == 0) {
        use_short_ones();
        bool before = has_region();
        use_both();
        _exit(before || !has_region());
    }
    return end_of(child);
}

/* A program that has no environment any more does not get it back. */
static int child_without_environment(void) {
    pid_t child = fork();
    if (child == 0) {
        clearenv();
        use_both();
        _exit(environ != NULL || !has_region());
    }
    return end_of(child);
}

int main(void) {
    use_short_ones();
    expect(!has_region(), "short blocks need no region");
    expect(child_without_environment() == 0, "clearenv");
    expect(child_with_a_region() == 0 && !has_region(), "a child's is its own");
    pthread_atfork(use_both, use_both, use_both);
    pid_t child = vfork();
    if (child == 0) {
        char *volatile block = malloc(4 * long_block);
        block[0] = 1;
        free(block);
        _exit(0);
    }
    expect(end_of(child) == 0 && !has_region(), "a child of vfork makes none");
    use_short_ones();
    expect(!has_region(), "nor does its parent");
    prepared = 0;
    int status = child_of_fork(); /* its handlers use long blocks */
    expect(prepared == 2 && status == 0, "fork, with handlers");
    expect(has_region(), "they made a region");
    for (int i = 0; i < 20; i++) expect(child_of_fork() == 0, "fork, with handlers, again");
    char *block = malloc(64 * long_block);
    expect(in_region(block) && move_it(block, 64 * long_block) == 0, "and it can move");
    expect(child_of_fork() == 0, "fork, with handlers and what has moved");
    free(block);
    return failures > 0;
}
