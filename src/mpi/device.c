/* SPDX-License-Identifier: BSD-3-Clause */
/* device - buffers in GPU memory go to the host MPI, which may know how to move them. Asks the CUDA driver once the program has
 * loaded it; nothing is linked. Other drivers are not asked yet. */
#define _GNU_SOURCE
#include "mpi/calls.h"

#include <dlfcn.h>
#include <link.h>

/* From CUDA's driver interface: the attribute "memory type", and the type of ordinary memory. */
enum { memory_type = 2, host_memory = 1 };
typedef int (*asker)(void *, int, uintptr_t);

static int count_loads(struct dl_phdr_info *object, size_t size, void *loads) {
    (void)size;
    *(unsigned long long *)loads = object->dlpi_adds;
    return 1;
}

/* The driver may come late and privately (a framework loads it), so the answer is renewed whenever a library was loaded. */
static asker driver(void) {
    static _Atomic(asker) found;
    static _Atomic unsigned long long known;
    unsigned long long loads = 0;
    if (found) return found;
    dl_iterate_phdr(count_loads, &loads);
    if (loads == known) return NULL;
    known = loads;
    void *library = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
    if (library) found = (asker)dlsym(library, "cuPointerGetAttribute");
    return found;
}

HOT bool on_device(const struct team *team, const void *address) {
    uint64_t offset;
    if (team_reaches(team, address, 1, &offset)) return false; /* malloc'ed: the common case, and free of charge */
    asker ask = driver();
    unsigned type = host_memory;
    return ask && ask(&type, memory_type, (uintptr_t)address) == 0 && type != host_memory;
}
