/* SPDX-License-Identifier: BSD-3-Clause */
/* lookup - functions that the program looks for in the C library itself: a block of the heap can be
 * given to that free, and all that is looked for elsewhere is found as ever. */
#define _GNU_SOURCE
#include "heap_test.h"

#include <gnu/lib-names.h>

static void find(void *function, void *library, const char *name) {
    void *found = dlsym(library, name);
    memcpy(function, &found, sizeof found);
}

/* strdup's malloc is the heap's. */
static void blocks(void *libc) {
    char *(*copy)(const char *) = NULL;
    void (*give)(void *) = NULL;
    void *(*longer)(void *, size_t) = NULL;
    void *(*take)(size_t) = NULL;
    find(&copy, libc, "strdup");
    find(&give, libc, "free");
    find(&longer, libc, "realloc");
    find(&take, libc, "malloc");
    for (size_t bytes = 1; bytes < 1 << 20; bytes *= 2) {
        char *text = malloc(bytes + 1);
        memset(text, 'x', bytes);
        text[bytes] = 0;
        char *second = copy(text), *third = take(bytes + 1);
        expect(strcmp(second, text) == 0, "a copy");
        second = longer(second, 2 * bytes + 1);
        expect(strcmp(second, text) == 0, "a longer one");
        give(second);
        give(text);
        free(third);
    }
}

/* What comes next depends on who asks. */
static void others(void *libc) {
    expect(dlsym(libc, "puts") == dlsym(RTLD_DEFAULT, "puts"), "puts");
    expect(dlsym(libc, "no_such_name") == NULL, "nothing");
    expect(dlsym(RTLD_NEXT, "malloc") == dlsym(RTLD_DEFAULT, "malloc"), "the heap's comes next");
}

/* Another library's function of such a name. */
static void plugins(void) {
    int (*its)(int) = NULL;
    void *plugin = dlopen(PLUGIN, RTLD_NOW);
    find(&its, plugin, "mlockall");
    expect(its && its(-7) == 993, "the plugin's own function");
    dlclose(plugin);
}

static bool is_in(const void *function, const char *file) {
    Dl_info library;
    return dladdr(function, &library) && strstr(library.dli_fname, file);
}

/* UCX and its like overwrite these functions: the C library's, as without the heap. Others who look
 * for them find the heap's. */
static void overwriters(void *libc) {
    static const char *const names[] = {"mmap", "mmap64", "munmap", "mremap", "madvise"};
    static const char *const files[] = {PLUGIN, UCM};
    for (int which = 0; which < 2; which++) {
        void *(*finds)(void *, const char *) = NULL;
        void *plugin = dlopen(files[which], RTLD_NOW);
        find(&finds, plugin, "plugin_finds");
        for (size_t i = 0; finds && i < sizeof names / sizeof *names; i++) {
            const char *file = which == 1 ? "libc.so" : "libmortar-heap";
            expect(is_in(finds(libc, names[i]), file), "what is found in the C library");
            expect(is_in(finds(RTLD_DEFAULT, names[i]), file), "what is found first");
            expect(is_in(finds(RTLD_NEXT, names[i]), "libc.so"), "what comes next");
        }
        expect(finds && is_in(finds(libc, "free"), "libmortar-heap"), "free is the heap's");
        dlclose(plugin);
    }
}

int main(void) {
    void *libc = dlopen(LIBC_SO, RTLD_LAZY);
    blocks(libc);
    others(libc);
    plugins();
    overwriters(libc);
    return failures > 0;
}
