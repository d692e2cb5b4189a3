/* SPDX-License-Identifier: BSD-3-Clause */
/* next.h - the functions that the heap's own of the same names call. They are looked up when the
 * library is loaded (blocks_begin), because dlsym waits for who is just loading another library,
 * and that one's constructor may wait for this thread. Who uses them calls begin() before. */
#ifndef HEAP_NEXT_H
#define HEAP_NEXT_H

#include <malloc.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/types.h>

struct termios;
struct winsize;

struct next {
    /* Of the next library that has them, which may be a tool's. */
    pid_t (*fork)(void);
    pid_t (*forkpty)(int *, char *, const struct termios *, const struct winsize *);
    int (*daemon)(int, int);
    int (*prlimit)(pid_t, __rlimit_resource_t, const struct rlimit *, struct rlimit *);
    int (*setrlimit)(__rlimit_resource_t, const struct rlimit *);
    int (*mlockall)(int);
    int (*pthread_getattr_np)(pthread_t, pthread_attr_t *);
    void *(*mmap)(void *, size_t, int, int, int, off_t);
    int (*munmap)(void *, size_t);
    void *(*mremap)(void *, size_t, size_t, int, ...);
    int (*madvise)(void *, size_t, int);
    /* The C library's, since a library with another malloc may come between; or just that one's, if
     * malloc is left to it (region_stands_aside). */
    void *(*aligned_alloc)(size_t, size_t);
    size_t (*malloc_usable_size)(void *);
    int (*malloc_trim)(size_t);
    struct mallinfo2 (*mallinfo2)(void); /* NULL before glibc 2.33 */
    struct mallinfo (*mallinfo)(void);
};
extern struct next next __attribute__((visibility("hidden")));

/* Those of mmap and the like, or the system itself while they are being looked up. All that the
 * heap calls by these names itself comes here (CMakeLists.txt), not to mapped.c. */
void *next_mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset);
int next_munmap(void *address, size_t bytes);
void *next_mremap(void *old, size_t old_bytes, size_t new_bytes, int flags, void *to);
int next_madvise(void *address, size_t bytes, int advice);

/* Also blocks.theirs, if malloc is left to the next library. */
void next_find(void);
/* The C library, as dlopen has it. Not by the dlopen of a tool that is preloaded before the heap:
 * the tool may hold its lock where its malloc has come here. */
void *next_libc(void);
/* lookup.c: dlsym, which finds the C library's, where the heap's own finds the heap's. */
void *next_dlsym(void *library, const char *name);

#endif
