/* SPDX-License-Identifier: BSD-3-Clause */
/* handle - a program that gets all its MPI functions by dlsym on the handle of a library, as Julia
 * and Python's ctypes do. usage: handle LIBRARY */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

static void *library;

static void *function(const char *name) {
    void *found = dlsym(library, name);
    if (found) return found;
    fprintf(stderr, "handle: %s\n", dlerror());
    exit(1);
}

int main(int argc, char **argv) {
    library = argc == 2 ? dlopen(argv[1], RTLD_NOW | RTLD_LOCAL) : NULL;
    if (!library) return fprintf(stderr, "handle: %s\n", argc == 2 ? dlerror() : "which?"), 1;
    int (*init)(void *, void *) = (int (*)(void *, void *))function("MPI_Init");
    int (*version)(char *, int *) = (int (*)(char *, int *))function("MPI_Get_library_version");
    int (*finalize)(void) = (int (*)(void))function("MPI_Finalize");
    char text[8192];
    int length;
    init(NULL, NULL);
    version(text, &length);
    printf("%.8s\n", text);
    finalize();
    return 0;
}
