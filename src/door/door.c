/* SPDX-License-Identifier: BSD-3-Clause */
/* door - libmortar.so, which is preloaded. It does not use mpi.h. At the first MPI call it finds
 * out which MPI library the program has loaded, and opens the engine that was built for its ABI. So
 * one preload serves every MPI, programs that load MPI late (python3 with mpi4py), and programs
 * without MPI.
 *
 * It catches MPI_X and PMPI_X. The Fortran bindings of Open MPI call PMPI_X, those of MPICH MPI_X.
 * Both have already replaced Fortran's sentinels (MPI_IN_PLACE, MPI_BOTTOM) by C's, so Fortran
 * needs no code of its own.
 *
 * Profilers see the calls first, as without mortar. A profiler that is preloaded before this
 * library, or is part of the program, calls PMPI_X. For one after it, linked to the program or
 * preloaded later, the door passes each MPI_X that the program calls on to it, and it calls PMPI_X,
 * too. mortar takes the call there. */
#define _GNU_SOURCE
#include "base/base.h"

#include "coll/forms.h"
#include "door/forward.h"
#include "door/library.h"
#include "include/mortar.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum door {
#define CAUGHT(name, parameters, arguments) DOOR_##name,
#include "door/caught.h"
#undef CAUGHT
    DOORS
};

static const char *const names[DOORS] = {
#define CAUGHT(name, parameters, arguments) "PMPI_" #name,
#include "door/caught.h"
#undef CAUGHT
};

/* The functions that calls are passed on to: outer for MPI_X, inner for PMPI_X. At first those that
 * open the door, and for good where the MPI library has no such function. */
#define CAUGHT(name, parameters, arguments)                                                        \
    static word outer_##name parameters;                                                           \
    static word inner_##name parameters;
#include "door/caught.h"
#undef CAUGHT
static _Atomic(entry) outer[DOORS] = {
#define CAUGHT(name, parameters, arguments) (entry)outer_##name,
#include "door/caught.h"
#undef CAUGHT
};
static _Atomic(entry) inner[DOORS] = {
#define CAUGHT(name, parameters, arguments) (entry)inner_##name,
#include "door/caught.h"
#undef CAUGHT
};
static void *engine;
static _Atomic(atomic_uint *) undriven; /* the engine's mark; NULL: there is no engine */
static bool (*drive)(struct driving *driving);
static char began_in[PATH_MAX]; /* the folder that the process began in; "": it had none */
static pthread_once_t once = PTHREAD_ONCE_INIT;

/* Opens the engine, which is in the folder of this library. NULL after a warning. */
static void *open_engine(const char *abi, const char *name, void *library) {
    Dl_info self;
    char path[PATH_MAX];
    if (!dladdr((void *)(uintptr_t)open_engine, &self)) return NULL;
    const char *slash = strrchr(self.dli_fname, '/');
    snprintf(path, sizeof path, "%.*s%s%s.so", slash ? (int)(slash - self.dli_fname) + 1 : 0,
             self.dli_fname, engine_begins, abi);
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!handle) {
        warn("mortar's engine for %s cannot be loaded: %s; calls go to the MPI library unchanged: "
             "install mortar anew",
             name, dlerror());
        return NULL;
    }
    int (*start)(void *, const char *) =
        (int (*)(void *, const char *))dlsym(handle, "mortar_engine_open");
    if (start && start(library, *began_in == '/' ? began_in : NULL) == 0) return handle;
    warn("%s%s.so does not fit this MPI library: calls go to it unchanged", engine_begins, abi);
    return NULL;
}

/* A profiler after mortar may call the MPI library's own MPI_Init, which would hide from the engine
 * that MPI is initialised. So the door tells it. The engine learns of MPI_Finalize by itself. */
static entry tools_init, tools_init_thread;

static word started(word error) {
    void (*start)(void) = engine ? (void (*)(void))dlsym(engine, "mortar_engine_start") : NULL;
    if (start && (int)error == 0) start();
    return error;
}
static word init(word a, word b) { return started(tools_init(a, b)); }
static word init_thread(word a, word b, word c, word d) {
    return started(tools_init_thread(a, b, c, d));
}

static atomic_bool opened;

static void open_door(void) {
    struct mpi_found found = mpi_find();
    opened = true;
    void *library = NULL;
    if (found.abi) {
        /* Into the global scope, where the engine finds it: Python loads MPI privately. */
        library = dlopen(found.path, RTLD_NOW | RTLD_NOLOAD | RTLD_GLOBAL);
        if (!*found.abi->name)
            warn(
                "no help for %s: mortar knows Open MPI (libmpi.so.40), MPICH (libmpi.so.12) and the "
                "standard ABI (libmpi_abi.so)",
                found.path);
        else if (library) engine = open_engine(found.abi->name, found.path, library);
    } else {
        warn("an MPI call, but no MPI library that mortar knows: calls go to it unchanged");
    }
    drive = engine ? (bool (*)(struct driving *))dlsym(engine, "mortar_engine_drive") : NULL;
    atomic_uint *(*mark)(void) =
        drive ? (atomic_uint * (*)(void)) dlsym(engine, "mortar_engine_undriven") : NULL;
    undriven = mark ? mark() : NULL;
    for (int i = 0; i < DOORS; i++) {
        void *taken = engine ? dlsym(engine, names[i] + 1) : NULL;
        if (!taken) taken = tool_of(names[i], library); /* libmortar-count.so */
        if (!taken) taken = dlsym(library ? library : RTLD_NEXT, names[i]);
        entry tool = (entry)tool_of(names[i] + 1, library);
        if (tool && i == DOOR_Init) {
            tools_init = tool;
            tool = (entry)init;
        }
        if (tool && i == DOOR_Init_thread) {
            tools_init_thread = tool;
            tool = (entry)init_thread;
        }
        if (!tool) tool = (entry)taken;
        if (taken) inner[i] = (entry)taken;
        if (tool) outer[i] = tool;
    }
}

/* What the door has found for a function. */
__attribute__((noinline, cold)) static entry found_for(_Atomic(entry) *place, entry first,
                                                       const void *caller) {
    pthread_once(&once, open_door);
    entry found = atomic_load_explicit(place, memory_order_acquire);
    if (found != first) return found;
    bool plain = place < inner || place >= inner + DOORS;
    const char *name = plain ? names[place - outer] + 1 : names[place - inner];
    found = (entry)found_by(caller, name); /* not kept: the next caller's may be another */
    if (found) return found;
    fprintf(stderr, "mortar: the program calls %s, which its MPI library does not have\n", name);
    abort(); /* as the dynamic linker would end the program */
}

/* ---- looks behind a collective of mortar's (reach/progress.c) ---- */

enum { ALL = 0, SOME = -1 }; /* in place of the argument that says what a call has found */

static inline atomic_uint *undriven_now(void) {
    atomic_uint *mark = atomic_load_explicit(&undriven, memory_order_acquire);
    return mark && atomic_load_explicit(mark, memory_order_relaxed) != 0 ? mark : NULL;
}

static inline bool is_found(word found) { return *(const int *)found; }

/* Each turn may be the last that is needed, and may give the processor away: so the call is made
 * again after 1, 2, 4, ... of them. */
static inline bool looks_again(struct driving *driving, word error, word found) {
    return driving->looks && (int)error == 0 && !is_found(found) && drive(driving);
}

/* mark: as it was before the call, as another thread may drive meanwhile. */
static inline word looked(atomic_uint *mark, const struct driving *driving, word error,
                          word found) {
    bool again = driving->looks && driving->turns > 0;
    if (again && (int)error == 0 && is_found(found))
        atomic_fetch_or(mark, UNDRIVEN | DRIVING_HELPED);
    return error;
}

/* MPI_X and PMPI_X jump on, so the return address is still the program's. */
#define OPENS(name, parameters, arguments)                                                         \
    static word outer_##name parameters {                                                          \
        return found_for(&outer[DOOR_##name], (entry)outer_##name, __builtin_return_address(0))    \
            arguments;                                                                             \
    }                                                                                              \
    static word inner_##name parameters {                                                          \
        return found_for(&inner[DOOR_##name], (entry)inner_##name, __builtin_return_address(0))    \
            arguments;                                                                             \
    }                                                                                              \
    word MPI_##name parameters;                                                                    \
    word PMPI_##name parameters;
#define PASS(table, name, arguments)                                                               \
    atomic_load_explicit(&table[DOOR_##name], memory_order_acquire) arguments
#define CAUGHT(name, parameters, arguments)                                                        \
    OPENS(name, parameters, arguments)                                                             \
    word MPI_##name parameters { return PASS(outer, name, arguments); }                            \
    word PMPI_##name parameters { return PASS(inner, name, arguments); }
#define PASS_LOOK(table, name, arguments, found)                                                   \
    {                                                                                              \
        atomic_uint *mark = undriven_now();                                                        \
        if (!mark) return PASS(table, name, arguments);                                            \
        struct driving driving = {.looks = (found) > ALL, .all = (found) == ALL};                  \
        while (!driving.looks && drive(&driving)) continue;                                        \
        word error = PASS(table, name, arguments);                                                 \
        while (looks_again(&driving, error, found)) error = PASS(table, name, arguments);          \
        return looked(mark, &driving, error, found);                                               \
    }
#define LOOKS(name, parameters, arguments, found)                                                  \
    OPENS(name, parameters, arguments)                                                             \
    word MPI_##name parameters PASS_LOOK(outer, name, arguments, found)                            \
    word PMPI_##name parameters PASS_LOOK(inner, name, arguments, found)
#include "door/caught.h"
#undef CAUGHT

/* ---- programs whose calls never come here ---- */

static pid_t born;

__attribute__((constructor)) static void arrive(void) {
    born = getpid();
    if (!getcwd(began_in, sizeof began_in)) *began_in = 0;
}

/* A program may ask the MPI library itself for its functions, by dlsym on its handle, as Julia does
 * with ccall. Nothing that is preloaded sees such calls. (If dlsym gave mortar's functions instead,
 * it would give them also to libraries that translate one MPI's calls into another's.) So if MPI
 * was initialised and no call ever came here, one line says so at the end. */
__attribute__((destructor)) static void leave(void) {
    int begun = 0;
    if (opened || getpid() != born) return;
    struct mpi_found found = mpi_find();
    void *library = found.abi ? dlopen(found.path, RTLD_LAZY | RTLD_NOLOAD) : NULL;
    int (*ask)(int *) = library ? (int (*)(int *))dlsym(library, "PMPI_Initialized") : NULL;
    if (ask && ask(&begun) == 0 && begun)
        warn_job(
            "the program got its MPI functions by dlsym from %s, so mortar saw none of its calls: "
            "it ran as without mortar (docs/guide.md has a way)",
            found.path);
}

/* ---- include/mortar.h ---- */

const char *mortar_version(void) { return MORTAR_VERSION; }

/* The program may ask before it loads its MPI library. */
static void *engine_symbol(const char *name) {
    if (!opened && !mpi_find().abi) return NULL;
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

int mortar_plans(const char *collective, size_t bytes, int outside, char *texts, size_t size) {
    int (*call)(const char *, size_t, int, char *, size_t) =
        (int (*)(const char *, size_t, int, char *, size_t))engine_symbol("mortar_engine_plans");
    return call ? call(collective, bytes, outside, texts, size) : -ENOSYS;
}

int mortar_verified(uint64_t *calls, uint64_t *differences) {
    void (*call)(uint64_t *, uint64_t *) =
        (void (*)(uint64_t *, uint64_t *))engine_symbol("mortar_engine_verified");
    *calls = *differences = 0;
    if (call) call(calls, differences);
    return call ? 0 : -ENOSYS;
}

int mortar_examined(uint64_t *calls) {
    void (*call)(uint64_t *) = (void (*)(uint64_t *))engine_symbol("mortar_engine_examined");
    *calls = 0;
    if (call) call(calls);
    return call ? 0 : -ENOSYS;
}
