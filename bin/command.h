/* SPDX-License-Identifier: BSD-3-Clause */
/* command.h - what the files of `mortar run` share. */
#ifndef COMMAND_H
#define COMMAND_H

#include "base/base.h"

/* A line that begins with "mortar: ", and the end, with exit code 2. */
void __attribute__((noreturn, format(printf, 1, 2))) fail(const char *format, ...);
/* Such a line, of the first rank alone. */
void __attribute__((format(printf, 1, 2))) say(const char *format, ...);
/* Nobody frees it. */
char *__attribute__((format(printf, 1, 2))) text(const char *format, ...);
/* An environment variable. */
void set(const char *name, const char *value);

/* suit.c: can mortar's libraries be loaded into this program, which the user calls `word`? Says
 * what it will lack, and sets what it needs. */
bool suits(const char *word, const struct program_facts *facts);

#endif
