/* SPDX-License-Identifier: BSD-3-Clause */
/* fork - shared memory is not copied on write, so a forked child gets a private copy of region and
 * adopted data, as they lie, while its parent waits. 0.3 to 1 s per resident GiB; vfork,
 * posix_spawn, system and popen run none of this.
 *
 * The handlers are registered before any other: ours is the last to prepare, when jemalloc holds
 * its locks and its metadata stands still, and the first in the child. But glibc's fork itself
 * stores to malloc'ed memory in the child before any handler runs (it resets the locks of open
 * files and clears the thread-specific data of the other threads), and the forking thread's stack
 * may be malloc'ed. Therefore the child does not inherit the region: its first touch traps, and the
 * trap makes the copy. Until that is done the child makes system calls directly: libc's wrappers
 * may be hooked, by code whose data lie in the heap.
 *
 * _Fork, and fork or clone by a direct system call, run no handlers: such a child shares the
 * region. Were it never inherited, no child could write to its parent's heap; but most only read
 * it, for exec's arguments, and that would fail with EFAULT. */
#define _GNU_SOURCE
#include "heap/adopt.h"
#include "heap/region.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

enum { most_pieces = 64 * most_adopted };

/* From prepare to the end of the parent's and of the child's handler; the region's lock guards
 * it. */
static struct {
    bool active, copied;
    char *alias; /* the region's used part, mapped once more: the one that the child inherits */
    size_t bytes;
    int pipe[2];
    atomic_int *flag; /* in place of the pipe when no descriptor is left */
    bool stacked;
    stack_t stack;
    struct sigaction action;
    sigset_t mask;
    struct mapping pieces[most_pieces]; /* what is adopted, as it is mapped at the moment */
    int piece_count;
} passage;

static char trap_stack[64 << 10];

static void die(const char *text) {
    syscall(SYS_write, STDERR_FILENO, text, strlen(text));
    syscall(SYS_exit_group, 127);
}

/* Maps private memory where the child lacks the shared. */
static void map_private(char *start, size_t bytes) {
    long map = syscall(SYS_mmap, start, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    if ((char *)map != start) die("mortar: fork: no memory to copy the shared heap\n");
}

/* Copies the file's bytes from start to end to where `base` is offset 0. Holes stay holes. */
static void copy(size_t start, size_t end, char *base, bool by_file) {
    while (by_file && start < end) {
        long data = syscall(SYS_lseek, region.fd, start, SEEK_DATA);
        if (data < 0 || (size_t)data >= end) return;
        size_t hole = (size_t)syscall(SYS_lseek, region.fd, data, SEEK_HOLE);
        if (hole > end) hole = end;
        size_t bytes = hole - (size_t)data;
        /* Where the system gives huge pages they halve the time. */
        if (bytes >= 4 << 20) syscall(SYS_madvise, base + data, bytes, MADV_HUGEPAGE);
        memcpy(base + data, passage.alias + data, bytes);
        start = hole;
    }
    for (; start < end; start += 4096) { /* the program closed the descriptor */
        if (!blank(passage.alias + start, 4096)) memcpy(base + start, passage.alias + start, 4096);
    }
}

/* An extent without what is adopted in it: nobody in the child looks at that through the region. */
static void copy_extent(struct extent extent, bool by_file) {
    size_t end = extent.offset + extent.bytes, start = extent.offset;
    while (start < end) {
        struct heap_range skip = {.offset = end};
        for (int i = 0; i < adopted_count; i++) {
            if (adopted[i].offset >= start && adopted[i].offset < skip.offset) skip = adopted[i];
        }
        copy(start, skip.offset, region.base, by_file);
        start = skip.offset + skip.bytes;
    }
}

static void copy_adopted(bool by_file) {
    for (int i = 0; i < passage.piece_count; i++) {
        const struct mapping *piece = &passage.pieces[i];
        char *start = (char *)piece->start; /* lies in one of them */
        size_t bytes = piece->end - piece->start;
        for (int k = 0; k < adopted_count; k++) {
            size_t inside = (size_t)(start - adopted[k].start), offset = adopted[k].offset + inside;
            if (inside >= adopted[k].bytes) continue;
            map_private(start, bytes);
            copy(offset, offset + bytes, start - offset, by_file);
            syscall(SYS_mprotect, start, bytes, piece->protection);
        }
    }
}

static void become_private(void) {
    passage.copied = true;
    if (!passage.alias) die("mortar: fork: no address space to copy the shared heap\n");
    bool by_file = region_fd_valid();
    struct extent extent = {0};
    while (region_used(extent.offset + extent.bytes, &extent)) {
        /* With the page on either side, which is spare or of the rim: in the parent it can be
         * read. */
        map_private(region.base + extent.offset - region.page, extent.bytes + 2 * region.page);
        copy_extent(extent, by_file);
    }
    copy_adopted(by_file);
    syscall(SYS_munmap, passage.alias, passage.bytes);
    if (by_file) syscall(SYS_close, region.fd);
    region_leave(-ECHILD, "a forked child has a private copy of the heap");
    if (passage.flag) atomic_store(passage.flag, 1);
    else syscall(SYS_write, passage.pipe[1], "", 1);
}

/* SIGSEGV while a fork is under way: the child's first touch of the region, or somebody else's
 * business. */
static void trap(int number, siginfo_t *info, void *context) {
    if (info->si_code == SEGV_MAPERR &&
        /* In the parent no part of it is unmapped. */
        (region_holds(info->si_addr) || adopted_holds(info->si_addr))) {
        int saved = errno;
        become_private();
        errno = saved;
    } else if (passage.action.sa_flags & SA_SIGINFO) {
        passage.action.sa_sigaction(number, info, context);
    } else if (passage.action.sa_handler != SIG_DFL && passage.action.sa_handler != SIG_IGN) {
        passage.action.sa_handler(number);
    } else {
        sigaction(SIGSEGV, &passage.action, NULL); /* faults again, and dies of it */
    }
}

static void block_signals(void) {
    sigset_t set;
    sigfillset(&set);
    const int faults[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGABRT};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) sigdelset(&set, faults[i]);
    pthread_sigmask(SIG_SETMASK, &set, &passage.mask);
}

static void advise_all(int advice) {
    syscall(SYS_madvise, region.base, region.bytes, advice);
    for (int i = 0; i < passage.piece_count; i++) {
        const struct mapping *piece = &passage.pieces[i];
        syscall(SYS_madvise, piece->start, piece->end - piece->start, advice);
    }
}

/* What is adopted may have been protected by the program, or mapped over: such private pages are
 * inherited as ever. Where the mappings cannot be read, or are too many, it is taken as it was. */
static void find_pieces(void) {
    passage.piece_count = 0;
    for (int i = 0; i < adopted_count; i++) {
        uintptr_t start = (uintptr_t)adopted[i].start, end = start + adopted[i].bytes;
        struct mapping *pieces = &passage.pieces[passage.piece_count];
        int room = most_pieces / most_adopted, count = mappings_between(start, end, pieces, room),
            kept = 0;
        if (count <= 0 || count == room) {
            pieces[0] = (struct mapping){
                .start = start, .end = end, .protection = PROT_READ | PROT_WRITE, .shared = true};
            count = 1;
        }
        for (int k = 0; k < count; k++)
            if (pieces[k].shared) pieces[kept++] = pieces[k];
        passage.piece_count += kept;
    }
}

static void fork_prepare(void) {
    if (region.bytes == 0) return;
    region_lock();
    passage.active = true;
    passage.copied = false;
    block_signals();
    passage.flag = NULL;
    find_pieces();
    if (pipe2(passage.pipe, O_CLOEXEC) != 0) {
        void *page = mmap(NULL, sizeof *passage.flag, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (page != MAP_FAILED) passage.flag = page;
    }
    struct extent extent = {0};
    while (region_used(extent.offset + extent.bytes, &extent)) continue;
    passage.bytes = extent.offset + extent.bytes;
    long alias = syscall(SYS_mremap, region.base, 0, passage.bytes, MREMAP_MAYMOVE, 0);
    passage.alias = alias == -1 ? NULL : (char *)alias;
    syscall(SYS_mprotect, passage.alias, passage.bytes, PROT_READ);
    /* RDMA libraries set the contrary on what they register. */
    syscall(SYS_madvise, passage.alias, passage.bytes, MADV_DOFORK);
    advise_all(MADV_DONTFORK);
    stack_t stack = {.ss_sp = trap_stack, .ss_size = sizeof trap_stack};
    /* Fails when fork is called on such a stack: then that serves. */
    passage.stacked = sigaltstack(&stack, &passage.stack) == 0;
    struct sigaction action = {.sa_sigaction = trap, .sa_flags = SA_SIGINFO | SA_ONSTACK};
    sigaction(SIGSEGV, &action, &passage.action);
}

static void restore(void) {
    sigaction(SIGSEGV, &passage.action, NULL);
    if (passage.stacked) sigaltstack(&passage.stack, NULL);
    if (passage.flag) {
        munmap(passage.flag, sizeof *passage.flag);
    } else {
        close(passage.pipe[0]);
        close(passage.pipe[1]);
    }
    passage.active = false;
    sigset_t mask = passage.mask;
    region_unlock();
    pthread_sigmask(SIG_SETMASK, &mask, NULL);
}

static void fork_parent(void) {
    if (!passage.active) return;
    int saved = errno;
    advise_all(MADV_DOFORK);
    syscall(SYS_munmap, passage.alias, passage.bytes);
    if (passage.flag) {
        /* Nothing tells whether there is a child, so not for ever. */
        const struct timespec nap = {.tv_nsec = 1000000};
        for (int naps = 0; naps < 60000 && atomic_load(passage.flag) == 0; naps++)
            nanosleep(&nap, NULL);
    } else {
        char byte;
        close(passage.pipe[1]); /* now end of file means that there is no child, or none any more */
        passage.pipe[1] = -1;
        while (read(passage.pipe[0], &byte, 1) < 0 && errno == EINTR) continue;
    }
    restore();
    errno = saved;
}

static void fork_child(void) {
    if (!passage.active) return;
    if (!passage.copied) become_private();
    restore();
}

int fork_watch(void) { return -pthread_atfork(fork_prepare, fork_parent, fork_child); }
