/* SPDX-License-Identifier: BSD-3-Clause */
/* tool - a library that is preloaded before the heap, as a profiler of memory is: it wraps malloc
 * and dlopen, and holds its lock meanwhile. As its own malloc may allocate, it lets in who calls
 * malloc from below; who calls dlopen there would wait for ever. Linked with -z initfirst, it makes
 * the first malloc of all. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_ERRORCHECK_MUTEX_INITIALIZER_NP;

/* False: this thread holds it already. */
static bool enter(void) { return pthread_mutex_lock(&lock) == 0; }
static void leave(void) { pthread_mutex_unlock(&lock); }

static void find_next(const char *name, void *function) {
    void *found = dlsym(RTLD_NEXT, name);
    memcpy(function, &found, sizeof found);
}

void *malloc(size_t bytes) {
    static void *(*next)(size_t);
    bool entered = enter();
    if (!next) find_next("malloc", &next);
    void *block = next(bytes);
    if (entered) leave();
    return block;
}

void *dlopen(const char *file, int mode) {
    static void *(*next)(const char *, int);
    if (!enter()) {
        static const char text[] = "FAIL: dlopen under the tool's lock\n";
        _exit(write(STDERR_FILENO, text, sizeof text - 1) < 0 ? 2 : 1);
    }
    if (!next) find_next("dlopen", &next);
    void *library = next(file, mode);
    leave();
    return library;
}

/* The heap's dlsym looks at the C library, too. */
__attribute__((constructor)) static void begin(void) {
    free(malloc(100));
    void *libc = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    enter();
    if (!libc || !dlsym(libc, "malloc")) _exit(2);
    leave();
}
