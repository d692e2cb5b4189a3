/* SPDX-License-Identifier: BSD-3-Clause */
/* library.h - the datatypes of an MPI library that is not there, for src/mpi/compile.c. It knows of
 * each type how it was made, as MPI_Type_get_contents tells it, and the place of each byte. */
#ifndef MORTAR_FUZZ_LIBRARY_H
#define MORTAR_FUZZ_LIBRARY_H

#include "fuzz.h"

#include "mpi/calls.h"

enum { most_made = 24, most_numbers = 64, most_parts = 8, most_data = 1200, given_count = 9 };

struct made {
    int combiner;
    /* The constructor's arguments in their order: first so many int, then addresses. large: it was
     * the form with large counts, where all but `integers` of them are counts. */
    MPI_Count number[most_numbers];
    int numbers, integers;
    bool large;
    MPI_Datatype part[most_parts];
    int parts;
    ptrdiff_t lb, ub;
    ptrdiff_t far; /* the largest distance of a byte or a bound from the address */
    size_t size;
    ptrdiff_t *place; /* [size] of each byte, in the order of the signature */
    bool unknown;     /* of a constructor that mortar does not compile */
    void *kept;       /* mortar's attribute */
};

/* ---- library.c ---- */
/* Begins with given_count types and none that was made. */
void library_begin(void);
/* Frees what was made; fails if a handle was given to mortar and not given back. */
void library_end(void);
/* Adds a type without data, and with room for the places of most_data bytes. */
struct made *library_new(void);
int library_count(void); /* types that were made */
/* The handle of one of them: first those that are given, then those that were made. */
MPI_Datatype library_type(int number);
struct made *made_of(MPI_Datatype type);

/* ---- making.c ---- */
/* Makes up to most_made / 2 types, as the input says, and returns the last one, or any. */
MPI_Datatype some_type(struct food *food);

#endif
