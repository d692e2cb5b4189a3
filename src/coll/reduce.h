/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce.h - a part of coll.h: what an algorithm needs to combine elements, and what those that
 * combine have in common. */
#ifndef MORTAR_REDUCE_H
#define MORTAR_REDUCE_H

#include "reach/reach.h"

struct call;
struct shape;

/* The elements of call.send and call.recv lie back to back; mpi/ has seen to types with gaps. The
 * vector has the same length on all ranks. The operation is associative, so how it is bracketed is
 * the algorithm's choice; but that must not depend on who comes first, nor may operands change
 * sides: results are the same from run to run. */
struct reduction {
    /* inout = in op inout, element by element. The two do not overlap. Local. */
    void (*combine)(const struct reduction *reduction, const char *in, char *inout, size_t count);
    const void *state; /* combine's */
    size_t bytes;      /* of an element */
    size_t count;      /* elements of the vector */
    /* Known to, on a team of several memory domains: operands may change sides. */
    bool commutes;
    /* The user agrees to results that depend on who comes first, and the operation commutes. */
    bool any_order;
    const void *counts; /* reduce_scatter: elements of each rank's part */
    uint8_t count_width;
};

/* Some elements of the vector. */
struct part {
    size_t first, count;
};

/* What a rank receives: none, where its receive buffer is not significant. */
struct part part_received(const struct team *team, const struct call *call, int rank);
/* A worker's share of so many elements, when all do the same work: cut between cache lines where
 * elements do not straddle them. */
struct part part_shared(const struct reduction *reduction, size_t count, size_t workers,
                        size_t worker);
/* The same, with the team's ranks as workers. */
struct part part_worked(const struct team *team, const struct reduction *reduction, size_t count,
                        int rank);

/* The vector that a rank posted in this half. */
static inline const char *posted_vector(const struct team *team, uint32_t half, int rank) {
    return (const char *)(team->peers[0][rank] + post_of(team, half, rank)->send);
}

/* ---- levels.c: domains of memory first ---- */
/* Is that worth its barrier here? The same on all ranks. */
bool levels_pay(const struct team *team, const struct call *call);
/* Before the barrier of this half: tells on my card where my share of my domain's partial result
 * will lie: in the stage of the next half or, where it is longer than a slot, in *memory, which is
 * the caller's to free. Returns the trouble to arrive with. Local. */
uint32_t levels_post(const struct team *team, const struct reduction *reduction, uint32_t half,
                     char **memory);
/* After it: combines that share of the domain's posted vectors. Another barrier must follow.
 * Local. */
void levels_combine(const struct team *team, const struct reduction *reduction, uint32_t half);
/* Where a domain's partial result has this element, and how many more after it: at least 1 in
 * all. */
size_t levels_at(const struct team *team, const struct reduction *reduction, uint32_t half,
                 uint32_t domain, size_t element, const char **at);

/* Reduces through the team's stage, in rounds of what fits there. alone: the last rank to arrive
 * combines everything, one barrier a round; else each rank its share, three. Any buffers, any
 * length; in place is no special case. DONE; LEFT on all ranks: a rank has trouble of LEAVE, or an
 * element does not fit. */
enum outcome staged_reduction(struct team *team, const struct call *call, bool alone);

/* Bytes of a whole vector. */
size_t vector_bytes(const struct figures *f, const struct shape *shape);
/* Seconds to combine two vectors of so many bytes, in caches, with one call of the operation. */
double combine_seconds(size_t bytes);

#endif
