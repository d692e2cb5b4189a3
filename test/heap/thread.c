/* SPDX-License-Identifier: BSD-3-Clause */
/* thread - a library that is initialised before all others and starts a thread at once. */
#include <pthread.h>
#include <unistd.h>

static void *wait(void *unused) { return pause(), unused; }

__attribute__((constructor)) static void start(void) {
    pthread_t thread;
    pthread_create(&thread, NULL, wait, NULL);
}
