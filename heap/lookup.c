/* SPDX-License-Identifier: BSD-3-Clause */
/* lookup - dlsym. A program may look for free in the C library itself, as Python's ctypes does and
 * whatever calls C functions by their names. The block may be the heap's nevertheless: from strdup,
 * say, whose malloc is the heap's. So where dlsym would find the C library's malloc, or another
 * function that the heap defines, it finds the heap's; but not if the executable has a malloc of
 * its own, which may look for the one to call.
 *
 * UCX, libfabric and Open MPI look for mmap and its like in order to overwrite their code, so that
 * they learn what is unmapped. They find the C library's, as without the heap: what that calls
 * itself, to unmap the stacks of threads, they see only there. */
#define _GNU_SOURCE
#include "heap/jemalloc.h"
#include "heap/moved.h"
#include "heap/next.h"

#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int daemon(int stays_here, int keeps_files);
pid_t forkpty(int *, char *, const struct termios *, const struct winsize *);
int mlockall(int);

static const struct ours {
    const char *name;
    void (*function)(void);
    bool maps; /* mapped.c's */
} ours[] = {
#define OURS(name) {#name, (void (*)(void))name, false}
#define MAPS(name) {#name, (void (*)(void))name, true}
    OURS(malloc),        OURS(calloc),         OURS(realloc),            OURS(free),
    OURS(memalign),      OURS(posix_memalign), OURS(aligned_alloc),      OURS(valloc),
    OURS(pvalloc),       OURS(malloc_trim),    OURS(malloc_usable_size), OURS(mlockall),
    OURS(fork),          OURS(forkpty),        OURS(daemon),
    MAPS(mmap),          MAPS(mmap64),         MAPS(munmap),             MAPS(mremap),
    MAPS(madvise)
#undef OURS
#undef MAPS
};

/* What strcmp and strncmp tell: a sanitizer calls dlsym before it has those that it wants. */
static bool begins_with(const char *text, const char *beginning) {
    while (*beginning && *text == *beginning) text++, beginning++;
    return !*beginning;
}

static bool same(const char *one, const char *other) {
    return begins_with(one, other) && begins_with(other, one);
}

/* NULL: not what the heap defines. */
static const struct ours *ours_called(const char *name) {
    for (size_t i = 0; i < sizeof ours / sizeof *ours; i++)
        if (same(name, ours[i].name)) return &ours[i];
    return NULL;
}

/* Does this code belong to a library that overwrites functions? */
static bool overwrites(const void *code) {
    static const char *const known[] = {"libucm", "libfabric", "libopen-pal", "libmpi"};
    Dl_info library;
    if (dladdr(code, &library) == 0 || !library.dli_fname) return false;
    const char *file = library.dli_fname;
    for (const char *at = file; *at; at++)
        if (*at == '/') file = at + 1;
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (begins_with(file, known[i])) return true;
    return false;
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

static void *instead(void *library, const char *name, const void *caller) {
    const struct ours *found = ours_called(name);
    bool to_overwrite = found && found->maps && overwrites(caller);
    if (!found || ((library == RTLD_NEXT || library == RTLD_DEFAULT) && !to_overwrite)) return NULL;
    void *libc = next_libc(), *function, *theirs;
    if (!libc) return NULL;
    theirs = next_dlsym(libc, name);
    bool is_libcs = !to_overwrite && theirs && theirs == next_dlsym(library, name);
    dlclose(libc);
    if (to_overwrite) return theirs;
    memcpy(&function, &found->function, sizeof function);
    return is_libcs && (found->maps || arrives()) ? function : NULL;
}

/* RTLD_NEXT counts from the library to which the C library's dlsym returns: hence a jump. */
__attribute__((optimize("O2"))) void *dlsym(void *library, const char *name) {
    place_follow();
    void *function = instead(library, name, __builtin_return_address(0));
    return function ? function : their_dlsym()(library, name);
}
