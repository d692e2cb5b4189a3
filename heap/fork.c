/* SPDX-License-Identifier: BSD-3-Clause */
/* fork - shared memory is not copied on write, so a forked child gets a private copy of region and
 * adopted data, at the same addresses, while its parent waits: 0.3 to 1 s per resident GiB. vfork,
 * posix_spawn, system and popen do none of this.
 *
 * Our handlers are registered first. So ours is the last to prepare, when jemalloc holds its locks
 * and its metadata do not change, and the first in the child. But glibc's fork itself stores to
 * malloc'ed memory in the child before any handler runs (it resets the locks of open files and
 * clears the thread-specific data of other threads), and the forking thread's stack may be
 * malloc'ed. Therefore the child does not inherit the region: its first touch traps, and the trap
 * makes the copy. Until then the child makes system calls directly, because libc's wrappers may be
 * hooked by code whose data lie in the heap.
 *
 * _Fork, and fork or clone by a direct system call, run no handlers: such a child shares the
 * region. If children never inherited it, none could write to its parent's heap. But most children
 * only read it, for exec's arguments, and that would fail with EFAULT. */
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

/* State from prepare to the end of the parent's and the child's handler, under the region's
 * lock. */
static struct {
    bool active, copied;
    char *alias; /* second mapping of the region's used part, which the child inherits */
    size_t bytes;
    int pipe[2];
    atomic_int *flag; /* instead of the pipe, if no descriptor is left */
    bool stacked;
    stack_t stack;
    struct sigaction action;
    sigset_t mask;
    struct mapping pieces[most_pieces]; /* adopted data, as mapped at present */
    int piece_count;
} passage;

static char trap_stack[64 << 10];

static void die(const char *text) {
    syscall(SYS_write, STDERR_FILENO, text, strlen(text));
    syscall(SYS_exit_group, 127);
}

/* Maps private memory where the child did not inherit the shared memory. */
static void map_private(char *start, size_t bytes) {
    long map = syscall(SYS_mmap, start, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE, -1, 0);
    if ((char *)map != start) die("mortar: fork: no memory to copy the shared heap\n");
}

/* Copies the file's bytes from start to end to memory where `base` is offset 0. Skips holes. */
static void copy(size_t start, size_t end, char *base, bool by_file) {
    while (by_file && start < end) {
        long data = syscall(SYS_lseek, region.fd, start, SEEK_DATA);
        if (data < 0 || (size_t)data >= end) return;
        size_t hole = (size_t)syscall(SYS_lseek, region.fd, data, SEEK_HOLE);
        if (hole > end) hole = end;
        size_t bytes = hole - (size_t)data;
        /* Huge pages halve the time, if the system gives them. */
        if (bytes >= 4 << 20) syscall(SYS_madvise, base + data, bytes, MADV_HUGEPAGE);
        memcpy(base + data, passage.alias + data, bytes);
        start = hole;
    }
    for (; start < end; start += 4096) { /* the program closed the descriptor */
        if (!blank(passage.alias + start, 4096)) memcpy(base + start, passage.alias + start, 4096);
    }
}

/* Copies an extent without adopted data, which the child never accesses through the region. */
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
        char *start = (char *)piece->start; /* lies in one adopted range */
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
        /* Includes the page on either side, of a fence or the rim, which is readable in the
         * parent. */
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

/* SIGSEGV during a fork: the child's first touch of the region, or a fault of the program. */
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
        sigaction(SIGSEGV, &passage.action, NULL); /* the fault repeats and ends the process */
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

/* Finds the adopted data that are still shared. The program may have mapped private pages over
 * some, which a child inherits as usual. If the mappings cannot be read, or are too many, the whole
 * range counts as adopted. */
static void find_pieces(void) {
    passage.piece_count = 0;
    for (int i = 0; i < adopted_count; i++) {
        uintptr_t start = (uintptr_t)adopted[i].start, end = start + adopted[i].bytes;
        struct mapping *pieces = &passage.pieces[passage.piece_count];
        int room = most_pieces / most_adopted, kept = 0;
        int count = mappings_between(start, end, pieces, room);
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
    /* RDMA libraries may have set MADV_DONTFORK on memory that they registered. */
    syscall(SYS_madvise, passage.alias, passage.bytes, MADV_DOFORK);
    advise_all(MADV_DONTFORK);
    stack_t stack = {.ss_sp = trap_stack, .ss_size = sizeof trap_stack};
    /* Fails if fork is called on an alternate stack; then that one is used. */
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
        /* Not for ever, because nothing tells whether there is a child. */
        const struct timespec nap = {.tv_nsec = 1000000};
        for (int naps = 0; naps < 60000 && atomic_load(passage.flag) == 0; naps++)
            nanosleep(&nap, NULL);
    } else {
        char byte;
        close(passage.pipe[1]); /* from now on end of file means: no child, or it died */
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
