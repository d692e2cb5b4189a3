/* SPDX-License-Identifier: BSD-3-Clause */
/* unit.h - what the tests without MPI share: expectations, random numbers from a printed seed,
 * memory between guard pages, and running a piece of a test in a child process. */
#ifndef MORTAR_UNIT_H
#define MORTAR_UNIT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Ends the test with exit code 1 and the message, unless it is fine. */
void expect(bool fine, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* The test's seed: its first argument, or the clock where that is missing or 0. Prints it, so that
 * a failure can be repeated. */
uint64_t seed_from(int count, char **words);

/* A generator is one number; equal numbers draw equal sequences. */
uint64_t draw(uint64_t *random);
/* Uniform in 0 .. bound-1. */
uint32_t draw_below(uint64_t *random, uint32_t bound);
/* 1 .. most, short ones and powers of two more often than others. */
size_t draw_bytes(uint64_t *random, size_t most);

/* Takes the next text of a list that is written with | between; false at its end. */
bool next_text(const char **list, char text[128]);

/* Readable and writable bytes, a multiple of the page size, between two pages that may not be
 * touched. Never freed. */
char *guarded(size_t bytes);

/* Runs body(argument) in a child process and hears what it writes to standard error, each write by
 * itself. */
struct heard {
    int status; /* as waitpid gives it */
    int writes;
    char text[16][1024]; /* the first writes, each ended by a zero */
};
void in_child(void (*body)(void *), void *argument, struct heard *heard);
/* For children: a fault kills instead of telling a sanitizer. */
void faults_kill(void);

#endif
