/* SPDX-License-Identifier: BSD-3-Clause */
/* open - what `mortar bench` and its kin start: opens the MPI library of the launcher that started
 * it, and the bench for that library's ABI. So one build measures any MPI, also a later one.
 *
 * The launcher is among the process's ancestors, and its library is usually below the same prefix:
 * PREFIX/bin/mpirun, PREFIX/lib/libmpi.so.40. Otherwise (srun, another process namespace) the
 * dynamic linker finds one. What the launcher leaves in the environment says of which family it
 * must be, if several are there. MORTAR_MPI=FILE names the library. */
#define _GNU_SOURCE
#include "base/base.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct library {
    const char *soname, *abi;
} libraries[] = {
#define LIBRARY(soname, abi, whose) {soname, #abi},
#include "abi/libraries.h"
#undef LIBRARY
};
enum { count_of_libraries = sizeof libraries / sizeof *libraries };

/* ---- the launcher ---- */

static pid_t parent_of(pid_t process) {
    char path[64], text[512] = "";
    int parent = 0;
    snprintf(path, sizeof path, "/proc/%d/stat", (int)process);
    FILE *file = fopen(path, "r");
    if (file) {
        size_t length = fread(text, 1, sizeof text - 1, file);
        text[length] = 0;
        fclose(file);
    }
    const char *name_end = strrchr(text, ')'); /* a name may have blanks */
    return name_end && sscanf(name_end, ") %*c %d", &parent) == 1 ? (pid_t)parent : 0;
}

/* Fills prefix with the folder above that of the nearest launcher among the ancestors. */
static bool launcher_prefix(char *prefix, size_t size) {
    static const char names[] = " mpirun mpiexec mpiexec.hydra hydra_pmi_proxy hydra_bstrap_proxy "
                                "orterun orted prterun prted mpirun_rsh mpispawn ";
    pid_t process = getppid();
    for (int up = 0; process > 1 && up < 16; up++, process = parent_of(process)) {
        char path[64], word[PATH_MAX];
        snprintf(path, sizeof path, "/proc/%d/exe", (int)process);
        ssize_t length = readlink(path, prefix, size - 1);
        if (length <= 0) continue;
        prefix[length] = 0;
        char *name = strrchr(prefix, '/');
        if (!name || snprintf(word, sizeof word, " %s ", name + 1) >= (int)sizeof word) continue;
        *name = 0;
        char *bin = strrchr(prefix, '/');
        if (!bin || !strstr(names, word)) continue;
        *bin = 0;
        return true;
    }
    return false;
}

/* The ABI that the launcher's family has by itself; NULL: not known. */
static const char *launcher_abi(void) {
    if (getenv("OMPI_COMM_WORLD_SIZE")) return "ompi";
    return getenv("PMI_RANK") ? "mpich" : NULL;
}

/* ---- the library ---- */

/* A library that speaks this ABI may be the launcher's. */
static bool may_be(const struct library *library, const char *abi) {
    return !abi || strcmp(library->abi, abi) == 0 || strcmp(library->abi, "standard") == 0;
}

/* Opens a library that is below the prefix. *found NULL: there is none. NULL with *found set: it is
 * there, but cannot be opened. The standard ABI, first in the table, comes last: libraries have one
 * of their own beside it. */
static void *find_below(const char *prefix, const char *abi, const struct library **found) {
    static const char *const folders[] = {"lib", "lib64", "lib/" MULTIARCH, "lib/release"};
    char path[PATH_MAX];
    for (int l = count_of_libraries - 1; l >= 0; l--) {
        *found = &libraries[l];
        for (size_t f = 0; f < sizeof folders / sizeof *folders && may_be(*found, abi); f++) {
            int length =
                snprintf(path, sizeof path, "%s/%s/%s", prefix, folders[f], libraries[l].soname);
            if (length < (int)sizeof path && access(path, F_OK) == 0)
                return dlopen(path, RTLD_NOW | RTLD_GLOBAL);
        }
    }
    *found = NULL;
    return NULL;
}

/* Opens one that the dynamic linker finds. NULL: none. */
static void *find_any(const char *abi, const struct library **found) {
    for (int l = count_of_libraries - 1; l >= 0; l--) {
        *found = &libraries[l];
        void *handle =
            may_be(*found, abi) ? dlopen(libraries[l].soname, RTLD_NOW | RTLD_GLOBAL) : NULL;
        if (handle) return handle;
    }
    return NULL;
}

/* The row of a library that is open, by its name for the dynamic linker. NULL: unknown. */
static const struct library *row_of(void *handle) {
    for (int l = 0; l < count_of_libraries; l++) {
        void *same = dlopen(libraries[l].soname, RTLD_NOW | RTLD_NOLOAD);
        if (same) dlclose(same);
        if (same == handle) return &libraries[l];
    }
    return NULL;
}

/* One rank says what is wrong and fails. The others end well: a launcher might end it before. */
static bool speaks(void) { return launcher_rank() <= 0; }
static int refuses(void) { return speaks() ? 2 : 0; }

/* MORTAR_MPI. NULL after a message. */
static const struct library *open_named(const char *file) {
    void *handle = dlopen(file, RTLD_NOW | RTLD_GLOBAL);
    const struct library *library = handle ? row_of(handle) : NULL;
    const char *why = handle ? "no MPI library that mortar knows" : dlerror();
    size_t length = strlen(file); /* the dynamic linker names it, too */
    if (strncmp(why, file, length) == 0 && strncmp(why + length, ": ", 2) == 0) why += length + 2;
    if (!library && speaks()) fprintf(stderr, "mortar bench: MORTAR_MPI=%s: %s\n", file, why);
    return library;
}

/* NULL after a message. */
static const struct library *open_launchers(void) {
    const struct library *found = NULL;
    char prefix[PATH_MAX];
    const char *abi = launcher_abi();
    bool launched = launcher_prefix(prefix, sizeof prefix);
    if (launched && find_below(prefix, abi, &found)) return found;
    if (found) {
        if (speaks()) fprintf(stderr, "mortar bench: the launcher's MPI library: %s\n", dlerror());
        return NULL;
    }
    /* srun speaks PMIx with Open MPI mostly; the other families can, too. */
    bool pmix = !launched && !abi && getenv("PMIX_NAMESPACE");
    if ((pmix && find_any("ompi", &found)) || find_any(abi, &found)) {
        if (launched && speaks())
            fprintf(
                stderr,
                "mortar bench: no MPI library beside the launcher, below %s: what follows is of "
                "the %s that the dynamic linker finds (MORTAR_MPI=FILE names another one)\n",
                prefix, found->soname);
        return found;
    }
    if (!speaks()) return NULL;
    fprintf(stderr, "mortar bench: no MPI library for this launcher%s%s: looked for",
            launched ? " below " : "", launched ? prefix : "");
    for (int l = 0; l < count_of_libraries; l++)
        if (may_be(&libraries[l], abi)) fprintf(stderr, " %s", libraries[l].soname);
    fprintf(stderr, ". MORTAR_MPI=FILE names it\n");
    return NULL;
}

/* `mortar doctor` goes on without an MPI library, with what one process can see. path: of this
 * program, in PATH_MAX bytes. */
static void examine_this(size_t length, char *path, char **words) {
    static const char info[] = "mortar-info";
    char *name = memrchr(path, '/', length);
    if (!name || (size_t)(name + 1 - path) + sizeof info > PATH_MAX) return;
    memcpy(name + 1, info, sizeof info);
    execv(path, words);
}

/* Opens the bench for an ABI and runs it. Returns its exit code, -1: it cannot be opened. path: of
 * this program, of this length, in PATH_MAX bytes. */
static int run_bench(char *path, size_t length, const char *abi, int when, int count,
                     char **words) {
    size_t room = PATH_MAX - length;
    if (snprintf(path + length, room, "-%s.so", abi) >= (int)room) return -1;
    void *bench = dlopen(path, when | RTLD_LOCAL);
    int (*run)(int, char **) = bench ? (int (*)(int, char **))dlsym(bench, "bench_main") : NULL;
    return run ? run(count, words) : -1;
}

static bool asks_help(int count, char **words) {
    for (int w = 1; w < count; w++)
        if (strcmp(words[w], "--help") == 0 || strcmp(words[w], "-h") == 0) return true;
    return false;
}

int main(int count, char **words) {
    const char *named = getenv("MORTAR_MPI");
    char path[PATH_MAX];
    int code = -1;
    ssize_t length = readlink("/proc/self/exe", path, sizeof path - 1);
    if (length <= 0) return refuses();
    /* This needs no MPI library: libmortar.so has all functions whose addresses the bench takes,
     * and that for the standard ABI takes no other addresses. */
    if (asks_help(count, words))
        code = run_bench(path, (size_t)length, "standard", RTLD_LAZY, count, words);
    if (code >= 0) return code;
    const struct library *library = named && *named ? open_named(named) : open_launchers();
    if (!library && count > 1 && strcmp(words[1], "doctor") == 0)
        examine_this((size_t)length, path, words);
    if (!library) return refuses();
    code = run_bench(path, (size_t)length, library->abi, RTLD_NOW, count, words);
    if (code >= 0) return code;
    if (speaks()) fprintf(stderr, "mortar bench: %s\n", dlerror());
    return refuses();
}
