/* SPDX-License-Identifier: BSD-3-Clause */
/* library - which loaded library is MPI's, and what ABI it speaks, without mpi.h. */
#define _GNU_SOURCE
#include "door/library.h"

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stdint.h>
#include <string.h>

static const struct abi abis[] = {
#define LIBRARY(soname, abi, whose) {soname, #abi},
#include "abi/libraries.h"
#undef LIBRARY
    /* versions that mortar does not know */
    {"libmpi_abi.so.", ""},
    {"libmpi.so.", ""},
    {"libmpich.so.", ""},
};

const char engine_begins[] = "libmortar-";

/* The ABI of an MPI library, by its soname, since its file may have another name; NULL: it is none.
 * base: where it is loaded; row: its dynamic section. */
static const struct abi *abi_of(uintptr_t base, const ElfW(Dyn) * row) {
    const char *strings = NULL;
    uintptr_t soname = 0;
    for (; row && row->d_tag != DT_NULL; row++) {
        if (row->d_tag == DT_SONAME) soname = row->d_un.d_val;
        if (row->d_tag == DT_STRTAB) /* an address in most C libraries */
            strings = (const char *)(row->d_un.d_ptr + (row->d_un.d_ptr < base ? base : 0));
    }
    for (size_t i = 0; strings && soname && i < sizeof abis / sizeof *abis; i++)
        if (strncmp(strings + soname, abis[i].soname, strlen(abis[i].soname)) == 0) return &abis[i];
    return NULL;
}

static int is_mpi_loaded(struct dl_phdr_info *object, size_t size, void *state) {
    (void)size;
    struct mpi_found *found = state;
    const struct abi *abi = NULL;
    for (int i = 0; i < object->dlpi_phnum; i++)
        if (object->dlpi_phdr[i].p_type == PT_DYNAMIC)
            abi = abi_of(object->dlpi_addr,
                         (const ElfW(Dyn) *)(object->dlpi_addr + object->dlpi_phdr[i].p_vaddr));
    if (!abi || (found->abi && found->abi <= abi)) return 0;
    found->abi = abi;
    found->path = object->dlpi_name;
    return 0;
}

bool is_engine(const char *file) {
    size_t length = strlen(engine_begins);
    if (strncmp(file, engine_begins, length) != 0) return false;
    for (size_t i = 0; i < sizeof abis / sizeof *abis; i++) {
        size_t more = strlen(abis[i].name);
        if (more && strncmp(file + length, abis[i].name, more) == 0 &&
            strcmp(file + length + more, ".so") == 0)
            return true;
    }
    return false;
}

struct mpi_found mpi_find(void) {
    struct mpi_found found = {.abi = NULL};
    dl_iterate_phdr(is_mpi_loaded, &found);
    return found;
}

void *tool_of(const char *name, void *library) {
    Dl_info owner;
    struct link_map *map;
    void *next = dlsym(RTLD_NEXT, name);
    if (!next || (library && next == dlsym(library, name))) return NULL;
    bool of_mpi = dladdr1(next, &owner, (void **)&map, RTLD_DL_LINKMAP) &&
                  abi_of((uintptr_t)map->l_addr, map->l_ld);
    return of_mpi ? NULL : next;
}

/* ---- functions that only those who loaded them privately see ---- */

/* The object that holds this address; where that is 0, the one of this number. */
struct object {
    uintptr_t address;
    int number;
    const char *path;
};

/* dladdr does it, too, but it looks at all symbols of the object: up to milliseconds. */
static int is_object(struct dl_phdr_info *object, size_t size, void *state) {
    (void)size;
    struct object *wanted = state;
    bool found = !wanted->address && wanted->number-- == 0;
    for (int i = 0; wanted->address && i < object->dlpi_phnum && !found; i++) {
        const ElfW(Phdr) *head = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + head->p_vaddr;
        found = head->p_type == PT_LOAD && wanted->address - start < head->p_memsz;
    }
    if (found) wanted->path = object->dlpi_name;
    return found;
}

/* A call that came to one of mortar's libraries must not be sent there once more. */
static bool is_mortars(const void *function) {
    struct object its = {.address = (uintptr_t)function};
    if (!dl_iterate_phdr(is_object, &its)) return false;
    const char *slash = strrchr(its.path, '/'), *file = slash ? slash + 1 : its.path;
    return strcmp(file, "libmortar.so") == 0 ||
           strncmp(file, engine_begins, strlen(engine_begins)) == 0;
}

static void *seen_in(void *library, const char *name) {
    void *found = library ? dlsym(library, name) : NULL;
    return found && !is_mortars(found) ? found : NULL;
}

void *found_by(const void *caller, const char *name) {
    static void *_Atomic other; /* stays open */
    struct object its = {.address = (uintptr_t)caller};
    void *library = NULL, *found = NULL;
    if (dl_iterate_phdr(is_object, &its)) library = dlopen(its.path, RTLD_LAZY | RTLD_NOLOAD);
    found = seen_in(library, name);
    if (library) dlclose(library); /* it is there as long as the caller */
    /* If the caller does not see it, a function of another library has jumped here as its last
     * step: most likely of the only one that has it. */
    if (!found) found = seen_in(other, name);
    for (int i = 0; !found; i++) {
        struct object next = {.number = i};
        if (!dl_iterate_phdr(is_object, &next)) return NULL;
        library = dlopen(next.path, RTLD_LAZY | RTLD_NOLOAD);
        found = seen_in(library, name);
        if (found) other = library;
        else if (library) dlclose(library);
    }
    return found;
}
