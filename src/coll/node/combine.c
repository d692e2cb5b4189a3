/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_combine - every rank stages its vector and arrives at one barrier; the last to arrive
 * at each of its gates combines the vectors that have come there, and the last of all releases the
 * others, who copy their results out.
 * Cost    one barrier, at gates; p (o + n beta) on one processor, o being the cost of calling the
 *         operation, or with gates for 4 ranks 3 log4(p) (o + n beta); 2 n beta per rank, of
 *         MPI_Reduce_scatter less.
 * Wins    short vectors, where the barrier is the cost. */
#include "coll/coll.h"

extern const struct algorithm_code algorithm_combine;

static double combine_cost(const struct figures *f, const struct shape *shape,
                           const struct arguments *arguments) {
    (void)arguments;
    size_t bytes = vector_bytes(f, shape), rounds = stage_rounds(f, bytes);
    double sync = f->usual_sync_seconds + gates_usual(f->p, f->processors);
    double in_turn = among(shape->collective, SCANS) ? (uint32_t)f->p : combined_in_turn(f);
    return (double)rounds * sync + in_turn * combine_seconds(bytes) +
           crowding(f) * (vector_copy_seconds(f, 1, bytes, bytes) +
                          vector_copy_seconds(f, 1, shape->bytes, bytes));
}

HOT static enum outcome combine_run(struct team *team, const struct call *call,
                                    const struct arguments *arguments) {
    (void)arguments;
    return staged_reduction(team, call, ALONE);
}

const struct algorithm_code algorithm_combine = {
    .copies_in = true, .cost = combine_cost, .run = combine_run, .singles = {&reduction_single}};
