/* SPDX-License-Identifier: BSD-3-Clause */
/* segment - shared memory without names: opened by another process, sealed, not inherited by fork
 * or exec, and a name that no longer means the same memory is refused. */
#define _GNU_SOURCE
#include "base/base.h"

#include "unit.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

enum { bytes = 3 * 65536 };

static int created(size_t size) {
    int fd = segment_create("unit-segment", size);
    expect(fd >= 0, "segment_create: %d", fd);
    return fd;
}

static char *mapped(int fd, size_t size, bool writable) {
    int error = 0;
    char *memory = segment_map(fd, size, writable, &error);
    expect(memory && error == 0, "segment_map: %d", error);
    return memory;
}

static struct segment_name named(int fd) {
    struct segment_name name;
    expect(segment_name(fd, &name) == 0 && name.pid == getpid() && name.fd == fd, "segment_name");
    return name;
}

static bool open_across_exec(int fd) { return (fcntl(fd, F_GETFD) & FD_CLOEXEC) == 0; }

/* ---- what another process does ---- */

static void visit(void *argument) {
    const struct segment_name *name = argument;
    int reader = segment_open(name, false), writer = segment_open(name, true);
    expect(reader >= 0 && writer >= 0, "segment_open: %d, %d", reader, writer);
    expect(!open_across_exec(reader) && !open_across_exec(writer),
           "an opened segment would survive exec");
    const char *seen = mapped(reader, name->bytes, false);
    char *written = mapped(writer, name->bytes, true);
    expect(seen[0] == 'p' && seen[name->bytes - 1] == 'q', "the parent's bytes are not seen");
    written[1] = 'c';
    expect(seen[1] == 'c', "two mappings show different bytes");
    int error = 0;
    expect(segment_map(reader, name->bytes, true, &error) == NULL && error == -EACCES,
           "a reader's descriptor was mapped writable");
    faults_kill();
    *(volatile char *)(uintptr_t)seen = 'x';
}

static void touch_inherited(void *memory) {
    faults_kill();
    (void)*(volatile char *)memory;
}

static void shared_and_sealed(void) {
    struct heard heard;
    int fd = created(bytes);
    char *memory = mapped(fd, bytes, true);
    struct segment_name name = named(fd);
    expect(name.bytes == bytes, "%llu bytes", (unsigned long long)name.bytes);
    for (size_t i = 0; i < bytes; i++) expect(memory[i] == 0, "a new segment is not zero");
    memory[0] = 'p';
    memory[bytes - 1] = 'q';
    in_child(visit, &name, &heard);
    expect(WIFSIGNALED(heard.status) && WTERMSIG(heard.status) == SIGSEGV && heard.writes == 0,
           "the visitor must die at its write through the read-only mapping, not: %s",
           heard.text[0]);
    expect(memory[1] == 'c' && memory[0] == 'p', "the visitor's byte is not seen");

    expect(!open_across_exec(fd), "a segment would survive exec");
    expect(ftruncate(fd, bytes / 2) < 0 && errno == EPERM, "the segment can shrink");
    expect(ftruncate(fd, bytes * 2) < 0 && errno == EPERM, "the segment can grow");
    expect(fcntl(fd, F_ADD_SEALS, F_SEAL_WRITE) < 0, "a peer could add seals");

    in_child(touch_inherited, memory, &heard);
    expect(WIFSIGNALED(heard.status) && WTERMSIG(heard.status) == SIGSEGV,
           "a forked child has the mapping");
    munmap(memory, bytes);
    close(fd);
}

/* The kernel says of each mapping how it behaves: dc not copied by fork, dd not dumped. */
static void flags(void) {
    int fd = created(bytes);
    uintptr_t memory = (uintptr_t)mapped(fd, bytes, true);
    FILE *file = fopen("/proc/self/smaps", "r");
    char line[512];
    bool here = false, found = false;
    while (file && fgets(line, sizeof line, file)) {
        unsigned long start, end;
        if (sscanf(line, "%lx-%lx ", &start, &end) == 2) here = start <= memory && memory < end;
        if (!here || strncmp(line, "VmFlags:", 8) != 0) continue;
        expect(strstr(line, " dc") && strstr(line, " dd"), "dc and dd are missing in %s", line);
        found = true;
    }
    expect(found || !file, "the mapping is not in smaps");
    if (file) fclose(file);
    munmap((void *)memory, bytes);
    close(fd);
}

static void stale_names(void) {
    int fd = created(bytes);
    struct segment_name name = named(fd), other;
    static const int wrong[] = {-ESTALE, -ESTALE, -ESTALE, -ENOENT, -ENOENT};
    for (int i = 0; i < 5; i++) {
        other = name;
        if (i == 0) other.inode++;
        if (i == 1) other.device++;
        if (i == 2) other.bytes--;
        if (i == 3) other.fd = 1000000;
        if (i == 4) other.pid = 0x7fffffff;
        int got = segment_open(&other, true);
        expect(got == wrong[i], "wrong name %d: %d", i, got);
    }
    close(fd);
    expect(segment_open(&name, true) == -ENOENT, "a closed segment was opened");
    int again = created(bytes); /* most likely under the same number */
    int got = segment_open(&name, true);
    expect(got == (again == fd ? -ESTALE : -ENOENT), "another segment of the same number: %d", got);
    int before = dup(0);
    for (int i = 0; i < 50; i++) segment_open(&name, true);
    int after = dup(0);
    expect(after == before + 1, "refused names leave descriptors open");
    close(before);
    close(after);
    close(again);
    int pipe_ends[2]; /* must neither hang nor be taken for a segment */
    expect(pipe(pipe_ends) == 0, "pipe");
    name.fd = pipe_ends[0];
    expect(segment_open(&name, false) == -ESTALE, "a pipe was taken for a segment");
    close(pipe_ends[0]);
    close(pipe_ends[1]);
}

static void hiding(void) {
    int fd = created(bytes), high = segment_hide(fd);
    struct rlimit limit;
    expect(getrlimit(RLIMIT_NOFILE, &limit) == 0, "getrlimit");
    expect(limit.rlim_cur <= 700 ? high == fd : high >= 700 && fcntl(fd, F_GETFD) < 0,
           "hidden: %d is now %d", fd, high);
    expect(!open_across_exec(high), "a hidden segment would survive exec");
    expect(named(high).bytes == bytes, "the hidden segment is another");
    close(high);
    struct rlimit small = {.rlim_cur = limit.rlim_cur < 256 ? limit.rlim_cur : 256,
                           .rlim_max = limit.rlim_max};
    expect(setrlimit(RLIMIT_NOFILE, &small) == 0, "setrlimit");
    high = segment_hide(created(bytes));
    expect(high >= 100 && named(high).bytes == bytes, "with few descriptors it is hidden: %d",
           high);
    close(high);
    small.rlim_cur = 64;
    expect(setrlimit(RLIMIT_NOFILE, &small) == 0, "setrlimit");
    fd = created(bytes);
    expect(segment_hide(fd) == fd && named(fd).bytes == bytes,
           "with very few descriptors the number stays");
    close(fd);
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* What the program prints must not get into a segment, however few descriptors there are. */
static void closed_streams(void) {
    struct rlimit limit, small;
    expect(getrlimit(RLIMIT_NOFILE, &limit) == 0, "getrlimit");
    small = limit;
    small.rlim_cur = 64;
    expect(setrlimit(RLIMIT_NOFILE, &small) == 0, "setrlimit");
    int kept = dup(STDIN_FILENO);
    close(STDIN_FILENO);
    int fd = segment_hide(created(bytes));
    expect(fd > STDERR_FILENO && fcntl(STDIN_FILENO, F_GETFD) < 0,
           "a segment has the number of a closed stream: %d", fd);
    expect(!open_across_exec(fd), "it would survive exec");
    close(fd);
    if (kept >= 0) dup2(kept, STDIN_FILENO), close(kept);
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* The limit on the size of files: an error, where the system would send SIGXFSZ. */
static void limited(void) {
    struct rlimit limit, small;
    expect(getrlimit(RLIMIT_FSIZE, &limit) == 0, "getrlimit");
    small = limit;
    small.rlim_cur = bytes;
    expect(setrlimit(RLIMIT_FSIZE, &small) == 0, "setrlimit");
    int fits = segment_create("unit-segment", bytes),
        over = segment_create("unit-segment", bytes + 1);
    setrlimit(RLIMIT_FSIZE, &limit);
    expect(fits >= 0 && over == -EFBIG, "at and over the limit on file size: %d, %d", fits, over);
    close(fits);
}

static void failures(void) {
    int error = 0;
    expect(segment_create("unit-segment", SIZE_MAX / 2 + 2) == -EINVAL, "a negative size");
    expect(segment_map(-1, bytes, true, &error) == NULL && error == -EBADF, "no descriptor: %d",
           error);
    struct segment_name name;
    expect(segment_name(-1, &name) == -EBADF, "the name of no descriptor");
    struct rlimit limit, none;
    expect(getrlimit(RLIMIT_NOFILE, &limit) == 0, "getrlimit");
    none = limit;
    none.rlim_cur = 3;
    expect(setrlimit(RLIMIT_NOFILE, &none) == 0, "setrlimit");
    int fd = segment_create("unit-segment", bytes);
    expect(fd == -EMFILE, "no descriptors left: %d", fd);
    setrlimit(RLIMIT_NOFILE, &limit);
}

int main(void) {
    shared_and_sealed();
    flags();
    stale_names();
    hiding();
    closed_streams();
    limited();
    failures();
    return 0;
}
