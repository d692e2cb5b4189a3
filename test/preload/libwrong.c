/* SPDX-License-Identifier: BSD-3-Clause */
/* libwrong - a memcpy that makes one mistake: in the rank that the variable WRONG_RANK names, of
 * the first copy by mortar of exactly WRONG_BYTES bytes that begin with 0x5a, or of the one after
 * WRONG_AFTER such copies, the middle byte comes out wrong. It stands for an error in mortar. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

void *memcpy(void *restrict to, const void *restrict from, size_t bytes);

/* Volatile: the compiler would make a memcpy of it. */
static void *(*volatile move)(void *, const void *, size_t) = memmove;

static int is_here(void) {
    const char *names[] = {"OMPI_COMM_WORLD_RANK", "PMI_RANK"}, *wanted = getenv("WRONG_RANK");
    for (int i = 0; i < 2; i++)
        if (getenv(names[i])) return wanted && atoi(getenv(names[i])) == atoi(wanted);
    return 0;
}

static int is_mortars(void *caller) {
    Dl_info info;
    return dladdr(caller, &info) && info.dli_fname && strstr(info.dli_fname, "libmortar-");
}

void *memcpy(void *restrict to, const void *restrict from, size_t bytes) {
    static int made, seen;
    const char *wanted = bytes > 64 && !made ? getenv("WRONG_BYTES") : NULL;
    int wrong = wanted && *(const unsigned char *)from == 0x5a && bytes == (size_t)atol(wanted) &&
                is_here() && is_mortars(__builtin_return_address(0));
    move(to, from, bytes);
    const char *after = wrong ? getenv("WRONG_AFTER") : NULL;
    if (after && seen++ < atoi(after)) return to;
    if (wrong) made = 1, ((char *)to)[bytes / 2] ^= 0x21;
    return to;
}
