/* SPDX-License-Identifier: BSD-3-Clause */
/* late - a program that is not linked to MPI. It asks something of mortar, loads the MPI library
 * privately, then a plugin that uses it, as interpreters do. usage: late MPI-LIBRARY PLUGIN */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>

int main(int argc, char **argv) {
    if (argc != 3) return 2;
    int (*plan)(const char *) = (int (*)(const char *))dlsym(RTLD_DEFAULT, "mortar_plan");
    if (plan && plan("cico") != -ENOSYS) return fprintf(stderr, "late: there is no MPI yet\n"), 1;
    if (!dlopen(argv[1], RTLD_NOW | RTLD_LOCAL)) return fprintf(stderr, "late: %s\n", dlerror()), 1;
    void *plugin = dlopen(argv[2], RTLD_NOW | RTLD_LOCAL);
    int (*run)(void) = plugin ? (int (*)(void))dlsym(plugin, "run") : NULL;
    if (!run) return fprintf(stderr, "late: %s\n", dlerror()), 1;
    return run();
}
