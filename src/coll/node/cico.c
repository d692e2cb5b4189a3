/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_cico - copy in, copy out: every byte is copied twice, but a block that fits into the
 * stage needs only one barrier and no access to peers' memory. MPI libraries' shared-memory
 * collectives do the same; two halves of the stage spare the second barrier.
 * Cost    one barrier per round, p n beta out of the stage, and into it n beta, or about 0.6 p n
 *         beta of personal blocks, in one run;  stage  2 p chunk per rank.
 * Wins    where the copy into the stage costs less than a barrier: allgathers up to tens of KiB,
 *         alltoalls of some KiB; the only way for buffers outside the shared heap. */
#include "coll/node/offers.h"

extern const struct algorithm_code algorithm_cico;

/* Personal blocks lie one after the other and go in by one run. The factor: EPYC virtual machine
 * with 2 cores, 4 to 64 ranks, 512 bytes to 8 KiB, 2026-11. What does not stay in the caches goes
 * to memory twice. Other vectors cost no less than by pull, which stages short ones, too. */
static double in_seconds(const struct figures *f, const struct shape *shape) {
    static const double one_run = 0.6;
    double blocks = copy_seconds(f, typical_blocks(f, shape), shape->bytes);
    bool vector = is_vector(shape->collective) && shape->collective != COLL_allgatherv;
    if (vector || call_streams(f, shape)) return blocks;
    return is_personal(shape->collective) ? one_run * blocks : copy_seconds(f, 1, shape->bytes);
}

static double cico_cost(const struct figures *f, const struct shape *shape,
                        const struct arguments *arguments) {
    (void)arguments;
    size_t blocks = is_personal(shape->collective) ? (size_t)typical_blocks(f, shape) : 1;
    size_t chunk = f->slot / blocks / 64 * 64,
           rounds = chunk > 0 ? (shape->bytes + chunk - 1) / chunk : 1;
    if (rounds == 0) rounds = 1; /* nothing is known of the size */
    double out = staged_seconds(f, typical_blocks(f, shape), shape->bytes);
    return (double)rounds * f->sync_seconds + crowding(f) * (in_seconds(f, shape) + out);
}

HOT static enum outcome cico_run(struct team *team, const struct call *call,
                                 const struct arguments *arguments) {
    if (!is_vector(call->shape.collective))
        return staged_exchange(team, call, arguments->chunk, -1);
    if (counted_fits(team, call, arguments)) return counted_exchange(team, call);
    return vector_exchange(team, call, arguments, SIZE_MAX);
}

const struct algorithm_code algorithm_cico = {
    .copies_in = true,
    .cost = cico_cost,
    .run = cico_run,
    .singles = {&staged_single, &counted_single}};
