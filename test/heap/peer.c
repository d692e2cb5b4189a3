/* SPDX-License-Identifier: BSD-3-Clause */
/* peer - malloc's memory is private until it moves; then another process, which opens the region's
 * file through /proc, sees what its owner wrote, and the owner what the other writes. */
#define _GNU_SOURCE
#include "heap_test.h"

#include <fcntl.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;
enum { bytes = 3000000, moved = (bytes - 4096) / 4096 * 4096 };

/* The peer: PID FD REGION-BYTES OFFSET. */
static int visit(char **word) {
    char path[64];
    snprintf(path, sizeof path, "/proc/%s/fd/%s", word[1], word[2]);
    int fd = open(path, O_RDWR);
    expect(fd >= 0, "open through /proc");
    char *region = mmap(NULL, strtoul(word[3], NULL, 10), PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_NORESERVE, fd, 0);
    expect(region != MAP_FAILED, "map the peer's region");
    expect(ftruncate(fd, 0) != 0, "the region cannot be cut");
    if (failures > 0) return 1;
    unsigned char *data = (unsigned char *)region + strtoul(word[4], NULL, 10);
    for (size_t i = 0; i < moved; i++) {
        if (data[i] != (unsigned char)(i * 7)) failures = 1;
        data[i] = (unsigned char)(i * 13);
    }
    expect(failures == 0, "the peer sees the owner's data");
    return failures > 0;
}

int main(int count, char **word) {
    if (count == 5) return visit(word);
    struct heap_region region;
    expect(heap_state(&region) == 0, "the heap is shared");
    expect(region.fd > 100, "the descriptor is out of the program's way");
    expect((fcntl(region.fd, F_GETFD) & FD_CLOEXEC) != 0, "the descriptor does not survive exec");
    unsigned char *data = malloc(bytes);
    for (size_t i = 0; i < bytes; i++) data[i] = (unsigned char)(i * 7);
    expect(file_bytes() == 0, "the file is empty before anything moves");
    expect(move_it(data, bytes) == 0 && has_moved(data, bytes, false), "the block moves");
    data = (unsigned char *)(((uintptr_t)data + 4095) & ~(uintptr_t)4095); /* whole pages */
    for (size_t i = 0; i < moved; i++) data[i] = (unsigned char)(i * 7);
    char pid[32], fd[32], length[32], offset[32];
    snprintf(pid, sizeof pid, "%d", (int)getpid());
    snprintf(fd, sizeof fd, "%d", region.fd);
    snprintf(length, sizeof length, "%zu", region.bytes);
    snprintf(offset, sizeof offset, "%zu", (size_t)((char *)data - region.base));
    char *arguments[] = {word[0], pid, fd, length, offset, NULL};
    pid_t peer;
    int status = -1;
    expect(posix_spawn(&peer, "/proc/self/exe", NULL, NULL, arguments, environ) == 0,
           "start the peer");
    expect(waitpid(peer, &status, 0) == peer && status == 0, "the peer is content");
    for (size_t i = 0; i < moved && failures == 0; i++)
        expect(data[i] == (unsigned char)(i * 13), "the owner sees the peer's data");
    return failures > 0;
}
