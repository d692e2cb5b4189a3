/* SPDX-License-Identifier: BSD-3-Clause */
/* verify.h - private to mpi/: option VERIFY, calls that are run again by the MPI library. */
#ifndef MORTAR_VERIFY_H
#define MORTAR_VERIFY_H

#include "mpi/calls.h"

/* One block of one side of a call, in the program's memory. */
struct spot {
    char *at;
    struct typed typed;
    size_t bytes; /* packed */
};
struct spots {
    struct spot *list; /* [count], for the caller to free */
    int count;
    size_t bytes; /* of all, packed */
};

/* A call that is being verified. */
struct verification {
    const struct request *request;
    struct spots written; /* what the call may write */
    /* What lies there before the call, after mortar's run and after the library's, packed. One
     * block of memory. */
    char *before, *ours, *theirs;
    size_t sent, received; /* of a reduction: elements of this rank */
};

/* ---- verify.c ---- */
/* Is it true on all ranks? Asks the MPI library, which here is trusted more than mortar.
 * Collective. */
bool library_agrees(MPI_Comm comm, bool fine);
enum which_side { SENT, RECEIVED };
/* The blocks of a side that are significant on this rank. In a reduction that is one vector; the
 * receive side of one in place holds the operands. False: this rank cannot read them, or no memory.
 * Local. */
bool spots_find(struct spots *spots, const struct request *request, const struct team *team,
                enum which_side side);
/* Packs all blocks, or unpacks them. False: the MPI library refuses. Local. */
bool spots_move(const struct spots *spots, char *packed, bool pack);
/* Before a call that mortar runs. True on all ranks: it is verified, and verify_end must follow.
 * Collective if the call is due. */
bool verify_begin(struct verification *v, const struct request *request, struct team *team,
                  const struct plan *plan, const struct shape *shape);
/* After mortar's run with this answer: runs the call by the MPI library, and compares. Returns the
 * library's answer. Collective. */
struct answer verify_end(struct verification *v, struct team *team, struct plan *plan,
                         struct answer ours);

/* ---- rounding.c: floating-point results of two associations ---- */
/* The numbers of a floating-point type; parts: 2 if it is complex. */
struct numbers {
    size_t bytes; /* of an element */
    int parts;
};
/* Of a type that is compared by value. */
struct numbers numbers_of(MPI_Datatype type);
/* An element, in words for people. */
void numbers_text(struct numbers numbers, const char *element, char *text, size_t size);
/* Of `count` operands what numbers_unlike wants the sums of: for MPI_SUM the size of each part, for
 * MPI_PROD how many powers of two the number is away from 1 (of 0 infinitely many). */
void numbers_sizes(struct numbers numbers, MPI_Op op, char *sizes, const char *elements,
                   size_t count);
/* The first element that differs by more than what two associations of p operands explain; count:
 * none. sums: of numbers_sizes; NULL for other operations. */
size_t numbers_unlike(struct numbers numbers, MPI_Op op, const char *ours, const char *theirs,
                      const char *sums, size_t count, int p);

/* ---- cases.c ---- */
/* Writes the call of all ranks to a file for `mortar replay`, on rank 0, which says where it is.
 * Collective. */
void case_write(const struct verification *v, struct team *team, const struct plan *plan);

#endif
