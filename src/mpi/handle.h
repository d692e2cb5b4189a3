/* SPDX-License-Identifier: BSD-3-Clause */
/* handle.h - what a handle says of itself. A program may pass one that is none, such as 0, or one
 * of another kind. MPICH and the standard ABI's libraries see that and report it. Asked about it in
 * another call, they would tell the error handler of another communicator. Open MPI's handles are
 * addresses, and it crashes. */
#ifndef MORTAR_HANDLE_H
#define MORTAR_HANDLE_H

#include <stdbool.h>
#include <stdint.h>

/* is_type: is it a type, other than MPI_DATATYPE_NULL? is_made: is it an operation that a program
 * has made? Both may say yes of one that was freed. */
#if defined MORTAR_ABI_MPICH
/* Bits 26 to 29: its kind. 30 and 31: where it lies, 0 is nowhere, 1 is what is predefined. */
static inline unsigned kind_of(int handle) { return (unsigned)handle >> 26 & 15; }
static inline bool is_type(MPI_Datatype type) {
    return (unsigned)type >> 30 > 0 && kind_of(type) == kind_of(MPI_DATATYPE_NULL);
}
static inline bool is_made(MPI_Op op) {
    return (unsigned)op >> 30 > 1 && kind_of(op) == kind_of(MPI_OP_NULL);
}
#elif defined MORTAR_ABI_STANDARD
/* Predefined handles are small numbers, of which those of types are the last. */
static inline bool is_type(MPI_Datatype type) {
    return (uintptr_t)type > (uintptr_t)MPI_DATATYPE_NULL;
}
static inline bool is_made(MPI_Op op) {
    enum { last_predefined = 0x3ff };
    return (uintptr_t)op > last_predefined;
}
#else
static inline bool is_type(MPI_Datatype type) { return type != MPI_DATATYPE_NULL; }
static inline bool is_made(MPI_Op op) { return op != MPI_OP_NULL; }
#endif

#endif
