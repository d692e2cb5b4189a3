/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "heap/next.h"

#include "heap/blocks.h"

#include <dlfcn.h>
#include <gnu/lib-names.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

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

void *next_mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset) {
    begin();
    if (next.mmap) return next.mmap(address, bytes, protection, flags, fd, offset);
    return (void *)syscall(SYS_mmap, address, bytes, protection, flags, fd, offset);
}

int next_munmap(void *address, size_t bytes) {
    begin();
    return next.munmap ? next.munmap(address, bytes) : (int)syscall(SYS_munmap, address, bytes);
}

void *next_mremap(void *old, size_t old_bytes, size_t new_bytes, int flags, void *to) {
    begin();
    if (next.mremap) return next.mremap(old, old_bytes, new_bytes, flags, to);
    return (void *)syscall(SYS_mremap, old, old_bytes, new_bytes, flags, to);
}

int next_madvise(void *address, size_t bytes, int advice) {
    begin();
    if (next.madvise) return next.madvise(address, bytes, advice);
    return (int)syscall(SYS_madvise, address, bytes, advice);
}

void *__wrap_mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
    __attribute__((alias("next_mmap")));
int __wrap_munmap(void *address, size_t bytes) __attribute__((alias("next_munmap")));
int __wrap_madvise(void *address, size_t bytes, int advice) __attribute__((alias("next_madvise")));
/* To the next library that has it. */
static void leave_malloc(void) {
    struct mallocs next_ones;
    find(RTLD_NEXT, "malloc", &next_ones.malloc);
    find(RTLD_NEXT, "free", &next_ones.free);
    find(RTLD_NEXT, "calloc", &next_ones.calloc);
    find(RTLD_NEXT, "realloc", &next_ones.realloc);
    find(RTLD_NEXT, "memalign", &next_ones.memalign);
    blocks.theirs = next_ones;
    blocks_leave();
}

void next_find(void) {
    find(RTLD_NEXT, "fork", &next.fork);
    find(RTLD_NEXT, "forkpty", &next.forkpty); /* before glibc 2.34 of another library */
    find(RTLD_NEXT, "daemon", &next.daemon);
    find(RTLD_NEXT, "prlimit", &next.prlimit);
    find(RTLD_NEXT, "setrlimit", &next.setrlimit);
    find(RTLD_NEXT, "mlockall", &next.mlockall);
    find(RTLD_NEXT, "pthread_getattr_np", &next.pthread_getattr_np);
    find(RTLD_NEXT, "mmap", &next.mmap);
    find(RTLD_NEXT, "munmap", &next.munmap);
    find(RTLD_NEXT, "mremap", &next.mremap);
    find(RTLD_NEXT, "madvise", &next.madvise);
    find_mallocs(RTLD_NEXT); /* dlopen may call malloc, and an executable's malloc one of these */
    if (region_stands_aside()) {
        leave_malloc();
        return;
    }
    void *library = next_libc();
    if (library) find_mallocs(library);
}
