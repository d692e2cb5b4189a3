/* SPDX-License-Identifier: BSD-3-Clause */
/* device - what the drivers of GPUs know of an address: memory of a GPU, which is left to the host
 * MPI if possible, or memory of the host that a program has registered (cudaHostRegister,
 * hipHostRegister), whose pages the GPU goes on to use, so that it must not move. A driver is asked
 * if the program has loaded it; mortar links none. A row of `drivers` adds one. */
#define _GNU_SOURCE
#include "reach/reach.h"

#include <dlfcn.h>
#include <link.h>
#include <unistd.h>

enum owner { NOBODY, REGISTERED, DEVICE };
typedef _Atomic(void *) found; /* a function of a driver */

/* NVIDIA's CUDA, its driver's interface. It fails for memory that it does not know. */
static enum owner ask_cuda(found functions[], const void *address) {
    enum { memory_type = 2, host_memory = 1 }; /* an attribute, and one of its values */
    unsigned type = host_memory;
    int (*attribute)(void *, int, uintptr_t) = (int (*)(void *, int, uintptr_t))functions[0];
    if (attribute(&type, memory_type, (uintptr_t)address) != 0) return NOBODY;
    return type == host_memory ? REGISTERED : DEVICE;
}

/* AMD's ROCm, its lowest library, which HIP and OpenMP are built on. It reads no more of the
 * structure than `size` says. An owner that it does not tell of is one that others have. */
static enum owner ask_rocm(found functions[], const void *address) {
    enum { unknown = 0, locked = 2, reserved = 5 };    /* types of an address */
    enum { device_type = 17, processor = 0, gpu = 1 }; /* an attribute of the owner, its values */
    struct {
        uint32_t size;
        int32_t type;
        void *at_device, *at_host;
        size_t bytes;
        void *user;
        uint64_t owner;
        uint32_t flags;
    } about = {.size = sizeof about};
    uint32_t type = gpu;
    int (*info)(const void *, void *, void *, void *, void *) =
        (int (*)(const void *, void *, void *, void *, void *))functions[0];
    int (*owner_info)(uint64_t, int, void *) = (int (*)(uint64_t, int, void *))functions[1];
    if (info(address, &about, NULL, NULL, NULL) != 0) return NOBODY;
    if (about.type == unknown || about.type == reserved) return NOBODY;
    if (about.type == locked) return REGISTERED;
    owner_info(about.owner, device_type, &type);
    return type == processor ? REGISTERED : DEVICE;
}

static struct driver {
    const char *library, *functions[2];
    const char *nodes[4]; /* one of these is there where there is such a GPU */
    enum owner (*ask)(found functions[], const void *address);
    found found[2];
    atomic_bool loaded;
} drivers[] = {
    {.library = "libcuda.so.1",
     .functions = {"cuPointerGetAttribute"},
     .nodes = {"/dev/nvidiactl", "/dev/nvmap", "/dev/nvhost-ctrl", /* of servers, of Jetson */
               "/dev/dxg"},                                        /* of WSL */
     .ask = ask_cuda},
    {.library = "libhsa-runtime64.so.1",
     .functions = {"hsa_amd_pointer_info", "hsa_agent_get_info"},
     .nodes = {"/dev/kfd", "/dev/dxg"},
     .ask = ask_rocm},
};
enum { driver_count = sizeof drivers / sizeof *drivers };

_Atomic enum gpus gpus;
static atomic_uint possible; /* a bit for each driver whose GPU may be here */

static void look_for_gpus(void) {
    bool all = option_choice(OPTION_DEVICES, "auto|ask") == 1;
    for (unsigned i = 0; i < driver_count; i++)
        for (int n = 0; n < 4 && drivers[i].nodes[n]; n++)
            if (all || access(drivers[i].nodes[n], F_OK) == 0) possible |= 1u << i;
    gpus = possible ? GPUS_MAYBE : GPUS_NONE;
}

static void find_functions(struct driver *driver) {
    void *library = dlopen(driver->library, RTLD_LAZY | RTLD_NOLOAD);
    bool all = library != NULL;
    for (int i = 0; i < 2 && all && driver->functions[i]; i++) {
        driver->found[i] = dlsym(library, driver->functions[i]);
        all = driver->found[i] != NULL;
    }
    if (all) driver->loaded = true;
}

static int count_loads(struct dl_phdr_info *object, size_t size, void *loads) {
    (void)size;
    *(unsigned long long *)loads = object->dlpi_adds;
    return 1;
}

/* A framework may load a driver late, so the search is repeated after any library was loaded. */
static void find_drivers(void) {
    static _Atomic unsigned long long known;
    unsigned long long loads = 0;
    unsigned waited = 0;
    for (unsigned i = 0; i < driver_count; i++)
        if (possible >> i & 1 && !drivers[i].loaded) waited |= 1u << i;
    if (!waited) return;
    dl_iterate_phdr(count_loads, &loads);
    if (loads == known) return;
    for (unsigned i = 0; i < driver_count; i++)
        if (waited >> i & 1) find_functions(&drivers[i]);
    known = loads;
}

static enum owner owner_of(const void *address) {
    enum owner owner = NOBODY;
    for (unsigned i = 0; i < driver_count && owner == NOBODY; i++)
        if (drivers[i].loaded) owner = drivers[i].ask(drivers[i].found, address);
    return owner;
}

/* True for the shared heap and this thread's stack, the common cases, without a call of a
 * driver. */
HOT static bool surely_host(const struct team *team, const void *address) {
    char here;
    uintptr_t above = (uintptr_t)address - (uintptr_t)&here;
    return team_owns(team, address) || above < 1 << 20;
}

bool on_gpu(const struct team *team, const void *send, const void *recv) {
    if (gpus == GPUS_UNKNOWN) look_for_gpus();
    if (gpus == GPUS_NONE || (surely_host(team, send) && surely_host(team, recv))) return false;
    find_drivers();
    return owner_of(send) == DEVICE || owner_of(recv) == DEVICE;
}

bool gpus_know(const void *start, size_t bytes) {
    enum { page = 4096 }; /* drivers register whole pages */
    if (gpus == GPUS_UNKNOWN) look_for_gpus();
    if (gpus == GPUS_NONE) return false;
    find_drivers();
    for (size_t at = 0; at < bytes; at += page)
        if (owner_of((const char *)start + at) != NOBODY) return true;
    return false;
}
