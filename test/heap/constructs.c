/* SPDX-License-Identifier: BSD-3-Clause */
/* constructs - a library whose constructor waits for a thread that makes a block longer, asks how
 * long it is, forks, sets limits and locks no memory. Meanwhile who loads it holds the dynamic
 * linker's lock. */
#define _GNU_SOURCE
#include "heap/heap.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int constructed;

static void *work(void *state) {
    void *block = realloc(malloc(100), long_block);
    pid_t child = fork();
    if (child == 0) _exit(0);
    constructed = malloc_usable_size(block) >= long_block && waitpid(child, NULL, 0) == child;
    free(block);
    struct rlimit limit;
    constructed &= prlimit(0, RLIMIT_CORE, NULL, &limit) == 0;
    constructed &= setrlimit(RLIMIT_CORE, &limit) == 0;
    constructed &= mlockall(0) != 0; /* it wants a flag */
    return state;
}

__attribute__((constructor)) static void construct(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL) == 0) pthread_join(thread, NULL);
}
