/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "heap/next.h"

#include <dlfcn.h>
#include <gnu/lib-names.h>
#include <string.h>

struct next next;

/* C has no cast from object to function pointer. */
static void find(void *library, const char *name, void *function) {
    void *symbol = next_dlsym(library, name);
    memcpy(function, &symbol, sizeof symbol);
}

static void find_mallocs(void *library) {
    find(library, "aligned_alloc", &next.aligned_alloc);
    find(library, "malloc_usable_size", &next.malloc_usable_size);
    find(library, "malloc_trim", &next.malloc_trim);
    find(library, "mallinfo2", &next.mallinfo2);
    find(library, "mallinfo", &next.mallinfo);
}

void *next_libc(void) {
    void *(*open)(const char *, int) = NULL;
    find(RTLD_NEXT, "dlopen", &open);
    return open ? open(LIBC_SO, RTLD_LAZY | RTLD_NOLOAD) : NULL;
}

void next_find(void) {
    find(RTLD_NEXT, "fork", &next.fork);
    find(RTLD_NEXT, "forkpty", &next.forkpty); /* before glibc 2.34 of another library */
    find(RTLD_NEXT, "daemon", &next.daemon);
    find(RTLD_NEXT, "prlimit", &next.prlimit);
    find(RTLD_NEXT, "setrlimit", &next.setrlimit);
    find(RTLD_NEXT, "mlockall", &next.mlockall);
    find(RTLD_NEXT, "pthread_getattr_np", &next.pthread_getattr_np);
    find_mallocs(RTLD_NEXT); /* dlopen may call malloc, and an executable's malloc one of these */
    void *library = next_libc();
    if (library) find_mallocs(library);
}
