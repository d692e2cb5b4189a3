/* SPDX-License-Identifier: BSD-3-Clause */
/* segment - anonymous shared memory (memfd) that other processes open through /proc/PID/fd/N. */
#define _GNU_SOURCE
#include "base/base.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* Gives a descriptor another number, at least this. -errno: it keeps its own. */
static int renumber(int fd, int least) {
    int other = fcntl(fd, F_DUPFD_CLOEXEC, least);
    if (other < 0) return -errno;
    close(fd);
    return other;
}

bool segment_may_be(size_t bytes) {
    struct rlimit file;
    return getrlimit(RLIMIT_FSIZE, &file) != 0 || file.rlim_cur >= bytes;
}

int segment_create(const char *name, size_t bytes) {
    if (!segment_may_be(bytes)) return -EFBIG;
    int low = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING), fd = low;
    if (fd < 0) return -errno;
    /* Where a standard stream is closed its number is free, and what is printed would be written
     * into the segment. */
    if (low <= STDERR_FILENO && (fd = renumber(low, STDERR_FILENO + 1)) < 0) {
        close(low);
        return fd;
    }
    /* Sealed against resizing, so that a truncation can never give a peer SIGBUS. */
    if (ftruncate(fd, (off_t)bytes) < 0 ||
        fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) < 0) {
        int error = -errno;
        close(fd);
        return error;
    }
    return fd;
}

int segment_hide(int fd) {
    int high = renumber(fd, 700);
    if (high < 0) high = renumber(fd, 100); /* RLIMIT_NOFILE is small */
    return high < 0 ? fd : high;            /* the low number works, too */
}

void *segment_lay(void *at, int fd, size_t offset, size_t bytes, int protection) {
    void *map = mmap(at, bytes, PROT_NONE, MAP_SHARED | MAP_NORESERVE | (at ? MAP_FIXED : 0), fd,
                     (off_t)offset);
    if (map == MAP_FAILED) return map;
    munlock(map, bytes);
    if (mprotect(map, bytes, protection) == 0) return map;
    int saved = errno;
    if (!at) munmap(map, bytes);
    errno = saved;
    return MAP_FAILED;
}

void *segment_map(int fd, size_t bytes, bool writable, int *error) {
    void *map = segment_lay(NULL, fd, 0, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ);
    if (map == MAP_FAILED) {
        *error = -errno;
        return NULL;
    }
    madvise(map, bytes, MADV_DONTFORK);
    madvise(map, bytes, MADV_DONTDUMP);
    return map;
}

int segment_name(int fd, struct segment_name *name) {
    struct stat facts;
    if (fstat(fd, &facts) < 0) return -errno;
    *name = (struct segment_name){.pid = getpid(),
                                  .fd = fd,
                                  .inode = facts.st_ino,
                                  .device = facts.st_dev,
                                  .bytes = (uint64_t)facts.st_size};
    return 0;
}

int segment_open(const struct segment_name *name, bool writable) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)name->pid, (int)name->fd);
    int fd = open(path, (writable ? O_RDWR : O_RDONLY) | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0) return -errno;
    /* The descriptor may be another file by now, or the process another one, in another PID
     * namespace. */
    struct segment_name found = {0};
    int error = segment_name(fd, &found);
    if (error == 0 &&
        (found.inode != name->inode || found.device != name->device || found.bytes != name->bytes))
        error = -ESTALE;
    if (error == 0) return fd;
    close(fd);
    return error;
}
