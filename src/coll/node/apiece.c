/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_apiece - every rank stages its vector and arrives at one barrier; then each combines
 * for itself what it receives: a(0) op (a(1) op (.. op a(p-1))), the same digits on all. Not for
 * prefixes, of which each should be the one before op a(i), nor for MPI_Reduce, where only the root
 * would have to wait.
 * Cost    one barrier; on every processor p (o + n beta), o being the cost of calling the
 *         operation and n the bytes that a rank receives, and 2 p n beta.
 * Wins    few ranks with a processor each, where nobody has to wait for another's result. */
#include "coll/coll.h"

extern const struct algorithm_code algorithm_apiece;

/* EPYC virtual machine with 2 cores, 2026-11, reduce_scatter_block, 4 and 16 ranks: only where
 * ranks share processors visits cost more than the copies. */
static double apiece_cost(const struct figures *f, const struct shape *shape,
                          const struct arguments *arguments) {
    (void)arguments;
    size_t mine = shape->bytes, rounds = stage_rounds(f, vector_bytes(f, shape));
    double combining = f->p * combine_seconds(mine) + copy_seconds(f, 2 * f->p, mine);
    double visits = crowding(f) > 1 ? f->p * visit_seconds : 0;
    return (double)rounds * f->usual_sync_seconds + crowding(f) * (visits + combining);
}

/* Combines, of the staged elements, those that I receive, from the last rank's to the first's: so
 * no place is needed but the receive buffer. */
HOT static void combine_mine(const struct team *team, const struct call *call, uint32_t half,
                             struct part staged) {
    const struct reduction *reduction = call->reduction;
    struct part mine = part_received(team, call, team->me), both = part_common(mine, staged);
    size_t bytes = reduction->bytes, length = staged.count * bytes;
    if (both.count == 0) return;
    char *result = call->recv + (both.first - mine.first) * bytes;
    const char *first = stage_of(team, half, 0, length) + (both.first - staged.first) * bytes;
    ptrdiff_t step = stage_of(team, half, 1, length) - stage_of(team, half, 0, length);
    charge_copy(1, both.count * bytes);
    memcpy(result, first + (team->p - 1) * step, both.count * bytes);
    for (int r = team->p - 2; r >= 0; r--)
        reduction->combine(reduction, first + r * step, result, both.count);
}

HOT static enum outcome apiece_run(struct team *team, const struct call *call,
                                   const struct arguments *arguments) {
    (void)arguments;
    size_t count = call->reduction->count, most = stage_elements(team, call->reduction);
    if (most == 0) return LEFT;
    for (size_t at = 0, now; at < count; at += now) {
        now = count - at < most ? count - at : most;
        struct part staged = {at, now};
        uint32_t half = team->epoch & 1;
        /* With trouble the buffer may not be readable. */
        if (!call->trouble) stage_in(team, call, staged);
        if (sync_all(team, at == 0 ? call->trouble : 0) & LEAVE) return LEFT;
        combine_mine(team, call, half, staged);
    }
    return DONE;
}

/* ---- vectors that fit: one barrier ---- */

SHORT_WAY static uint32_t before(struct team *team, const struct call *call,
                                 const struct arguments *arguments) {
    (void)arguments;
    stage_in(team, call, (struct part){0, call->reduction->count});
    return 0;
}

SHORT_WAY static enum outcome after(struct team *team, const struct call *call,
                                    const struct arguments *arguments, uint32_t half,
                                    uint32_t trouble) {
    (void)arguments;
    if (trouble & LEAVE) return LEFT;
    combine_mine(team, call, half, (struct part){0, call->reduction->count});
    return DONE;
}

static const struct single single = {.is = fits_the_stage, .before = before, .after = after};
const struct algorithm_code algorithm_apiece = {
    .copies_in = true, .cost = apiece_cost, .run = apiece_run, .singles = {&single}};
