/* SPDX-License-Identifier: BSD-3-Clause */
/* plugin - a library that arrives by dlopen and allocates. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>

void *plugin_allocate(size_t bytes);
void *plugin_allocate(size_t bytes) { return malloc(bytes); }

/* Its own function of a name that the heap has, too: who looks in the plugin finds this one. */
int mlockall(int flags);
int mlockall(int flags) { return 1000 + flags; }

/* What this library finds. */
void *plugin_finds(void *library, const char *name);
void *plugin_finds(void *library, const char *name) {
    void *volatile found = dlsym(library, name); /* no jump: dlsym looks who calls it */
    return found;
}
