/* SPDX-License-Identifier: BSD-3-Clause */
/* taker - to be preloaded before the heap: takes munmap's place once it is told to, as a library
 * does that overwrites the function's code. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

int taker_takes;
int munmap(void *address, size_t bytes);

int munmap(void *address, size_t bytes) {
    int (*next)(void *, size_t);
    if (taker_takes) return (int)syscall(SYS_munmap, address, bytes);
    void *found = dlsym(RTLD_NEXT, "munmap");
    memcpy(&next, &found, sizeof next);
    return next(address, bytes);
}
