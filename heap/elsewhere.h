/* SPDX-License-Identifier: BSD-3-Clause */
/* elsewhere.h - running a function on another stack. */
#ifndef HEAP_ELSEWHERE_H
#define HEAP_ELSEWHERE_H

#include <stdbool.h>
#include <stddef.h>

/* Runs run(state) on the stack of so many bytes that begins at `stack`, aligned to 16. A child that
 * is forked there comes back as well. False: it has not run. */
bool run_elsewhere(char *stack, size_t bytes, void (*run)(void *state), void *state);

#endif
