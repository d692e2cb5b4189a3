/* SPDX-License-Identifier: BSD-3-Clause */
/* stubs - a program without MPI that loads plug-ins (stub.c) privately, closes them and loads them
 * in turn; or calls what nobody has but mortar. usage: stubs [PLUGIN [ANOTHER]] */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>

static void *open_it(const char *path) {
    void *plugin = dlopen(path, RTLD_LAZY | RTLD_LOCAL);
    if (!plugin) fprintf(stderr, "stubs: %s\n", dlerror());
    return plugin;
}

static bool is_right(void *plugin, const char *name) {
    bool (*ask)(void) = plugin ? (bool (*)(void))dlsym(plugin, name) : NULL;
    bool right = ask && ask();
    if (!right) fprintf(stderr, "stubs: %s is wrong\n", name);
    return right;
}

int main(int argc, char **argv) {
    if (argc < 2) {
        int (*barrier)(int) = (int (*)(int))dlsym(RTLD_DEFAULT, "MPI_Barrier");
        return barrier ? barrier(0) : 2;
    }
    void *first = open_it(argv[1]), *second = argc > 2 ? open_it(argv[2]) : NULL;
    if (!second) { /* whose call it is shows only where there is one that it can be */
        int data = 0, (*jumps)(int *) = first ? (int (*)(int *))dlsym(first, "jumps") : NULL;
        int added = jumps ? jumps(&data) : 0;
        if (!added || jumps(&data) != added || data != 2 * added)
            return fprintf(stderr, "stubs: jumps is wrong\n"), 1;
    }
    if (!is_right(first, "begins") || (second && !is_right(second, "begins"))) return 1;
    for (int i = 0; i < 20; i++) {
        if (!is_right(first, "runs") || (second && !is_right(second, "runs"))) return 1;
        if (i % 3 != 0) continue;
        dlclose(first);
        first = second ? second : open_it(argv[1]);
        second = second ? open_it(argv[1 + i % 2]) : NULL;
    }
    printf("all theirs\n");
    return 0;
}
