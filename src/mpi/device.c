/* SPDX-License-Identifier: BSD-3-Clause */
/* device - buffers in GPU memory go to the host MPI, which may know how to move them. Asks the CUDA
 * driver once the program has loaded it; nothing is linked. Other drivers are not asked yet. */
#define _GNU_SOURCE
#include "mpi/calls.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

/* From CUDA's driver interface: the attribute "memory type", and the type of ordinary memory. */
enum { memory_type = 2, host_memory = 1 };
typedef int (*asker)(void *, int, uintptr_t);

static int count_loads(struct dl_phdr_info *object, size_t size, void *loads) {
    (void)size;
    *(unsigned long long *)loads = object->dlpi_adds;
    return 1;
}

/* Could there be device memory at all? Without one of the driver's device nodes (servers, Jetson,
 * WSL) there cannot. */
static bool devices_here(void) {
    static const char *const nodes[] = {"/dev/nvidiactl", "/dev/nvmap", "/dev/nvhost-ctrl",
                                        "/dev/dxg"};
    static _Atomic int known; /* 0: not looked, 1: no, 2: yes */
    if (known) return known == 2;
    bool here = option_choice(OPTION_DEVICES, "auto|ask") == 1;
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
        here = here || access(nodes[i], F_OK) == 0;
    known = here ? 2 : 1;
    return here;
}

/* The driver may come late and privately (a framework loads it), so the answer is renewed whenever
 * a library was loaded. */
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

static bool of_device(asker ask, const void *address) {
    unsigned type = host_memory;
    return ask(&type, memory_type, (uintptr_t)address) == 0 && type != host_memory;
}

/* malloc'ed, or on this thread's stack: the common cases, and free of charge. */
HOT static bool surely_host(const struct team *team, const void *address) {
    uint64_t offset;
    uintptr_t above = (uintptr_t)address - (uintptr_t)&offset;
    return team_reaches(team, address, 1, &offset) || above < 1 << 20;
}

HOT bool on_device(const struct team *team, const void *send, const void *recv) {
    if (!devices_here() || (surely_host(team, send) && surely_host(team, recv))) return false;
    asker ask = driver();
    return ask && (of_device(ask, send) || of_device(ask, recv));
}
