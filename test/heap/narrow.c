/* SPDX-License-Identifier: BSD-3-Clause */
/* narrow - threads with the least stack that there is make the first long block at the same time,
 * and others. */
#define _GNU_SOURCE
#include "heap_test.h"

#include <limits.h>
#include <pthread.h>

enum { threads = 8 };
static pthread_barrier_t together;

static void *work(void *state) {
    pthread_barrier_wait(&together);
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
    pthread_t thread[threads];
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, (size_t)PTHREAD_STACK_MIN);
    pthread_barrier_init(&together, NULL, threads);
    for (int t = 0; t < threads; t++)
        if (pthread_create(&thread[t], &attributes, work, thread) != 0) exit(77);
    for (int t = 0; t < threads; t++) {
        void *result = NULL;
        pthread_join(thread[t], &result);
        expect(result == thread, "malloc in a thread with a small stack");
    }
    void *block = malloc(long_block);
    expect(in_region(block), "they have made the region");
    free(block);
    return failures > 0;
}
