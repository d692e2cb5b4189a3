/* SPDX-License-Identifier: BSD-3-Clause */
/* old_libc - to be preloaded: what a program looks for in the C library is what one before glibc
 * 2.33 has. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <string.h>

void *dlsym(void *library, const char *name) {
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.17", "GLIBC_2.2.5"};
    void *(*find)(void *, const char *) = NULL;
    if (strcmp(name, "mallinfo2") == 0) return NULL;
    for (int i = 0; i < 3 && !find; i++) {
        void *found = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
        memcpy(&find, &found, sizeof find);
    }
    return find ? find(library, name) : NULL;
}
