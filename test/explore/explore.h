/* SPDX-License-Identifier: BSD-3-Clause */
/* explore.h - every execution that the C11 memory model allows, for a few threads that stand for
 * ranks and run mortar's own functions.
 *
 * The sources are compiled as for the thread sanitizer: the compiler then calls a function for
 * every atomic operation and for every access to memory. Here these functions (hooks.c) are not the
 * sanitizer's. They build the graph of one execution: its atomic reads, writes and fences, from
 * which write each read takes its value, and the order of the writes to each word. visit.c visits
 * each graph that model.c finds consistent, once. So a read may return an old value, as on a weakly
 * ordered processor. Accesses that are not atomic happen in plain memory; race.c reports two
 * that nothing orders.
 *
 * The search is TruSt (Kokologiannakis, Marmanis, Gladstein, Vafeiadis: Truly stateless, optimal
 * dynamic partial order reduction, POPL 2022), as in GenMC. The model is RC11 (Lahav et al.,
 * Repairing sequential consistency in C/C++11, PLDI 2017) with release sequences as in C++20.
 * litmus.c tests both: on small programs whose outcomes are known, and against a search that simply
 * tries all interleavings.
 *
 * A thread sleeps in the kernel as futexes do (hooks.c), but without a time limit: a wake-up that
 * is lost leaves it there, which is an error ("nobody wakes"). */
#ifndef EXPLORE_H
#define EXPLORE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { most_threads = 4 };

struct scene {
    const char *name;
    /* Before each execution, outside of all threads: takes shared memory, and resets the rest. */
    void (*begin)(void);
    void (*run)(int thread);
    /* After each complete execution; may be NULL. */
    void (*end)(void);
};
/* A file of scenes defines these. */
extern const struct scene scenes[];
extern const int scene_count;

/* The command line, explore SCENE THREADS [NUMBER...] [reported]. A number that is missing is 0. */
int scene_threads(void);
int scene_number(int index);
bool scene_reported(void);

/* Shared memory, zero at first; the same address in each execution. For `begin`. */
void *share(size_t bytes);
/* What messages call this memory. For `begin`. */
void name_memory(const void *memory, size_t bytes, const char *name);

/* A scene whose sources make other system calls than futexes defines it. */
long scene_syscall(long number, va_list list);

/* In a thread. */
int thread_now(void);
void expect(bool fine, const char *what);
/* Waits until the word differs from `old`, and returns it, as by loads that acquire. */
uint32_t await_change(const volatile void *word, uint32_t old);
/* For outcomes of litmus tests, for `end`: the value that the last write to the word left. */
uint64_t word_at_end(const volatile void *word, unsigned bytes);
/* Counts different outcomes; for `end`. */
void outcome(uint64_t value);

#endif
