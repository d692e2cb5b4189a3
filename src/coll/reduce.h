/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce.h - a part of coll.h: the operation of a reduction, and what the algorithms that combine
 * share. */
#ifndef MORTAR_REDUCE_H
#define MORTAR_REDUCE_H

#include "reach/reach.h"

struct arguments;
struct call;
struct shape;

/* The elements of call.send and call.recv lie back to back; mpi/ has packed types with gaps. The
 * vector has the same length on all ranks. The operation is associative, so the algorithm may
 * choose the association. It must not depend on the order of arrival, and operands must not change
 * sides: results are the same from run to run. */
struct reduction {
    /* inout = in op inout, element by element. The two do not overlap. Local. */
    void (*combine)(const struct reduction *reduction, const char *in, char *inout, size_t count);
    const void *state; /* combine's */
    size_t bytes;      /* of an element */
    size_t count;      /* elements of the vector */
    /* Operands may change sides. Set only on teams with several memory domains. */
    bool commutes;
    /* The operation commutes, and the user allows results that depend on the order of arrival. */
    bool any_order;
    const void *counts; /* reduce_scatter: elements of each rank's part */
    uint8_t count_width;
};

/* A range of elements of the vector. */
struct part {
    size_t first, count;
};

/* What a rank receives: count 0 if its receive buffer is not significant. */
struct part part_received(const struct team *team, const struct call *call, int rank);
/* One worker's share of `count` elements, all shares being about equal. Shares begin at cache lines
 * if elements do not straddle lines. */
struct part part_shared(const struct reduction *reduction, size_t count, size_t workers,
                        size_t worker);
/* How many ranks of a node share the work on a vector of so many bytes. All of them, but where many
 * share a processor only so many that shares are not too short, or too few for the processors. */
size_t workers_of(const struct figures *f, size_t bytes);
/* A rank's share of `count` elements, with these workers, which are spread over the ranks. */
struct part part_worked(const struct team *team, const struct reduction *reduction, size_t count,
                        int rank);

/* What both have. Its first is in both only if there is any. */
static inline struct part part_common(struct part a, struct part b) {
    size_t from = a.first > b.first ? a.first : b.first, end_a = a.first + a.count,
           end_b = b.first + b.count, upto = end_a < end_b ? end_a : end_b;
    return (struct part){from, from < upto ? upto - from : 0};
}

/* Vectors are combined in strips, so that the strip just combined is still in the first level
 * cache. Elements of a strip, at least one. */
static inline size_t strip_elements(const struct reduction *reduction) {
    enum { strip_bytes = 8 << 10 };
    return strip_bytes > reduction->bytes ? strip_bytes / reduction->bytes : 1;
}

/* One vector of each rank of a team, `step` bytes apart. To combine them is to make them their
 * prefixes: a(i) = a(i-1) op a(i) for i = 1, 2 .. p-1. */
struct vectors {
    char *first;
    size_t step;
};
/* A part of them, in the order of the ranks. Local. */
void vectors_combine(const struct team *team, const struct reduction *reduction,
                     const struct vectors *vectors, struct part part);
/* A barrier, as sync_all, in which the last rank to arrive combines the vectors in the order of the
 * ranks or, at_gates, the last at each gate those that have come there, unless there is trouble of
 * `refused`. The reduction of all is then the vector of the last rank or, at_gates, of combined_at;
 * the others are in use until the next barrier. Collective. */
uint32_t sync_combining(struct team *team, const struct reduction *reduction,
                        const struct vectors *vectors, size_t count, bool at_gates,
                        uint32_t trouble, uint32_t refused);
int combined_at(const struct team *team);
/* Combining by halves: ranks 0 and 1, 2 and 3, ..; then the results of 0 .. 1 and 2 .. 3, ..; what
 * has no partner goes on as it is. Plans that do it have the same digits, so trials may choose
 * between them. The result of some ranks is in the vector of the last. A part of them; local. */
void vectors_halve(const struct team *team, const struct reduction *reduction,
                   const struct vectors *vectors, struct part part);
/* May it be used for this call? Not for prefixes; and only if the operands may change sides, where
 * ranks do not meet in their order. The same on all ranks. */
bool combines_at_gates(const struct team *team, const struct call *call);
/* How many vectors it combines one after the other. */
uint32_t combined_in_turn(const struct figures *f);

/* The vector that a rank posted in this half. */
static inline const char *posted_vector(const struct team *team, uint32_t half, int rank) {
    return (const char *)(team->peers[0][rank] + post_of(team, half, rank)->send);
}

/* ---- levels.c: reduction within memory domains first ---- */
/* Does reducing within domains first save more than its extra barrier costs? The same answer on all
 * ranks. */
bool levels_pay(const struct team *team, const struct call *call);
/* Call before the barrier of this half. Writes to my card where my share of my domain's partial
 * result will be: in the stage of the other half or, if it is longer than a slot, in *memory, which
 * the caller frees. Returns the trouble flags to arrive with. Local. */
uint32_t levels_post(const struct team *team, const struct reduction *reduction, uint32_t half,
                     char **memory);
/* Call after that barrier. Combines my share of the domain's posted vectors. Another barrier must
 * follow. Local. */
void levels_combine(const struct team *team, const struct reduction *reduction, uint32_t half);
/* *at: where this element of a domain's partial result is. Returns how many elements are contiguous
 * from there, at least 1. */
size_t levels_at(const struct team *team, const struct reduction *reduction, uint32_t half,
                 uint32_t domain, size_t element, const char **at);

/* Elements that a slot of the stage takes. */
size_t stage_elements(const struct team *team, const struct reduction *reduction);
/* Does the whole vector, which is not empty, fit? The same on all ranks. */
bool fits_the_stage(const struct team *team, const struct call *call,
                    const struct arguments *arguments);
/* Copies these elements of my vector, as many as fit, into my slot for the next barrier. Local. */
void stage_in(const struct team *team, const struct call *call, struct part staged);
/* Who combines what is staged. ALONE: the last rank to arrive at a gate, what has come there; one
 * barrier a round. Else each rank its share, three barriers a round, with the brackets of slices.c:
 * AS_ONE, or BY_DOMAINS first. */
enum brackets { ALONE, AS_ONE, BY_DOMAINS };
/* Reduces through the team's stage, in rounds of as many elements as fit. Any buffers, any length,
 * also in place. DONE; LEFT on all ranks: a rank has trouble of LEAVE, or an element does not
 * fit. */
enum outcome staged_reduction(struct team *team, const struct call *call, enum brackets how);
extern const struct single reduction_single; /* alone, in one round */

/* Bytes of a whole vector. */
size_t vector_bytes(const struct figures *f, const struct shape *shape);
/* Rounds in which such a vector goes through the stage, at least 1. */
size_t stage_rounds(const struct figures *f, size_t bytes);
/* Seconds to combine two vectors of `bytes` each, in caches, with one call of the operation. */
double combine_seconds(size_t bytes);
/* Estimate: the cache misses by which a rank takes up what one peer has left for it. */
static const double visit_seconds = 100e-9;
/* As copy_seconds, for pieces of vectors, of which each rank has one of `vector` bytes. */
double vector_copy_seconds(const struct figures *f, double pieces, size_t bytes, size_t vector);

#endif
