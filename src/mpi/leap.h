/* SPDX-License-Identifier: BSD-3-Clause */
/* leap.h - leaving functions that have not returned, as by setjmp and longjmp. Every short call of
 * MPI sets a way out, and few are taken, so it is the compiler's where it has one: three words are
 * kept instead of eight, and no function of another library is called. The sanitizers have to see a
 * leap, and know setjmp only. */
#ifndef MORTAR_LEAP_H
#define MORTAR_LEAP_H

#if defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&                  \
    !defined(__SANITIZE_THREAD__)
struct way_out {
    void *words[5]; /* as many as GCC wants; the last two are for machines with two stacks */
};
/* Is 0 now, and 1 when `leap` has come back here. As with setjmp the function must not have
 * returned, and its variables that have changed since then are undefined. */
#define IS_BACK(way_out) __builtin_setjmp((way_out).words)
static inline _Noreturn void leap(struct way_out *way_out) { __builtin_longjmp(way_out->words, 1); }
#else
#include <setjmp.h>
struct way_out {
    jmp_buf state;
};
#define IS_BACK(way_out) _setjmp((way_out).state)
static inline _Noreturn void leap(struct way_out *way_out) { _longjmp(way_out->state, 1); }
#endif

#endif
