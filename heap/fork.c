/* SPDX-License-Identifier: BSD-3-Clause */
/* fork - shared memory is not copied on write, so a forked child gets a private copy of what has
 * moved (moved.c), at the same addresses, while its parent waits: 0.3 to 1 s per GiB. All other
 * memory is copied on write, as without mortar. vfork, posix_spawn, system and popen do none of
 * this.
 *
 * Our handlers are registered first (blocks.h). So they are the last to prepare, and the first in
 * the child: other libraries' use malloc. But a child may touch what has moved before any handler
 * runs: glibc's fork itself stores to malloc'ed memory, and the forking thread's stack may be
 * malloc'ed. As the child does not inherit what has moved, its first touch traps, and the trap
 * makes the copy. Until then the child makes system calls directly, because libc's wrappers may be
 * hooked by code whose data have moved.
 *
 * If the forking thread runs on pages that have moved, as main may whose buffers lie on the stack,
 * parent and child would leave the system call on the same pages, and the parent go on to write
 * there. So fork is defined here, with forkpty and daemon, and runs on a stack of its own then.
 *
 * _Fork, and fork or clone by a direct system call, run no handlers: such a child gets SIGSEGV if
 * it touches what has moved, and cannot harm its parent. */
#define _GNU_SOURCE
#include "base/base.h"
#include "heap/blocks.h"
#include "heap/elsewhere.h"
#include "heap/moved.h"
#include "heap/next.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* State from prepare to the end of the parent's and the child's handler, under the region's
 * lock. */
static struct {
    bool entered; /* the lock is held */
    bool active;  /* something has moved */
    bool copied;
    int pipe[2];
    atomic_int *flag; /* instead of the pipe, if no descriptor is left */
    bool stacked;
    stack_t stack;
    struct sigaction action;
    sigset_t mask;
} passage;

static char trap_stack[64 << 10];

static void die(const char *text) {
    syscall(SYS_write, STDERR_FILENO, text, strlen(text));
    syscall(SYS_exit_group, 127);
}

/* Maps private memory where the child did not inherit the shared memory. */
static void map_private(char *start, size_t bytes) {
    long map = syscall(SYS_mmap, start, bytes, place_protection(start),
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
        memcpy(base + data, moved.alias + data, bytes);
        start = hole;
    }
    for (; start < end; start += 4096) { /* the program closed the descriptor */
        if (!blank(moved.alias + start, 4096)) memcpy(base + start, moved.alias + start, 4096);
    }
}

static void become_private(void) {
    struct extent run = {0};
    char *address;
    bool by_file = region_fd_valid();
    passage.copied = true;
    while (moved_next(run.offset + run.bytes, &run, &address)) {
        map_private(address, run.bytes);
        copy(run.offset, run.offset + run.bytes, address - run.offset, by_file);
    }
    syscall(SYS_munmap, moved.alias, region.bytes);
    if (by_file) syscall(SYS_close, region.fd);
    region_leave(-ECHILD, "a forked child has a private copy of the heap");
    if (passage.flag) atomic_store(passage.flag, 1);
    else syscall(SYS_write, passage.pipe[1], "", 1);
}

/* SIGSEGV during a fork: the child's first touch of the region, or a fault of the program. */
static void trap(int number, siginfo_t *info, void *context) {
    /* In the parent none of it is unmapped. */
    if (info->si_code == SEGV_MAPERR && !passage.copied && moved_holds(info->si_addr)) {
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

/* Once in a program: it may wonder where the time goes. */
static void tell_of_cost(void) {
    enum { worth_telling = 64 << 20 };
    static bool told;
    struct stat facts;
    if (told || moved.bytes < worth_telling || !region_fd_valid()) return;
    size_t held = fstat(region.fd, &facts) == 0 ? (size_t)facts.st_blocks * 512 : 0;
    if (held < worth_telling) return;
    told = true;
    warn("fork copies the %zu MiB that collectives have used; posix_spawn and vfork do not, and "
         "MORTAR_HEAP=off leaves all memory private",
         held >> 20);
}

static void fork_prepare(void) {
    place_follow();
    region_lock();
    passage.entered = true;
    passage.active = region.bytes > 0 && moved.bytes > 0;
    if (!passage.active) return;
    tell_of_cost();
    passage.copied = false;
    block_signals();
    passage.flag = NULL;
    if (pipe2(passage.pipe, O_CLOEXEC) != 0) {
        void *page = mmap(NULL, sizeof *passage.flag, PROT_READ | PROT_WRITE,
                          MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (page != MAP_FAILED) passage.flag = page;
    }
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
    if (!passage.entered) return;
    passage.entered = false;
    if (!passage.active) {
        region_unlock();
        return;
    }
    int saved = errno;
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
    if (!passage.entered) return;
    passage.entered = false;
    if (!passage.active) {
        if (region.bytes > 0) { /* nothing is shared yet, and nothing will be */
            if (moved.alias) syscall(SYS_munmap, moved.alias, region.bytes);
            if (region_fd_valid()) syscall(SYS_close, region.fd);
            region_leave(-ECHILD, "a forked child has a heap of its own");
        }
        region_unlock();
        return;
    }
    if (!passage.copied) become_private();
    restore();
}

/* ---- the handlers ---- */

/* jemalloc would take its locks before a fork, and asks for that when it starts (child.c). */
int __wrap_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void));

int __wrap_pthread_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void)) {
    (void)prepare, (void)parent, (void)child;
    return 0;
}

static void prepare(void) {
    blocks_lock();
    fork_prepare();
}

static void in_parent(void) {
    fork_parent();
    blocks_unlock();
}

static void in_child(void) {
    fork_child();
    blocks_in_child();
    blocks_unlock();
}

int fork_watch(void) { return -pthread_atfork(prepare, in_parent, in_child); }

/* ---- on a stack that has moved ---- */

/* What fork and its handlers write before the child has its copy lies near here. */
static bool runs_on_moved_pages(void) {
    enum { near = 64 << 10 };
    char here;
    uintptr_t top = (uintptr_t)&here + region.page, at = top - near;
    for (; at < top; at += region.page)
        if (moved_holds((void *)at)) return true;
    return false;
}

/* Runs a function that forks; errno is as it left it. What it stores comes behind the handlers, so
 * the child stores into its copy. Without memory for a stack it does not run, with ENOMEM. */
static void run_forking(void (*run)(void *state), void *state) {
    enum { bytes = 1 << 20 };
    begin();
    if (!moved.bits || !runs_on_moved_pages()) {
        run(state);
        return;
    }
    char *stack = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (stack == MAP_FAILED) return;
    run_elsewhere(stack, bytes, run, state);
    munmap(stack, bytes);
}

static void fork_there(void *child) { *(pid_t *)child = next.fork(); }

pid_t fork(void) {
    pid_t child = -1;
    run_forking(fork_there, &child);
    return child;
}

struct terminal {
    int *master;
    char *name;
    const struct termios *settings;
    const struct winsize *size;
    pid_t child;
};

static void forkpty_there(void *state) {
    struct terminal *t = state;
    if (next.forkpty) t->child = next.forkpty(t->master, t->name, t->settings, t->size);
    else errno = ENOSYS;
}

pid_t forkpty(int *master, char *name, const struct termios *settings, const struct winsize *size) {
    struct terminal t = {master, name, settings, size, -1};
    run_forking(forkpty_there, &t);
    return t.child;
}

struct leaving {
    int stays_here, keeps_files, result;
};

static void daemon_there(void *state) {
    struct leaving *l = state;
    l->result = next.daemon(l->stays_here, l->keeps_files);
}

int daemon(int stays_here, int keeps_files) {
    struct leaving l = {stays_here, keeps_files, -1};
    run_forking(daemon_there, &l);
    return l.result;
}
