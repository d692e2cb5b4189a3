/* SPDX-License-Identifier: BSD-3-Clause */
/* blocks - which of malloc's blocks are jemalloc's (blocks.h). */
#define _GNU_SOURCE
#include "heap/blocks.h"

#include "heap/elsewhere.h"
#include "heap/jemalloc.h"
#include "heap/next.h"

#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/sysinfo.h>
#include <unistd.h>

static void first_free(void *memory);

struct blocks blocks = {
    .length = long_block,
    .most = SIZE_MAX,
    .theirs = {__libc_malloc, first_free, __libc_calloc, __libc_realloc, __libc_memalign},
};

/* Of a block that came from an allocator's own function: the others begin by themselves. */
static void first_free(void *memory) {
    begin();
    blocks.theirs.free(memory);
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static atomic_bool decided;
/* Of the process that may decide: a child of vfork has its parent's memory, and must not decide for
 * it. 0: the fork handlers are not there, so nobody may. */
static pid_t process;

void blocks_lock(void) { pthread_mutex_lock(&lock); }

void blocks_unlock(void) { pthread_mutex_unlock(&lock); }

void blocks_leave(void) {
    blocks.from = 0;
    blocks.length = SIZE_MAX;
}

void blocks_in_child(void) {
    process = getpid();
    child_begins();
}

/* When the library is loaded, or earlier, if an earlier one's constructor calls malloc. */
__attribute__((constructor)) void blocks_begin(void) {
    if (blocks.begun) return;
    blocks.begun = true; /* first: to register handlers may call malloc */
    region_settings();
    blocks.theirs.free = __libc_free;
    next_find();
    if (fork_watch() == 0) process = getpid();
}

/* ---- the start ---- */

static void start_jemalloc(void *state) {
    (void)state;
    je_free(je_malloc(long_block));
}

static size_t memory_of_system(void) {
    struct sysinfo system;
    if (sysinfo(&system) != 0) return SIZE_MAX;
    return (system.totalram + system.totalswap) * system.mem_unit;
}

/* To start takes 12 KiB of stack, where the C library's malloc never takes more than 2. A thread's
 * may not have them, nor a coroutine's. The first stack has. Signals wait meanwhile: a handler may
 * need more. The lock is held. */
static void start(void) {
    enum { shallow = 1 << 20, bytes = 64 << 10 };
    static _Alignas(16) char stack[bytes];
    char here;
    sigset_t all, before;
    bool deep = (uintptr_t)__libc_stack_end - (uintptr_t)&here >= shallow;
    sigfillset(&all);
    if (deep) pthread_sigmask(SIG_SETMASK, &all, &before);
    if (!deep || !run_elsewhere(stack, bytes, start_jemalloc, NULL)) start_jemalloc(NULL);
    if (deep) pthread_sigmask(SIG_SETMASK, &before, NULL);
}

bool blocks_decide(void) {
    begin();
    if (atomic_load_explicit(&decided, memory_order_acquire) || getpid() != process)
        return blocks.serves;
    blocks_lock();
    if (!atomic_load(&decided)) {
        bool opened = region_open();
        if (opened) blocks.most = memory_of_system(), start();
        else blocks_leave();
        __atomic_store_n(&blocks.serves, opened, __ATOMIC_RELEASE);
        atomic_store_explicit(&decided, true, memory_order_release);
    }
    blocks_unlock();
    return blocks.serves;
}

void mortar_heap_begin(void) {
    if (!blocks_serve() || region_stands_aside()) return;
    blocks.length = middle_end - middle_block;
    blocks.from = middle_block;
}
