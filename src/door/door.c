/* SPDX-License-Identifier: BSD-3-Clause */
/* door - libmortar.so, the one library that is preloaded. It knows no mpi.h: at the first MPI call it looks which MPI library the
 * program has loaded and opens the engine that was built for its ABI. So one preload serves every MPI, programs that load MPI late
 * (python3 with mpi4py) and programs that use none.
 *
 * It catches MPI_X and PMPI_X. The Fortran bindings of Open MPI call PMPI_X, those of MPICH call MPI_X, both with sentinels
 * (MPI_IN_PLACE, MPI_BOTTOM) already turned into C's: Fortran needs no code of its own. Profilers that sit above mortar end in
 * PMPI_X and are caught as well.
 *
 * A call is forwarded as machine words. On every 64-bit Linux ABI an int or a pointer argument travels in one word, so that a
 * function of words hands them on unchanged, whatever MPI's handles are. */
#define _GNU_SOURCE
#include "base/base.h"

#include "include/mortar.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef intptr_t word;
typedef word (*entry)(); /* called with the arguments of its row */

enum door {
#define DOOR(name, words) DOOR_##name,
#include "door/list.h"
#undef DOOR
    DOORS
};

static const char *const names[DOORS] = {
#define DOOR(name, words) "PMPI_" #name,
#include "door/list.h"
#undef DOOR
};

static const struct abi {
    const char *soname, *engine;
} abis[] = {
    {"libmpi.so.40", "libmortar-ompi.so"},    /* Open MPI 3, 4, 5 */
    {"libmpich.so.12", "libmortar-mpich.so"}, /* MPICH as Debian names it */
    {"libmpi.so.12", "libmortar-mpich.so"},   /* MPICH, Intel MPI, MVAPICH: the common MPICH ABI */
    {"libmpi_abi.so.", NULL},                 /* the MPI 5 ABI: no engine yet */
    {"libmpi.so.", NULL},
    {"libmpich.so.", NULL},
};

static _Atomic(entry) entries[DOORS];
static void *engine;
static pthread_once_t once = PTHREAD_ONCE_INIT;

struct search {
    char path[4096];
    const struct abi *abi;
};

static int look_at(struct dl_phdr_info *object, size_t size, void *search) {
    (void)size;
    struct search *found = search;
    const char *slash = strrchr(object->dlpi_name, '/'), *file = slash ? slash + 1 : object->dlpi_name;
    for (size_t i = 0; i < sizeof abis / sizeof *abis; i++) {
        if (strncmp(file, abis[i].soname, strlen(abis[i].soname)) != 0) continue;
        if (found->abi && found->abi <= &abis[i]) continue;
        found->abi = &abis[i];
        snprintf(found->path, sizeof found->path, "%s", object->dlpi_name);
    }
    return 0;
}

/* Opens the engine that lies beside this library. */
static void *open_engine(const char *file, void *library) {
    Dl_info self;
    char path[4096];
    if (!dladdr((void *)(uintptr_t)open_engine, &self)) return NULL;
    const char *slash = strrchr(self.dli_fname, '/');
    snprintf(path, sizeof path, "%.*s%s", slash ? (int)(slash - self.dli_fname) + 1 : 0, self.dli_fname, file);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        warn("no help for this MPI: %s", dlerror());
        return NULL;
    }
    int (*start)(void *) = (int (*)(void *))dlsym(handle, "mortar_engine_open");
    if (start && start(library) == 0) return handle;
    warn("%s does not fit this MPI library: calls go to it unchanged", file);
    return NULL;
}

static void open_door(void) {
    struct search found = {.abi = NULL};
    dl_iterate_phdr(look_at, &found);
    void *library = NULL;
    if (found.abi) {
        /* Into the global scope: python loads MPI privately, and the engine must find it. */
        library = dlopen(found.path, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
        if (!found.abi->engine) warn("no help for %s: mortar knows Open MPI (libmpi.so.40) and MPICH (libmpi.so.12)", found.path);
        else if (library) engine = open_engine(found.abi->engine, library);
    } else {
        warn("an MPI call, but no MPI library that mortar knows: calls go to it unchanged");
    }
    for (int i = 0; i < DOORS; i++) {
        void *found_entry = engine ? dlsym(engine, names[i] + 1) : NULL;
        if (!found_entry) found_entry = dlsym(library ? library : RTLD_NEXT, names[i]);
        entries[i] = (entry)found_entry;
    }
}

__attribute__((noinline, cold)) static entry find(enum door door) {
    pthread_once(&once, open_door);
    if (entries[door]) return entries[door];
    fprintf(stderr, "mortar: the program calls %s, which its MPI library does not have\n", names[door] + 1);
    abort(); /* what the dynamic linker would have done */
}

static inline entry enter(enum door door) {
    entry known = atomic_load_explicit(&entries[door], memory_order_acquire);
    return known ? known : find(door);
}

#define PARAMETERS_0 (void)
#define PARAMETERS_1 (word a)
#define PARAMETERS_2 (word a, word b)
#define PARAMETERS_3 (word a, word b, word c)
#define PARAMETERS_4 (word a, word b, word c, word d)
#define PARAMETERS_5 (word a, word b, word c, word d, word e)
#define PARAMETERS_6 (word a, word b, word c, word d, word e, word f)
#define PARAMETERS_7 (word a, word b, word c, word d, word e, word f, word g)
#define PARAMETERS_8 (word a, word b, word c, word d, word e, word f, word g, word h)
#define PARAMETERS_9 (word a, word b, word c, word d, word e, word f, word g, word h, word i)
#define ARGUMENTS_0 ()
#define ARGUMENTS_1 (a)
#define ARGUMENTS_2 (a, b)
#define ARGUMENTS_3 (a, b, c)
#define ARGUMENTS_4 (a, b, c, d)
#define ARGUMENTS_5 (a, b, c, d, e)
#define ARGUMENTS_6 (a, b, c, d, e, f)
#define ARGUMENTS_7 (a, b, c, d, e, f, g)
#define ARGUMENTS_8 (a, b, c, d, e, f, g, h)
#define ARGUMENTS_9 (a, b, c, d, e, f, g, h, i)
#define DOOR(name, words)                                                                                                          \
    word MPI_##name PARAMETERS_##words;                                                                                            \
    word MPI_##name PARAMETERS_##words { return enter(DOOR_##name) ARGUMENTS_##words; }                                            \
    word PMPI_##name PARAMETERS_##words __attribute__((alias("MPI_" #name)));
#include "door/list.h"
#undef DOOR

/* ---- include/mortar.h ---- */

const char *mortar_version(void) { return MORTAR_VERSION; }

static void *engine_symbol(const char *name) {
    pthread_once(&once, open_door);
    return engine ? dlsym(engine, name) : NULL;
}

int mortar_plan(const char *plan) {
    int (*call)(const char *) = (int (*)(const char *))engine_symbol("mortar_engine_plan");
    return call ? call(plan) : -ENOSYS;
}

int mortar_report(const char *path) {
    int (*call)(const char *) = (int (*)(const char *))engine_symbol("mortar_engine_report");
    return call ? call(path) : -ENOSYS;
}

int mortar_plans(const char *collective, size_t bytes, char *texts, size_t size) {
    int (*call)(const char *, size_t, char *, size_t) =
        (int (*)(const char *, size_t, char *, size_t))engine_symbol("mortar_engine_plans");
    return call ? call(collective, bytes, texts, size) : -ENOSYS;
}

void *mortar_alloc(size_t bytes) {
    void *memory = NULL;
    return posix_memalign(&memory, 64, bytes) == 0 ? memory : NULL;
}

void mortar_free(void *memory) { free(memory); }
