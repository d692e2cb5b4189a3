/* SPDX-License-Identifier: BSD-3-Clause */
/* library.h - the MPI library of the process, for libmortar.so and libmortar-count.so. All
 * local. */
#ifndef MORTAR_DOOR_LIBRARY_H
#define MORTAR_DOOR_LIBRARY_H

#include <stdbool.h>

struct abi {
    const char *soname;
    const char *name; /* ompi, mpich, standard; empty: a version that mortar does not know */
};
struct mpi_found {
    const char *path; /* the dynamic linker's, while the library is loaded */
    const struct abi *abi; /* NULL: no MPI library is loaded */
};
/* The MPI library that is loaded; if there are several, the one of the first row of
 * abi/libraries.h. */
struct mpi_found mpi_find(void);

/* A profiler's function: the next one of this name in the dynamic linker's search order, unless it
 * belongs to an MPI library. library: handle of the one that is used, or NULL. NULL: none. */
void *tool_of(const char *name, void *library);

/* What a call of this name leads to in the library that makes it, where none that mortar knows has
 * such a function: in an MPI library of another name that was loaded privately (RTLD_LOCAL), or in
 * functions of the program's own. caller: an address in the library that makes the call. NULL:
 * there is none. */
void *found_by(const void *caller, const char *name);

/* How the file names of mortar's engines begin; the ABI's name and .so follow. */
extern const char engine_begins[];
/* Is it the name of an engine's file? */
bool is_engine(const char *file);

#endif
