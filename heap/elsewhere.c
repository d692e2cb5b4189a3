/* SPDX-License-Identifier: BSD-3-Clause */
#include "heap/elsewhere.h"

#include <stdint.h>
#include <ucontext.h>

/* At the stack's lower end. */
struct elsewhere {
    ucontext_t back, there;
    void (*run)(void *);
    void *state;
};

/* makecontext passes ints. */
static void enter(unsigned high, unsigned low) {
    struct elsewhere *e = (void *)((uintptr_t)high << 16 << 16 | low);
    e->run(e->state);
}

bool run_elsewhere(char *stack, size_t bytes, void (*run)(void *state), void *state) {
    struct elsewhere *e = (struct elsewhere *)(void *)stack;
    e->run = run;
    e->state = state;
    if (getcontext(&e->there) != 0) return false;
    e->there.uc_link = &e->back;
    e->there.uc_stack = (stack_t){.ss_sp = stack + sizeof *e, .ss_size = bytes - sizeof *e};
    makecontext(&e->there, (void (*)(void))enter, 2, (unsigned)((uintptr_t)e >> 16 >> 16),
                (unsigned)(uintptr_t)e);
    return swapcontext(&e->back, &e->there) == 0;
}
