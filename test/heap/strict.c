/* SPDX-License-Identifier: BSD-3-Clause */
/* strict - to be preloaded behind the heap: a system that promises no more memory once it is told
 * to (remaps.c), as vm.overcommit_memory=2 before Linux 6.12. */
#define _GNU_SOURCE
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

/* -1: it refuses nothing; else so much memory has been refused. */
int strict_refused = -1;

void *mmap(void *at, size_t bytes, int protection, int flags, int fd, off_t offset) {
    bool counts = flags & MAP_PRIVATE && protection & PROT_WRITE;
    if (strict_refused >= 0 && counts) {
        if (flags & MAP_FIXED) syscall(SYS_munmap, at, bytes);
        strict_refused++;
        errno = ENOMEM;
        return MAP_FAILED;
    }
    return (void *)syscall(SYS_mmap, at, bytes, protection, flags, fd, offset);
}
