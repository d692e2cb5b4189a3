/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_cico - copy in, copy out: every byte is copied twice, but a block that fits into the
 * stage needs only one barrier and no access to peers' memory. MPI libraries' shared-memory
 * collectives do the same; two halves of the stage spare the second barrier.
 * Cost    one barrier per round, 2 p n beta;  stage  2 p chunk per rank.
 * Wins    short blocks, where the barrier is the cost; the only way for buffers outside the shared
 *         heap. */
#include "coll/coll.h"

extern const struct algorithm_code algorithm_cico;

static double cico_cost(const struct figures *f, const struct shape *shape,
                        const struct arguments *arguments) {
    (void)arguments;
    size_t blocks = is_personal(shape->collective) ? (size_t)typical_blocks(f, shape) : 1;
    size_t chunk = f->slot / blocks / 64 * 64,
           rounds = chunk > 0 ? (shape->bytes + chunk - 1) / chunk : 1;
    if (rounds == 0) rounds = 1; /* nothing is known of the size */
    /* On oversubscribed nodes short staged blocks cost twice as much, since nothing prefetches them
     * (measured with the rest, cost.c). */
    double dear = crowding(f) > 1 && shape->bytes < 16 << 10 ? 2 : 1;
    return (double)rounds * f->sync_seconds +
           dear * crowding(f) *
               (copy_seconds(f, typical_blocks(f, shape), shape->bytes) +
                staged_seconds(f, typical_blocks(f, shape), shape->bytes));
}

HOT static enum outcome cico_run(struct team *team, const struct call *call,
                                 const struct arguments *arguments) {
    if (is_vector(call->shape.collective)) return vector_exchange(team, call, arguments, SIZE_MAX);
    return staged_exchange(team, call, arguments->chunk, -1);
}

const struct algorithm_code algorithm_cico = {
    .copies_in = true, .cost = cico_cost, .run = cico_run, .single = &staged_single};
