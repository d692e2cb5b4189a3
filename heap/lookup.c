/* SPDX-License-Identifier: BSD-3-Clause */
/* lookup - dlsym. A program may look for free in the C library itself, as Python's ctypes does and
 * whatever calls C functions by their names. The block may be the heap's nevertheless: from strdup,
 * say, whose malloc is the heap's. So where dlsym would find the C library's malloc, or another
 * function that the heap defines, it finds the heap's; but not if the executable has a malloc of
 * its own, which may look for the one to call. */
#define _GNU_SOURCE
#include "heap/jemalloc.h"
#include "heap/moved.h"
#include "heap/next.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

int daemon(int stays_here, int keeps_files);
pid_t forkpty(int *, char *, const struct termios *, const struct winsize *);
int mlockall(int);

static const struct {
    const char *name;
    void (*function)(void);
} ours[] = {
#define OURS(name) {#name, (void (*)(void))name}
    OURS(malloc),        OURS(calloc),         OURS(realloc),            OURS(free),
    OURS(memalign),      OURS(posix_memalign), OURS(aligned_alloc),      OURS(valloc),
    OURS(pvalloc),       OURS(malloc_trim),    OURS(malloc_usable_size), OURS(mlockall),
    OURS(fork),          OURS(forkpty),        OURS(daemon)
#undef OURS
};

/* NULL: not what the heap defines. */
static void *ours_called(const char *name) {
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++) {
        void *function;
        memcpy(&function, &ours[i].function, sizeof function);
        if (strcmp(name, ours[i].name) == 0) return function;
    }
    return NULL;
}

/* The C library's dlsym, by a function that has no namesake here. */
static void *(*their_dlsym(void))(void *, const char *) {
    static void *(*found)(void *, const char *);
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.27", "GLIBC_2.17", "GLIBC_2.2.5"};
    for (size_t i = 0; i < sizeof versions / sizeof *versions && !found; i++) {
        void *symbol = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
        memcpy(&found, &symbol, sizeof found);
    }
    return found;
}

void *next_dlsym(void *library, const char *name) { return their_dlsym()(library, name); }

static void *instead(void *library, const char *name) {
    void *function = library == RTLD_NEXT || library == RTLD_DEFAULT ? NULL : ours_called(name);
    void *libc = function ? next_libc() : NULL;
    if (!libc) return NULL;
    void *found = next_dlsym(library, name);
    bool is_libcs = found && found == next_dlsym(libc, name);
    dlclose(libc);
    return is_libcs && arrives() ? function : NULL;
}

/* RTLD_NEXT counts from the library to which the C library's dlsym returns: hence a jump. */
__attribute__((optimize("O2"))) void *dlsym(void *library, const char *name) {
    place_follow();
    void *function = instead(library, name);
    return function ? function : their_dlsym()(library, name);
}
