/* SPDX-License-Identifier: BSD-3-Clause */
/* narrow - a thread with the least stack that there is makes the first long block, and others. */
#define _GNU_SOURCE
#include "heap_test.h"

#include <limits.h>
#include <pthread.h>

static void *work(void *state) {
    for (size_t bytes = long_block; bytes <= 8 * long_block; bytes += long_block) {
        char *block = malloc(bytes);
        if (!block) return NULL;
        memset(block, 1, bytes);
        free(realloc(block, 2 * bytes));
    }
    return state;
}

int main(void) {
    pthread_attr_t attributes;
    pthread_t thread;
    void *result = NULL;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)PTHREAD_STACK_MIN);
    if (pthread_create(&thread, &attributes, work, &thread) != 0) return 77;
    pthread_join(thread, &result);
    expect(result == &thread, "malloc in a thread with a small stack");
    void *block = malloc(long_block);
    expect(in_region(block), "it has made the region");
    free(block);
    return failures > 0;
}
