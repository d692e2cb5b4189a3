/* SPDX-License-Identifier: BSD-3-Clause */
/* late - a program that is not linked to MPI. It loads the MPI library privately, then a plugin
 * that uses it, as interpreters do. usage: late MPI-LIBRARY PLUGIN */
#include <dlfcn.h>
#include <stdio.h>

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    if (!dlopen(argv[1], RTLD_NOW | RTLD_LOCAL)) return fprintf(stderr, "late: %s\n", dlerror()), 1;
    void *plugin = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
    int (*run)(void) = plugin ? (int (*)(void))dlsym(plugin, "run") : NULL;
    if (!run) return fprintf(stderr, "late: %s\n", dlerror()), 1;
    return run();
}
