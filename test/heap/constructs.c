/* SPDX-License-Identifier: BSD-3-Clause */
/* constructs - a library whose constructor waits for a thread that makes a block longer, asks how
 * long it is, and forks. Meanwhile who loads it holds the dynamic linker's lock. */
#include "heap/heap.h"

#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

int constructed;

static void *work(void *state) {
    void *block = realloc(malloc(100), long_block);
    pid_t child = fork();
    if (child == 0) _exit(0);
    constructed = malloc_usable_size(block) >= long_block && waitpid(child, NULL, 0) == child;
    free(block);
    return state;
}

__attribute__((constructor)) static void construct(void) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, NULL) == 0) pthread_join(thread, NULL);
}
