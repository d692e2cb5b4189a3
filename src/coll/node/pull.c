/* SPDX-License-Identifier: BSD-3-Clause */
/* algorithm_pull - one copy from the sender's buffer to the receiver's, between two barriers; the
 * order says which rank copies which block and when. If buffers lie outside the shared heap, all
 * ranks learn it from the barrier: a data path copies them (outside.c), else they are staged, or
 * the call is left to the host MPI. Blocks of any counts, places and types: vector.c, in the same
 * orders. Edges of a neighbourhood: in the orders that walk them (order.h). li2018 section 2.1
 * (rows: SH-Naive, morton: SH-CO), 2.2 (irregular), 2.4 and 3 (compact and numa: neighbourhoods);
 * ramesh2024 section V-A (columns).
 * Cost    two barriers, p n beta per rank;  scratch  8 p bytes per rank and order, shared by the
 *         collectives.
 * Wins    from about 1 KiB blocks up. */
#include "coll/coll.h"

#include <errno.h>

extern const struct algorithm_code algorithm_pull;

/* If a rank writes only its own receive buffer, the buffer need not be reachable, nor peers' memory
 * writable. */
static bool others_write(const struct arguments *arguments) {
    return !orders[arguments->walk.order].own_dest;
}

static bool pull_can(const struct figures *figures, const struct calls *calls,
                     const struct arguments *arguments) {
    (void)figures;
    return !among(calls->largest.collective, NEIGHBORS) || walks_edges(arguments->walk);
}

static int pull_prepare(struct team *team, const struct arguments *arguments) {
    int error = team_map(team, false);
    if (!error && others_write(arguments)) error = team_map(team, true);
    if (!error && !others_write(arguments)) near_begin(team);
    bool filled = team_cells(team, arguments->walk) != NULL;
    if (!team_agree(team, filled)) return -ENOMEM;
    return error || !arguments->path ? error : outside_prepare(team, arguments);
}

/* Short blocks of any counts are staged: two copies, but one barrier. */
static double pull_cost(const struct figures *f, const struct shape *shape,
                        const struct arguments *arguments) {
    double (*path_seconds)(size_t bytes, bool through_memory) =
        paths[arguments->path].code->block_seconds;
    if (path_seconds) {
        double read = (f->p - 1) * path_seconds(shape->bytes, streams(f, shape->bytes));
        return 2 * f->sync_seconds + crowding(f) * (read + copy_seconds(f, 1, shape->bytes));
    }
    double blocks = typical_blocks(f, shape);
    size_t sent = (size_t)(is_personal(shape->collective) ? blocks : 1) * shape->bytes;
    bool staged =
        is_vector(shape->collective) && sent <= short_bytes(f, usual_block) && sent <= f->slot / 2;
    double barriers = staged ? 1 : 2, copies = 3 - barriers;
    return barriers * f->sync_seconds +
           copies * crowding(f) * copy_seconds(f, blocks, shape->bytes);
}

HOT static void pull_walk(const struct team *team, const struct call *call, uint32_t half,
                          const struct arguments *arguments) {
    const struct cell *cells = team->cells[arguments->walk.order][arguments->walk.inner];
    bool writable = others_write(arguments);
    for (int k = 0; k < team->p; k++)
        copy_cell(team, &call->shape, half, cells[k], writable, &arguments->copier);
}

HOT static enum outcome pull_run(struct team *team, const struct call *call,
                                 const struct arguments *arguments) {
    if (is_vector(call->shape.collective))
        return vector_exchange(team, call, arguments, short_in(team));
    uint32_t half = team->epoch & 1, mine = publish(team, call, others_write(arguments));
    bool path = arguments->path && team_has_path(team, arguments->path);
    if (mine && path) mine = outside_trouble(team, call, arguments, mine);
    uint32_t trouble = sync_all(team, mine);
    if (trouble && path && !(trouble & (LEAVE | TYPED | MUST_STAGE))) {
        bool fine = outside_walk(team, call, half, arguments, trouble);
        if (!(sync_all(team, fine ? 0 : PATH_LOST) & PATH_LOST)) {
            if (outside_others_write(arguments, trouble)) take_back(team, call, half);
            return DONE;
        }
        /* Send buffers are unchanged, so all ranks start again; those whose buffer is not reachable
         * stage it. */
        team_loses_path(team, arguments->path);
        staged_exchange(team, call, 0, (int)half);
        return STAGED;
    }
    if (trouble) return turn_away(team, call, arguments, half, trouble);
    pull_walk(team, call, half, arguments);
    /* No rank returns while its send buffer is read or its receive buffer written. */
    sync_all(team, 0);
    take_back(team, call, half);
    return DONE;
}

const struct algorithm_code algorithm_pull = {
    .can = pull_can,
    .prepare = pull_prepare,
    .cost = pull_cost,
    .run = pull_run,
    .singles = {&vector_single}};
