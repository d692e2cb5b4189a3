/* SPDX-License-Identifier: BSD-3-Clause */
/* threads - the threads of a scene take turns on one processor, each on a stack of its own. */
#define _GNU_SOURCE
#include "inside.h"

#include <setjmp.h>
#include <string.h>
#include <ucontext.h>

enum { stack_bytes = 256 << 10 };

int current = -1;
static int count;
static void (*body)(int thread);
static jmp_buf visitor;
static struct fiber {
    jmp_buf first, at; /* where it begins, and where it goes on */
    ucontext_t context;
    _Alignas(64) char stack[stack_bytes];
} fibers[most_threads];
static ucontext_t back;

static void fiber_main(int thread) {
    if (_setjmp(fibers[thread].first) == 0) swapcontext(&fibers[thread].context, &back);
    for (;;) {
        body(thread);
        threads_leave();
    }
}

void threads_begin(int threads, void (*run)(int thread)) {
    count = threads;
    body = run;
    for (int t = 0; t < count; t++) {
        struct fiber *fiber = &fibers[t];
        getcontext(&fiber->context);
        fiber->context.uc_stack.ss_sp = fiber->stack;
        fiber->context.uc_stack.ss_size = stack_bytes;
        makecontext(&fiber->context, (void (*)(void))fiber_main, 1, t);
        swapcontext(&back, &fiber->context);
    }
}

void threads_restart(void) {
    current = -1;
    for (int t = 0; t < count; t++) memcpy(&fibers[t].at, &fibers[t].first, sizeof(jmp_buf));
}

void thread_go_on(int thread) {
    current = thread;
    if (_setjmp(visitor) == 0) _longjmp(fibers[thread].at, 1);
    current = -1;
}

void threads_leave(void) {
    if (_setjmp(fibers[current].at) == 0) _longjmp(visitor, 1);
}
