/* SPDX-License-Identifier: BSD-3-Clause */
/* libxpmem - a stand-in for XPMEM's library without its kernel module: an attachment shows another
 * process's memory as far as that lies in shared files (memfd) that it has open: what has moved of
 * mortar's heap, and what a test puts there. Of private memory it shows a copy, made when it is
 * attached. The rest is a hole, and attaching nothing but holes fails. In the same
 * process (threads as ranks) an attachment is the memory itself. TEST_XPMEM_ATTACHES on rank
 * TEST_XPMEM_RANK: attaching fails after so many. TEST_XPMEM_FOREIGN there: it shows something
 * else. Says in the end what was made, got and attached, and
 * whether all was given back. */
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

struct xpmem_addr {
    int64_t apid;
    off_t offset;
};
int64_t xpmem_make(void *start, size_t bytes, int permit_type, void *permit);
int xpmem_remove(int64_t segment);
int64_t xpmem_get(int64_t segment, int flags, int permit_type, void *permit);
int xpmem_release(int64_t access);
void *xpmem_attach(struct xpmem_addr place, size_t bytes, void *where);
int xpmem_detach(void *where);
/* For tests: made, removed, got, released, attached, detached, mistakes. */
void xpmem_counts(int counts[7]);

enum { most = 4096 };
static struct {
    char *here;
    size_t bytes; /* 0: in this process */
} attached[most];
static int made, removed, got, released, attaches, detaches, wrong;

static long number(const char *name, long otherwise) {
    const char *text = getenv(name);
    return text ? atol(text) : otherwise;
}
static long rank_of_this(void) { return number("OMPI_COMM_WORLD_RANK", number("PMI_RANK", 0)); }

int64_t xpmem_make(void *start, size_t bytes, int permit_type, void *permit) {
    if (start || bytes != SIZE_MAX || permit_type != 1 || permit != (void *)0600) wrong++;
    made++;
    return (int64_t)getpid() << 8 | 1;
}
int xpmem_remove(int64_t segment) {
    if (segment != ((int64_t)getpid() << 8 | 1)) wrong++;
    return removed++, 0;
}
int64_t xpmem_get(int64_t segment, int flags, int permit_type, void *permit) {
    if (flags != 2 || permit_type != 1 || permit != (void *)0600) wrong++;
    got++;
    return segment + 1;
}
int xpmem_release(int64_t access) { return (void)access, released++, 0; }

/* Opens the file with that number that the process has open. */
static int open_inode(long pid, unsigned long inode) {
    char path[64], name[400];
    struct stat facts;
    snprintf(path, sizeof path, "/proc/%ld/fd", pid);
    DIR *folder = opendir(path);
    int fd = -1;
    for (struct dirent *entry; folder && fd < 0 && (entry = readdir(folder));) {
        snprintf(name, sizeof name, "%s/%s", path, entry->d_name);
        if (stat(name, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_ino == inode)
            fd = open(name, O_RDWR | O_CLOEXEC);
    }
    if (folder) closedir(folder);
    return fd;
}

/* Shows private memory as it is now. */
static bool copy(long pid, char *here, unsigned long from, unsigned long to) {
    void *map = mmap(here, to - from, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    struct iovec mine = {here, to - from}, theirs = {(void *)from, to - from};
    return map == here && process_vm_readv((pid_t)pid, &mine, 1, &theirs, 1, 0) > 0;
}

/* Shows what the process has in [start, end). Returns how many pieces. */
static int show(long pid, uint64_t start, uint64_t end, char *here) {
    char path[64], line[512], mode[8];
    unsigned long from, to, offset, inode, pieces = 0;
    snprintf(path, sizeof path, "/proc/%ld/maps", pid);
    FILE *maps = fopen(path, "r");
    while (maps && fgets(line, sizeof line, maps)) {
        if (sscanf(line, "%lx-%lx %7s %lx %*s %lu", &from, &to, mode, &offset, &inode) != 5)
            continue;
        if (to <= start || from >= end) continue;
        if (from < start) offset += start - from, from = start;
        if (to > end) to = end;
        if (mode[3] == 'p' && mode[0] == 'r') pieces += copy(pid, here + (from - start), from, to);
        int fd = mode[3] == 's' && inode > 0 ? open_inode(pid, inode) : -1;
        if (fd < 0) continue;
        void *map = mmap(here + (from - start), to - from, PROT_READ | PROT_WRITE,
                         MAP_SHARED | MAP_FIXED, fd, (off_t)offset);
        pieces += map != MAP_FAILED;
        close(fd);
    }
    if (maps) fclose(maps);
    return (int)pieces;
}

void *xpmem_attach(struct xpmem_addr place, size_t bytes, void *where) {
    long pid = (long)(place.apid >> 8), fine = number("TEST_XPMEM_ATTACHES", -1);
    uint64_t start = (uint64_t)place.offset;
    int slot = attaches;
    if (where || start % 4096 || bytes % 4096 || slot == most) wrong++, exit(9);
    errno = EINVAL;
    if (fine >= 0 && attaches >= fine && rank_of_this() == number("TEST_XPMEM_RANK", 0))
        return (void *)-1;
    char *here = pid == getpid() ? (char *)start
                                 : mmap(NULL, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (number("TEST_XPMEM_FOREIGN", 0) && rank_of_this() == number("TEST_XPMEM_RANK", 0))
        mprotect(here, bytes, PROT_READ | PROT_WRITE); /* zeros */
    else if (pid != getpid() &&
             (here == MAP_FAILED || show(pid, start, start + bytes, here) == 0)) {
        if (here != MAP_FAILED) munmap(here, bytes);
        return (void *)-1;
    }
    attached[slot].here = here;
    attached[slot].bytes = pid == getpid() ? 0 : bytes;
    attaches++;
    return here;
}

int xpmem_detach(void *where) {
    for (int slot = 0; slot < attaches; slot++) {
        if (attached[slot].here != where) continue;
        if (attached[slot].bytes) munmap(where, attached[slot].bytes);
        attached[slot].here = NULL;
        return detaches++, 0;
    }
    return wrong++, -1;
}

void xpmem_counts(int counts[7]) {
    const int now[7] = {made, removed, got, released, attaches, detaches, wrong};
    for (int i = 0; i < 7; i++) counts[i] = now[i];
}

__attribute__((destructor)) static void say(void) {
    if (made == 0) return;
    printf("rank %ld: %d attached, all %s, %d mistakes\n", rank_of_this(), attaches,
           made == removed && got == released && attaches == detaches ? "given back"
                                                                      : "NOT given back",
           wrong);
}
