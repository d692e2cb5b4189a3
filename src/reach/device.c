/* SPDX-License-Identifier: BSD-3-Clause */
/* device - finds buffers in GPU memory, which are left to the host MPI if possible. It asks the
 * CUDA driver if the program has loaded it; mortar does not link it. Other drivers are not asked
 * yet. */
#define _GNU_SOURCE
#include "reach/reach.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

/* From CUDA's driver interface: the number of the attribute "memory type", and its value for host
 * memory. */
enum { memory_type = 2, host_memory = 1 };
typedef int (*asker)(void *, int, uintptr_t);

static int count_loads(struct dl_phdr_info *object, size_t size, void *loads) {
    (void)size;
    *(unsigned long long *)loads = object->dlpi_adds;
    return 1;
}

_Atomic enum gpus gpus;

/* Only if there is one of the driver's device nodes (of servers, Jetson, WSL). */
static enum gpus look_for_gpus(void) {
    static const char *const nodes[] = {"/dev/nvidiactl", "/dev/nvmap", "/dev/nvhost-ctrl",
                                        "/dev/dxg"};
    bool here = option_choice(OPTION_DEVICES, "auto|ask") == 1;
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
        here = here || access(nodes[i], F_OK) == 0;
    return here ? GPUS_MAYBE : GPUS_NONE;
}

/* The driver's function; NULL: the driver is not loaded. A framework may load it late, so the
 * search is repeated after any library was loaded. */
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

/* True for the shared heap and this thread's stack, the common cases, without a call of the
 * driver. */
HOT static bool surely_host(const struct team *team, const void *address) {
    char here;
    uintptr_t above = (uintptr_t)address - (uintptr_t)&here;
    return team_owns(team, address) || above < 1 << 20;
}

bool on_gpu(const struct team *team, const void *send, const void *recv) {
    if (gpus == GPUS_UNKNOWN) gpus = look_for_gpus();
    if (gpus == GPUS_NONE || (surely_host(team, send) && surely_host(team, recv))) return false;
    asker ask = driver();
    return ask && (of_device(ask, send) || of_device(ask, recv));
}
